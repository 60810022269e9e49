// SPDX-License-Identifier: Apache-2.0
#include "compression/top_k.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compression/bits.h"
#include "core/half.h"

namespace wafervp::compression {
namespace {

constexpr std::uint64_t kLargestK = std::uint64_t{1} << 48;
/// Tells a fraction, as the bits of a float, from a K.
constexpr std::uint64_t kByFraction = std::uint64_t{1} << 62;

const char* index_name(std::uint64_t index) {
  static constexpr const char* kNames[] = {"packed", "16-bit", "32-bit", "unknown"};
  return kNames[index];
}

}  // namespace

TopK::TopK(const TopKConfig& config) : config_(config) {
  if (config_.k > kLargestK) {
    refuse(Refusal::kBadParameter, "expected k: 0 to 2^48, found " + std::to_string(config_.k));
  }
  if (config_.k == 0 && !(config_.fraction > 0 && config_.fraction <= 1)) {
    refuse(Refusal::kBadParameter,
           "expected fraction: above 0, at most 1, found " + std::to_string(config_.fraction));
  }
}

std::uint64_t TopK::parameter() const {
  const std::uint64_t kept =
      config_.k > 0 ? config_.k : kByFraction | bits_as<std::uint32_t>(static_cast<float>(config_.fraction));
  return kept | static_cast<std::uint64_t>(config_.index) << 56;
}

std::string TopK::parameter_text(std::uint64_t parameter) const {
  const std::uint64_t kept = parameter & 0x00ffffffffffffffull;
  return ((parameter & kByFraction) != 0
              ? "fraction " + std::to_string(bits_as<float>(static_cast<std::uint32_t>(kept)))
              : "k " + std::to_string(kept)) +
         " with " + index_name(parameter >> 56 & 3) + " indices";
}

std::uint64_t TopK::kept(std::uint64_t width) const {
  if (config_.k > 0) return std::min(config_.k, width);
  const auto share = static_cast<std::uint64_t>(std::ceil(config_.fraction * static_cast<double>(width)));
  return std::min(share, width);
}

unsigned TopK::index_bits(std::uint64_t width) const {
  if (config_.index == IndexWidth::kPacked) {
    unsigned bits = 0;
    while (width > std::uint64_t{1} << bits) ++bits;
    return bits;
  }
  const unsigned bits = config_.index == IndexWidth::k16 ? 16 : 32;
  if (width > std::uint64_t{1} << bits) {
    refuse(Refusal::kWrongShape, "expected rows of at most 2^" + std::to_string(bits) + " elements for " +
                                     index_name(static_cast<std::uint64_t>(config_.index)) +
                                     " indices, found " + std::to_string(width));
  }
  return bits;
}

Summable TopK::summable(const Shape&, Direction) const {
  return {false, {}, "two senders choose different elements: their indices cannot be added"};
}

std::uint64_t TopK::wire_bytes(const Shape& shape, Direction) const {
  check_element(shape.element);
  element_count(shape);
  const std::uint64_t entries = shape.rows * kept(shape.width);
  return entries * element_bytes(shape.element) + bytes_of_bits(entries * index_bits(shape.width));
}

/// Narrower parts may keep more elements, and need fewer bits for an index.
std::uint64_t TopK::least_bytes(const Shape& shape, Direction) const {
  return shape.rows * kept(shape.width) * element_bytes(shape.element);
}

Cost TopK::compress_cost(const Shape& shape, Direction direction) const {
  Cost cost;
  cost.dense_bytes = dense_bytes(shape);
  cost.passes = 4;  // an exact selection, by digits of the magnitude
  cost.wire_bytes = wire_bytes(shape, direction);
  cost.fill_elements = shape.width;  // the last element of a row may be its largest
  cost.fill_cycles = 16;
  cost.streams = false;  // indices follow behind the values of all rows
  return cost;
}

Cost TopK::decompress_cost(const Shape& shape, Direction direction) const {
  Cost cost;
  cost.dense_bytes = dense_bytes(shape);
  cost.wire_bytes = wire_bytes(shape, direction);
  cost.fill_cycles = 16;
  cost.streams = false;  // indices follow behind the values of all rows
  return cost;
}

void TopK::select(const MessageView& message, std::vector<std::byte>& payload) {
  const Shape& shape = message.shape;
  const std::size_t bytes = element_bytes(shape.element);
  const std::uint64_t k = kept(shape.width);
  const unsigned bits = index_bits(shape.width);
  std::byte* to = payload.data();
  BitWriter indices(payload.data() + shape.rows * k * bytes);
  for (std::uint64_t row = 0; row < shape.rows; ++row) {
    const std::byte* from = message.values.data + row * shape.width * bytes;
    for (const std::uint64_t index : selection_.largest(shape.element, from, shape.width, k)) {
      std::memcpy(to, from + index * bytes, bytes);
      to += bytes;
      indices.put(index, bits);
    }
  }
  indices.finish();
}

void TopK::encode_values(const MessageView& message, const Context& context,
                         std::vector<std::byte>& payload) {
  payload.resize(wire_bytes(message.shape, context.direction));
  if (!config_.error_feedback) return select(message, payload);
  select(feedback_.owed(message, context.stream), payload);
  sent_.resize(message.values.size);
  decode_values(message.shape, payload, context, sent_.data());
  feedback_.settle(sent_);
}

void TopK::decode_values(const Shape& shape, ByteView payload, const Context&, std::byte* values) const {
  const std::size_t bytes = element_bytes(shape.element);
  const std::uint64_t k = kept(shape.width);
  const unsigned bits = index_bits(shape.width);
  const std::byte* from = payload.data;
  BitReader indices(payload.data + shape.rows * k * bytes);
  std::fill_n(values, dense_bytes(shape), std::byte{0});
  for (std::uint64_t row = 0; row < shape.rows; ++row) {
    std::uint64_t least = 0;
    for (std::uint64_t i = 0; i < k; ++i) {
      const std::uint64_t index = indices.get(bits);
      if (index < least || index >= shape.width) {
        refuse(Refusal::kMalformed, "expected indices of row " + std::to_string(row) +
                                        " to ascend below the width " + std::to_string(shape.width) +
                                        ", found " + std::to_string(index) + " where " +
                                        std::to_string(least) + " is the least");
      }
      std::memcpy(values + (row * shape.width + index) * bytes, from, bytes);
      from += bytes;
      least = index + 1;
    }
  }
  if (indices.padding() != 0) refuse(Refusal::kMalformed, "expected zeros behind the last index, found bits");
}

}  // namespace wafervp::compression
