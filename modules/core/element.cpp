// SPDX-License-Identifier: Apache-2.0
#include "core/element.h"

#include <cstring>
#include <stdexcept>
#include <string>

namespace wafervp {

namespace {

template <class To, class From>
To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

// NaN is told from the bits, so that no option of the compiler can assume it away.
struct Fp32 {
  using Bits = std::uint32_t;
  static Bits sum(Bits a, Bits b) {
    const Bits bits = bits_as<Bits>(bits_as<float>(a) + bits_as<float>(b));
    return (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : bits;
  }
};

struct Fp64 {
  using Bits = std::uint64_t;
  static Bits sum(Bits a, Bits b) {
    const Bits bits = bits_as<Bits>(bits_as<double>(a) + bits_as<double>(b));
    return (bits & 0x7fffffffffffffffull) > 0x7ff0000000000000ull ? 0x7ff8000000000000ull : bits;
  }
};

struct Fp16 {
  using Bits = std::uint16_t;
  static Bits sum(Bits a, Bits b) { return fp16_from_float(float_from_fp16(a) + float_from_fp16(b)); }
};

struct Bf16 {
  using Bits = std::uint16_t;
  static Bits sum(Bits a, Bits b) { return bf16_from_float(float_from_bf16(a) + float_from_bf16(b)); }
};

struct Int32 {
  using Bits = std::uint32_t;
  static Bits sum(Bits a, Bits b) { return a + b; }
};

template <class Type>
void add_all(std::byte* into, const std::byte* from, std::size_t bytes) {
  using Bits = typename Type::Bits;
  for (std::size_t at = 0; at < bytes; at += sizeof(Bits)) {
    Bits a, b;
    std::memcpy(&a, into + at, sizeof a);
    std::memcpy(&b, from + at, sizeof b);
    a = Type::sum(a, b);
    std::memcpy(into + at, &a, sizeof a);
  }
}

}  // namespace

Element element_of(std::uint8_t dtype) {
  if (dtype > static_cast<std::uint8_t>(Element::kFp64)) {
    throw std::invalid_argument("element type " + std::to_string(dtype) + " is none of 0 (fp32) to 4 (fp64)");
  }
  return static_cast<Element>(dtype);
}

std::size_t element_bytes(Element element) {
  switch (element) {
    case Element::kFp16:
    case Element::kBf16:
      return 2;
    case Element::kFp64:
      return 8;
    default:
      return 4;
  }
}

const char* element_name(Element element) {
  static constexpr const char* kNames[] = {"fp32", "fp16", "bf16", "int32", "fp64"};
  return kNames[static_cast<std::size_t>(element)];
}

void add(Element element, std::byte* into, const std::byte* from, std::size_t bytes) {
  if (bytes % element_bytes(element) != 0) {
    throw std::invalid_argument("a sum over " + std::to_string(bytes) + " bytes ends inside an element of " +
                                element_name(element));
  }
  switch (element) {
    case Element::kFp32:
      return add_all<Fp32>(into, from, bytes);
    case Element::kFp16:
      return add_all<Fp16>(into, from, bytes);
    case Element::kBf16:
      return add_all<Bf16>(into, from, bytes);
    case Element::kInt32:
      return add_all<Int32>(into, from, bytes);
    case Element::kFp64:
      return add_all<Fp64>(into, from, bytes);
  }
}

float float_from_fp16(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return bits_as<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
  if (magnitude >= 0x0400u) return bits_as<float>(sign | ((magnitude << 13) + 0x38000000u));
  // Subnormal: a whole number of 2^-24, exact in fp32.
  const float value = static_cast<float>(magnitude) * 0x1p-24f;
  return bits_as<float>(sign | bits_as<std::uint32_t>(value));
}

std::uint16_t fp16_from_float(float value) {
  const auto bits = bits_as<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7e00u;
  if (magnitude >= 0x47800000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // 2^16 and above
  if (magnitude >= 0x38800000u) {
    // Normal: drop 13 bits; a carry runs into the exponent and, above 65504, to infinity.
    magnitude += 0xfffu + ((magnitude >> 13) & 1u);
    return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000u) >> 13));
  }
  if (magnitude < 0x33000000u) return static_cast<std::uint16_t>(sign);  // below 2^-25
  // Subnormal: count in units of 2^-24.
  const std::uint32_t shift = 126u - (magnitude >> 23);
  const std::uint32_t significand = (magnitude & 0x7fffffu) | 0x800000u;
  const std::uint32_t half = 1u << (shift - 1);
  const std::uint32_t rounded = (significand + half - 1 + ((significand >> shift) & 1u)) >> shift;
  return static_cast<std::uint16_t>(sign | rounded);
}

float float_from_bf16(std::uint16_t bits) { return bits_as<float>(static_cast<std::uint32_t>(bits) << 16); }

std::uint16_t bf16_from_float(float value) {
  const auto bits = bits_as<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fc0u;
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace wafervp
