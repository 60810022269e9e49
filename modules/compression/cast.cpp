// SPDX-License-Identifier: Apache-2.0
#include "compression/cast.h"

#include <algorithm>
#include <array>

#include "compression/values.h"

namespace wafervp::compression {
namespace {

/// Values that are converted at a time, in a buffer that the first cache holds.
constexpr std::size_t kPiece = 1024;

/// `piece(first, count)` for stretches of `count` elements.
template <class Piece>
void in_pieces(std::uint64_t elements, Piece piece) {
  for (std::uint64_t first = 0; first < elements; first += kPiece) {
    piece(first, static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, elements - first)));
  }
}

template <class T>
void convert(Element from, const std::byte* in, Element to, std::byte* out, std::uint64_t elements) {
  std::array<T, kPiece> values;
  in_pieces(elements, [&](std::uint64_t first, std::size_t count) {
    widen(from, in + first * element_bytes(from), values.data(), count);
    narrow(to, values.data(), out + first * element_bytes(to), count);
  });
}

void convert(Element from, const std::byte* in, Element to, std::byte* out, std::uint64_t elements) {
  const bool wide = from == Element::kFp64 || to == Element::kFp64;
  wide ? convert<double>(from, in, to, out, elements) : convert<float>(from, in, to, out, elements);
}

}  // namespace

Cast::Cast(const CastConfig& config) : config_(config) {
  if (config_.to != Element::kFp32 && config_.to != Element::kBf16 && config_.to != Element::kFp16) {
    refuse(Refusal::kBadParameter,
           std::string("expected to: fp32, bf16 or fp16, found ") + element_name(config_.to));
  }
}

bool Cast::takes(Element element) const {
  return element == config_.to || element == Element::kFp64 || element == Element::kFp32;
}

std::string Cast::parameter_text(std::uint64_t parameter) const {
  return parameter <= static_cast<std::uint64_t>(Element::kFp64)
             ? std::string("elements of type ") + element_name(static_cast<Element>(parameter))
             : "an unknown type";
}

Summable Cast::summable(const Shape&, Direction) const { return {true, config_.to, {}}; }

std::uint64_t Cast::wire_bytes(const Shape& shape, Direction) const {
  check_element(shape.element);
  return element_count(shape) * element_bytes(config_.to);
}

Cost Cast::compress_cost(const Shape& shape, Direction direction) const {
  Cost cost;
  cost.dense_bytes = dense_bytes(shape);
  cost.wire_bytes = wire_bytes(shape, direction);
  cost.fill_cycles = 1;
  return cost;
}

Cost Cast::decompress_cost(const Shape& shape, Direction direction) const {
  return compress_cost(shape, direction);
}

void Cast::encode_values(const MessageView& message, const Context&, std::vector<std::byte>& payload) {
  const std::uint64_t elements = element_count(message.shape);
  payload.resize(elements * element_bytes(config_.to));
  convert(message.shape.element, message.values.data, config_.to, payload.data(), elements);
}

void Cast::decode_values(const Shape& shape, ByteView payload, const Context&, std::byte* values) const {
  convert(config_.to, payload.data, shape.element, values, element_count(shape));
}

}  // namespace wafervp::compression
