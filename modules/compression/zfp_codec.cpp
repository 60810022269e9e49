// SPDX-License-Identifier: Apache-2.0
#include "compression/zfp_codec.h"

#include <zfp.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <type_traits>

#include "compression/bits.h"
#include "compression/values.h"

namespace wafervp::compression {
namespace {

unsigned dimensions(const Shape& shape) { return shape.rows == 1 || shape.width == 1 ? 1 : 2; }

std::uint64_t blocks(const Shape& shape) {
  const auto quarter = [](std::uint64_t extent) { return extent / 4 + (extent % 4 != 0 ? 1 : 0); };
  return quarter(shape.rows) * quarter(shape.width);
}

/// As libzfp rounds a rate, which is at least the bits of an exponent and one more.
std::uint64_t block_bits(const Shape& shape, double bits_per_value) {
  const double values = dimensions(shape) == 1 ? 4 : 16;
  const std::uint64_t least = shape.element == Element::kFp64 ? 1 + 11 : 1 + 8;
  return std::max(least, static_cast<std::uint64_t>(std::floor(values * bits_per_value + 0.5)));
}

struct Close {
  void operator()(zfp_field* field) const { zfp_field_free(field); }
  void operator()(bitstream* bits) const { stream_close(bits); }
  void operator()(zfp_stream* stream) const { zfp_stream_close(stream); }
};

/// A field, a stream and a buffer of libzfp.
template <class T>
class Transfer {
 public:
  Transfer(const Shape& shape, double bits_per_value, std::uint64_t bytes)
      // Streams read and write whole words of 8 bytes.
      : values_(element_count(shape)),
        words_(bytes / 8 + 2),
        field_(dimensions(shape) == 1 ? zfp_field_1d(values_.data(), kType, values_.size())
                                      : zfp_field_2d(values_.data(), kType, shape.width, shape.rows)),
        bits_(stream_open(words_.data(), words_.size() * 8)),
        stream_(zfp_stream_open(bits_.get())) {
    zfp_stream_set_rate(stream_.get(), bits_per_value, kType, dimensions(shape), zfp_false);
    zfp_stream_rewind(stream_.get());
  }

  std::vector<T>& values() { return values_; }
  std::byte* bytes() { return reinterpret_cast<std::byte*>(words_.data()); }
  bool compress() { return zfp_compress(stream_.get(), field_.get()) != 0; }
  bool decompress() { return zfp_decompress(stream_.get(), field_.get()) != 0; }

 private:
  static constexpr zfp_type kType = std::is_same_v<T, double> ? zfp_type_double : zfp_type_float;

  std::vector<T> values_;
  std::vector<std::uint64_t> words_;
  std::unique_ptr<zfp_field, Close> field_;
  std::unique_ptr<bitstream, Close> bits_;
  std::unique_ptr<zfp_stream, Close> stream_;
};

}  // namespace

ZfpCodec::ZfpCodec(const ZfpConfig& config) : config_(config) {
  if (!(config_.bits_per_value >= 1 && config_.bits_per_value <= 64)) {
    refuse(Refusal::kBadParameter,
           "expected bits_per_value: 1 to 64, found " + std::to_string(config_.bits_per_value));
  }
}

std::uint64_t ZfpCodec::parameter() const {
  return static_cast<std::uint64_t>(std::floor(config_.bits_per_value * 1024 + 0.5));
}

std::string ZfpCodec::parameter_text(std::uint64_t parameter) const {
  return std::to_string(static_cast<double>(parameter) / 1024) + " bits a value";
}

Summable ZfpCodec::summable(const Shape&, Direction) const {
  return {false, {}, "each block has an exponent of its own: bit planes of two senders are not in one unit"};
}

std::uint64_t ZfpCodec::wire_bytes(const Shape& shape, Direction) const {
  check_element(shape.element);
  element_count(shape);
  return bytes_of_bits(blocks(shape) * block_bits(shape, config_.bits_per_value));
}

/// Without what blocks are filled up with, which depends on the shape.
std::uint64_t ZfpCodec::least_bytes(const Shape& shape, Direction) const {
  return static_cast<std::uint64_t>(static_cast<double>(element_count(shape)) * config_.bits_per_value / 8);
}

Cost ZfpCodec::compress_cost(const Shape& shape, Direction direction) const {
  Cost cost;
  cost.dense_bytes = dense_bytes(shape);
  cost.wire_bytes = wire_bytes(shape, direction);
  // A block is complete only in its last row.
  cost.fill_elements = dimensions(shape) == 1 ? 4 : 3 * shape.width + 4;
  cost.fill_cycles = 16;
  return cost;
}

Cost ZfpCodec::decompress_cost(const Shape& shape, Direction direction) const {
  return compress_cost(shape, direction);
}

template <class T>
void ZfpCodec::encode_field(const MessageView& message, std::vector<std::byte>& payload) const {
  const Shape& shape = message.shape;
  Transfer<T> transfer(shape, config_.bits_per_value, payload.size());
  widen(shape.element, message.values.data, transfer.values().data(), transfer.values().size());
  if (!transfer.compress()) throw std::logic_error("libzfp could not compress a message");
  std::copy_n(transfer.bytes(), payload.size(), payload.begin());
}

template <class T>
void ZfpCodec::decode_field(const Shape& shape, ByteView payload, std::byte* values) const {
  Transfer<T> transfer(shape, config_.bits_per_value, payload.size);
  std::copy_n(payload.data, payload.size, transfer.bytes());
  if (!transfer.decompress()) refuse(Refusal::kMalformed, "expected an image of libzfp, found another");
  const T edge = static_cast<T>(largest_finite(shape.element));
  for (T& value : transfer.values()) value = std::clamp(value, -edge, edge);
  narrow(shape.element, transfer.values().data(), values, transfer.values().size());
}

void ZfpCodec::encode_values(const MessageView& message, const Context& context,
                             std::vector<std::byte>& payload) {
  const Shape& shape = message.shape;
  std::size_t at = 0;
  if (!all_finite(shape.element, message.values.data, element_count(shape), at)) {
    refuse(Refusal::kNonFinite, "expected finite values, found NaN or infinity at row " +
                                    std::to_string(at / shape.width) + ", column " +
                                    std::to_string(at % shape.width));
  }
  payload.resize(wire_bytes(shape, context.direction));
  if (payload.empty()) return;
  shape.element == Element::kFp64 ? encode_field<double>(message, payload)
                                  : encode_field<float>(message, payload);
}

void ZfpCodec::decode_values(const Shape& shape, ByteView payload, const Context&, std::byte* values) const {
  if (payload.size == 0) return;
  shape.element == Element::kFp64 ? decode_field<double>(shape, payload, values)
                                  : decode_field<float>(shape, payload, values);
}

}  // namespace wafervp::compression
