// SPDX-License-Identifier: Apache-2.0
#include "compression/int_block.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "compression/int_codes.h"
#include "compression/values.h"

namespace wafervp::compression {
namespace {

constexpr std::uint32_t kLargestBlock = 65536;

int largest_code(unsigned bits) { return bits == 8 ? 127 : 7; }

/// The smallest fp32 number that is not below largest / largest_code; infinite where there is none.
float single_scale(double largest, int largest_code) {
  const auto scale = static_cast<float>(largest / largest_code);
  if (static_cast<double>(scale) * largest_code >= largest) return scale;
  return bits_as<float>(bits_as<std::uint32_t>(scale) + 1);
}

}  // namespace

IntBlock::IntBlock(const IntBlockConfig& config) : config_(config) {
  if (config_.bits != 8 && config_.bits != 4) {
    refuse(Refusal::kBadParameter, "expected bits: 8 or 4, found " + std::to_string(config_.bits));
  }
  if (config_.block < 1 || config_.block > kLargestBlock) {
    refuse(Refusal::kBadParameter,
           "expected block: 1 to 65536 elements, found " + std::to_string(config_.block));
  }
  if (config_.scale != Element::kFp32 && config_.scale != Element::kBf16 && config_.scale != Element::kFp16) {
    refuse(Refusal::kBadParameter,
           std::string("expected scale: fp32, bf16 or fp16, found ") + element_name(config_.scale));
  }
}

std::uint64_t IntBlock::parameter() const {
  return config_.block | static_cast<std::uint64_t>(config_.scale) << 32;
}

std::string IntBlock::parameter_text(std::uint64_t parameter) const {
  const std::uint64_t scale = parameter >> 32;
  return "blocks of " + std::to_string(parameter & 0xffffffffu) + " with scales of type " +
         (scale <= static_cast<std::uint64_t>(Element::kFp64) ? element_name(static_cast<Element>(scale))
                                                              : "unknown");
}

Summable IntBlock::summable(const Shape&, Direction) const {
  return {false, {}, "each block has a scale of its own: codes of two senders are not in one unit"};
}

std::uint64_t IntBlock::wire_bytes(const Shape& shape, Direction) const {
  check_element(shape.element);
  const std::uint64_t elements = element_count(shape);
  const std::uint64_t whole = elements / config_.block;
  const std::uint64_t left = elements % config_.block;
  const std::uint64_t scale = element_bytes(config_.scale);
  return whole * (scale + code_bytes(config_.block)) + (left > 0 ? scale + code_bytes(left) : 0);
}

Cost IntBlock::compress_cost(const Shape& shape, Direction direction) const {
  Cost cost;
  cost.dense_bytes = dense_bytes(shape);
  cost.wire_bytes = wire_bytes(shape, direction);
  cost.fill_elements = config_.block;  // the scale stands first, and needs the whole block
  cost.fill_cycles = 8;
  return cost;
}

Cost IntBlock::decompress_cost(const Shape& shape, Direction direction) const {
  Cost cost = compress_cost(shape, direction);
  cost.fill_elements = 0;
  return cost;
}

/// The scale as it is on the wire.
double IntBlock::put_scale(double largest, bool finite, std::byte* to) const {
  if (config_.scale == Element::kFp32 && finite) {
    const float single = single_scale(largest, largest_code(config_.bits));
    std::memcpy(to, &single, sizeof single);
    if (single <= std::numeric_limits<float>::max()) return single;
  }
  double scale = finite ? largest / largest_code(config_.bits) : std::numeric_limits<double>::quiet_NaN();
  narrow(config_.scale, &scale, to, 1);
  widen(config_.scale, to, &scale, 1);
  if (!finite) return scale;
  if (scale * largest_code(config_.bits) < largest) {
    // Rounded down: the next number up, so that no code exceeds the largest one.
    const std::uint64_t bits = element_bits(config_.scale, to, 0) + 1;
    std::memcpy(to, &bits, element_bytes(config_.scale));
    widen(config_.scale, to, &scale, 1);
  }
  if (scale > largest_finite(config_.scale)) {
    refuse(Refusal::kScaleOutOfRange, "expected a block whose scale is at most " +
                                          std::to_string(largest_finite(config_.scale)) + " (" +
                                          element_name(config_.scale) + "), found a largest magnitude of " +
                                          std::to_string(largest) + "; scales of a wider type hold it");
  }
  return scale;
}

double IntBlock::get_scale(const std::byte* from, std::uint64_t block) const {
  double scale = 0;
  widen(config_.scale, from, &scale, 1);
  if (scale < 0 || std::isinf(scale)) {
    refuse(Refusal::kMalformed, "expected the scale of block " + std::to_string(block) +
                                    " to be finite and not negative, found " + std::to_string(scale));
  }
  return scale;
}

template <class T>
void IntBlock::encode_blocks(const MessageView& message, std::byte* to) {
  const Element element = message.shape.element;
  const bool is_bf16 = element == Element::kBf16;
  const std::uint64_t elements = element_count(message.shape);
  const std::uint64_t scale_bytes = element_bytes(config_.scale);
  std::vector<T> block(std::min<std::uint64_t>(config_.block, elements));
  std::vector<std::int8_t> codes(block.size() + 1);
  for (std::uint64_t first = 0; first < elements; first += block.size()) {
    const std::size_t count = std::min<std::uint64_t>(block.size(), elements - first);
    const std::byte* const from = message.values.data + first * element_bytes(element);
    if (!is_bf16) widen(element, from, block.data(), count);
    const T largest = is_bf16 ? largest_magnitude_bf16(from, count) : largest_magnitude(block.data(), count);
    const double scale = put_scale(largest, largest <= std::numeric_limits<T>::max(), to);
    to += scale_bytes;
    std::int8_t* const into = config_.bits == 8 ? reinterpret_cast<std::int8_t*>(to) : codes.data();
    if (is_bf16 && scale >= kLeastInvertible) {
      round_bf16_to_codes(from, static_cast<float>(scale), into, count);
    } else if (scale > 0) {
      if (is_bf16) widen(element, from, block.data(), count);
      round_to_codes(block.data(), static_cast<T>(scale), into, count);
    } else {
      std::fill_n(into, count, std::int8_t{0});
    }
    if (config_.bits == 4) {
      codes[count] = 0;
      pack_nibbles(codes.data(), to, (count + 1) / 2);
    }
    to += code_bytes(count);
  }
}

template <class T>
void IntBlock::decode_blocks(const Shape& shape, const std::byte* from, std::byte* values) const {
  const std::uint64_t elements = element_count(shape);
  const std::uint64_t scale_bytes = element_bytes(config_.scale);
  const double largest = largest_finite(shape.element);
  std::vector<T> block(std::min<std::uint64_t>(config_.block, elements));
  std::vector<std::int8_t> codes(block.size() + 1);
  for (std::uint64_t first = 0; first < elements; first += block.size()) {
    const std::size_t count = std::min<std::uint64_t>(block.size(), elements - first);
    const std::uint64_t number = first / block.size();
    const double scale = get_scale(from, number);
    from += scale_bytes;
    if (config_.bits == 8) {
      std::memcpy(codes.data(), from, count);
    } else {
      codes[count] = 0;
      unpack_nibbles(from, codes.data(), (count + 1) / 2);
    }
    from += code_bytes(count);
    const std::int8_t lowest = lowest_code(codes.data(), count);
    if (lowest < -largest_code(config_.bits) || (config_.bits == 4 && count % 2 == 1 && codes[count] != 0)) {
      refuse(Refusal::kMalformed, "expected codes of block " + std::to_string(number) + " from -" +
                                      std::to_string(largest_code(config_.bits)) + ", found " +
                                      (lowest < -largest_code(config_.bits) ? std::to_string(lowest)
                                                                            : "a code behind the last one"));
    }
    const T step = static_cast<T>(scale);
    std::byte* const to = values + first * element_bytes(shape.element);
    const bool in_range = scale * largest_code(config_.bits) <= largest;
    if (shape.element == Element::kBf16 && in_range) {
      codes_to_bf16(codes.data(), static_cast<float>(step), to, count);
      continue;
    }
    for (std::size_t i = 0; i < count; ++i) block[i] = static_cast<T>(codes[i]) * step;
    // A scale that was rounded up may carry the largest values over the edge of the type.
    if (!in_range && !std::isnan(scale)) {
      const T edge = static_cast<T>(largest);
      for (std::size_t i = 0; i < count; ++i) block[i] = std::clamp(block[i], -edge, edge);
    }
    narrow(shape.element, block.data(), to, count);
  }
}

void IntBlock::encode_values(const MessageView& message, const Context& context,
                             std::vector<std::byte>& payload) {
  payload.resize(wire_bytes(message.shape, context.direction));
  message.shape.element == Element::kFp64 ? encode_blocks<double>(message, payload.data())
                                          : encode_blocks<float>(message, payload.data());
}

void IntBlock::decode_values(const Shape& shape, ByteView payload, const Context&, std::byte* values) const {
  shape.element == Element::kFp64 ? decode_blocks<double>(shape, payload.data, values)
                                  : decode_blocks<float>(shape, payload.data, values);
}

}  // namespace wafervp::compression
