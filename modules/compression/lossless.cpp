// SPDX-License-Identifier: Apache-2.0
#include "compression/lossless.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "compression/bits.h"
#include "compression/values.h"

namespace wafervp::compression {
namespace {

constexpr std::size_t kCodes = 16;
constexpr std::byte kRaw{0}, kCoded{1};

/// Where the parts of form 1 stand.
struct Layout {
  Layout(Element element, std::uint64_t elements)
      : exponent_bytes(float_format(element).exponent_bits > 8 ? 2 : 1),
        escape_bytes(4 + exponent_bytes),
        book(1 + 4),
        fractions(book + kCodes * exponent_bytes),
        codes(fractions + bytes_of_bits(elements * (1 + float_format(element).mantissa_bits))),
        escapes(codes + bytes_of_bits(elements * 4)) {}

  std::size_t exponent_bytes, escape_bytes;
  std::uint64_t book, fractions, codes, escapes;
};

/// An element's bits in two parts; the sign stands above the mantissa.
struct Parts {
  std::uint64_t exponent, fraction;
};

Parts split(FloatFormat format, std::uint64_t bits) {
  const std::uint64_t mantissa = bits & ((std::uint64_t{1} << format.mantissa_bits) - 1);
  const std::uint64_t exponent =
      bits >> format.mantissa_bits & ((std::uint64_t{1} << format.exponent_bits) - 1);
  const std::uint64_t sign = bits >> (format.mantissa_bits + format.exponent_bits);
  return {exponent, mantissa | sign << format.mantissa_bits};
}

std::uint64_t join(FloatFormat format, const Parts& parts) {
  const std::uint64_t sign = parts.fraction >> format.mantissa_bits;
  const std::uint64_t mantissa = parts.fraction & ((std::uint64_t{1} << format.mantissa_bits) - 1);
  return mantissa | parts.exponent << format.mantissa_bits |
         sign << (format.mantissa_bits + format.exponent_bits);
}

/// The most frequent exponents first; among equals the smaller one. And how many elements have none of them.
struct Book {
  Book(const MessageView& message, std::uint64_t elements) {
    const Element element = message.shape.element;
    const FloatFormat format = float_format(element);
    std::vector<std::uint64_t> counts(std::size_t{1} << format.exponent_bits);
    for (std::uint64_t i = 0; i < elements; ++i) {
      ++counts[split(format, element_bits(element, message.values.data, i)).exponent];
    }
    std::vector<std::uint16_t> order(counts.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint16_t>(i);
    std::partial_sort(order.begin(), order.begin() + kCodes, order.end(),
                      [&](std::uint16_t a, std::uint16_t b) {
                        return counts[a] != counts[b] ? counts[a] > counts[b] : a < b;
                      });
    code_of.assign(counts.size(), kCodes);
    escapes = elements;
    for (std::size_t code = 0; code < kCodes; ++code) {
      if (counts[order[code]] == 0) continue;
      exponents[code] = order[code];
      code_of[order[code]] = static_cast<std::uint8_t>(code);
      escapes -= counts[order[code]];
    }
  }

  std::array<std::uint16_t, kCodes> exponents{};
  std::vector<std::uint8_t> code_of;  // by exponent; kCodes: an escape
  std::uint64_t escapes = 0;
};

void put(std::byte*& to, std::uint64_t value, std::size_t bytes) {
  std::memcpy(to, &value, bytes);
  to += bytes;
}

std::uint64_t get(const std::byte*& from, std::size_t bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, from, bytes);
  from += bytes;
  return value;
}

void encode_codes(const MessageView& message, std::uint64_t elements, const Book& book, const Layout& layout,
                  std::byte* payload) {
  const Element element = message.shape.element;
  const FloatFormat format = float_format(element);
  std::byte* head = payload;
  put(head, static_cast<std::uint64_t>(kCoded), 1);
  put(head, book.escapes, 4);
  for (const std::uint16_t exponent : book.exponents) put(head, exponent, layout.exponent_bytes);
  BitWriter fractions(payload + layout.fractions);
  BitWriter codes(payload + layout.codes);
  std::byte* escapes = payload + layout.escapes;
  for (std::uint64_t i = 0; i < elements; ++i) {
    const Parts parts = split(format, element_bits(element, message.values.data, i));
    const std::uint8_t code = book.code_of[parts.exponent];
    fractions.put(parts.fraction, 1 + format.mantissa_bits);
    codes.put(code % kCodes, 4);
    if (code < kCodes) continue;
    put(escapes, i, 4);
    put(escapes, parts.exponent, layout.exponent_bytes);
  }
  fractions.finish();
  codes.finish();
}

}  // namespace

Lossless::Lossless(const LosslessConfig& config) : config_(config) {
  if (!(config_.assumed_ratio > 0 && std::isfinite(config_.assumed_ratio))) {
    refuse(Refusal::kBadParameter,
           "expected assumed_ratio: above 0, found " + std::to_string(config_.assumed_ratio));
  }
}

Summable Lossless::summable(const Shape&, Direction) const {
  return {false, {}, "codes stand for the exponents of one message: those of two cannot be added"};
}

std::uint64_t Lossless::wire_bytes(const Shape& shape, Direction direction) const {
  const std::uint64_t most = worst_case_bytes(shape, direction);
  const double bytes = std::ceil(static_cast<double>(dense_bytes(shape)) / config_.assumed_ratio);
  return bytes < static_cast<double>(most) ? static_cast<std::uint64_t>(bytes) : most;
}

std::uint64_t Lossless::worst_case_bytes(const Shape& shape, Direction) const {
  check_element(shape.element);
  const std::uint64_t elements = element_count(shape);
  if (elements > std::uint64_t{1} << 32) {
    refuse(Refusal::kWrongShape,
           "expected at most 2^32 elements for 32-bit places, found " + std::to_string(elements));
  }
  return elements == 0 ? 0 : 1 + dense_bytes(shape);
}

Cost Lossless::compress_cost(const Shape& shape, Direction direction) const {
  Cost cost;
  cost.dense_bytes = dense_bytes(shape);
  cost.passes = 2;  // one to find the exponents, one to code them
  cost.wire_bytes = wire_bytes(shape, direction);
  cost.fill_cycles = 16;
  cost.streams =
      false;  // the exponents of all elements make the book; fractions, codes and escapes are apart
  return cost;
}

Cost Lossless::decompress_cost(const Shape& shape, Direction direction) const {
  Cost cost = compress_cost(shape, direction);
  cost.passes = 1;
  return cost;
}

void Lossless::encode_values(const MessageView& message, const Context& context,
                             std::vector<std::byte>& payload) {
  const std::uint64_t elements = element_count(message.shape);
  const std::uint64_t most = worst_case_bytes(message.shape, context.direction);
  payload.clear();
  if (elements == 0) return;
  const Book book(message, elements);
  const Layout layout(message.shape.element, elements);
  const std::uint64_t coded = layout.escapes + book.escapes * layout.escape_bytes;
  payload.resize(std::min(coded, most));
  if (coded < most) return encode_codes(message, elements, book, layout, payload.data());
  payload[0] = kRaw;
  std::copy_n(message.values.data, message.values.size, payload.begin() + 1);
}

void Lossless::decode_values(const Shape& shape, ByteView payload, const Context&, std::byte* values) const {
  const std::uint64_t dense = dense_bytes(shape);
  if (dense == 0) return;
  if (payload.size == 0) refuse(Refusal::kTruncated, "expected a form byte, found nothing");
  if (payload.data[0] == kCoded) return decode_codes(shape, payload, values);
  if (payload.data[0] != kRaw) {
    refuse(Refusal::kMalformed,
           "expected form 0 or 1, found " + std::to_string(static_cast<unsigned>(payload.data[0])));
  }
  if (payload.size != 1 + dense) {
    refuse(payload.size < 1 + dense ? Refusal::kTruncated : Refusal::kTooLong,
           "expected " + std::to_string(1 + dense) + " bytes, found " + std::to_string(payload.size));
  }
  std::copy_n(payload.data + 1, dense, values);
}

void Lossless::decode_codes(const Shape& shape, ByteView payload, std::byte* values) const {
  const FloatFormat format = float_format(shape.element);
  const std::size_t bytes = element_bytes(shape.element);
  const std::uint64_t elements = element_count(shape);
  const std::uint64_t largest = (std::uint64_t{1} << format.exponent_bits) - 1;
  const Layout layout(shape.element, elements);
  const auto malformed = [this](const std::string& text) { refuse(Refusal::kMalformed, text); };
  if (payload.size < layout.escapes) {
    refuse(Refusal::kTruncated, "expected at least " + std::to_string(layout.escapes) + " bytes, found " +
                                    std::to_string(payload.size));
  }
  const std::byte* head = payload.data + 1;
  const std::uint64_t escapes = get(head, 4);
  const std::uint64_t expected = layout.escapes + escapes * layout.escape_bytes;
  if (payload.size != expected) {
    refuse(payload.size < expected ? Refusal::kTruncated : Refusal::kTooLong,
           "expected " + std::to_string(expected) + " bytes with " + std::to_string(escapes) +
               " escapes, found " + std::to_string(payload.size));
  }
  std::array<std::uint64_t, kCodes> exponents;
  for (std::uint64_t& exponent : exponents) {
    exponent = get(head, layout.exponent_bytes);
    if (exponent > largest) malformed("expected exponents up to " + std::to_string(largest) + ", found more");
  }
  BitReader fractions(payload.data + layout.fractions);
  BitReader codes(payload.data + layout.codes);
  const std::byte* escape = payload.data + layout.escapes;
  const std::byte* const end = payload.data + payload.size;
  const auto next_place = [&] { return escape == end ? elements : get(escape, 4); };
  std::uint64_t place = next_place();
  for (std::uint64_t i = 0; i < elements; ++i) {
    const std::uint64_t code = codes.get(4);
    Parts parts{exponents[code], fractions.get(1 + format.mantissa_bits)};
    if (i == place) {
      parts.exponent = get(escape, layout.exponent_bytes);
      if (code != 0 || parts.exponent > largest) malformed("expected code 0 and an exponent at an escape");
      place = next_place();
    }
    const std::uint64_t whole = join(format, parts);
    std::memcpy(values + i * bytes, &whole, bytes);
  }
  if (escape != end || place != elements) malformed("expected the places of escapes to ascend, found others");
  if ((fractions.padding() | codes.padding()) != 0) malformed("expected zeros as padding, found bits");
}

}  // namespace wafervp::compression
