// SPDX-License-Identifier: Apache-2.0
#include "core/element.h"

#include <cstring>
#include <stdexcept>
#include <string>

#include "core/half.h"

namespace wafervp {

namespace {

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

}  // namespace wafervp
