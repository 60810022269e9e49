// SPDX-License-Identifier: Apache-2.0
// Sums of elements, bit by bit, against a slow reference that shares nothing with the code: exact
// arithmetic in a wider type and rounding by scaling.
#include "core/element.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>

#include "bench.h"

namespace wafervp::test {
namespace {

struct Format {
  int precision;  ///< bits of the significand
  int least;      ///< exponent of the least normal number
  int most;       ///< exponent of the largest number
};
constexpr Format kFp16{11, -14, 15};
constexpr Format kBf16{8, -126, 127};
constexpr Format kFp32{24, -126, 127};

/// Value of the bits of a format with `bits` bits.
double decode(const Format& format, unsigned bits, std::uint32_t code) {
  const int fraction_bits = format.precision - 1;
  const bool negative = (code >> (bits - 1)) != 0;
  const std::uint32_t fraction = code & ((1u << fraction_bits) - 1);
  const std::uint32_t exponent = (code >> fraction_bits) & ((1u << (bits - format.precision)) - 1);
  double value;
  if (exponent == (1u << (bits - format.precision)) - 1) {
    value =
        fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(fraction, format.least - fraction_bits);
  } else {
    value = std::ldexp(fraction + std::ldexp(1.0, fraction_bits),
                       format.least + static_cast<int>(exponent) - 1 - fraction_bits);
  }
  return negative ? -value : value;
}

/// Nearest code of the format, ties to even; NaN is the canonical quiet one.
std::uint32_t encode(const Format& format, unsigned bits, double value) {
  const int fraction_bits = format.precision - 1;
  const std::uint32_t infinity = ((1u << (bits - format.precision)) - 1) << fraction_bits;
  if (std::isnan(value)) return infinity | (1u << (fraction_bits - 1));
  const std::uint32_t sign = std::signbit(value) ? 1u << (bits - 1) : 0;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  if (std::isinf(magnitude)) return sign | infinity;
  const int exponent = std::max(std::ilogb(magnitude), format.least);
  const double units = std::nearbyint(std::ldexp(magnitude, fraction_bits - exponent));
  const auto whole = static_cast<std::uint64_t>(units);
  // A significand with its hidden bit adds one to the exponent field by itself; a carry does the same.
  const std::uint64_t code = (static_cast<std::uint64_t>(exponent - format.least) << fraction_bits) + whole;
  return sign | static_cast<std::uint32_t>(std::min<std::uint64_t>(code, infinity));
}

template <class Bits>
Bits sum(Element element, Bits a, Bits b) {
  Bits result = a;
  add(element, reinterpret_cast<std::byte*>(&result), reinterpret_cast<const std::byte*>(&b), sizeof b);
  return result;
}

/// 16-bit formats: every value against the special ones and random ones.
void check_against_all(Element element, const Format& format) {
  std::vector<std::uint16_t> others;
  const std::uint32_t infinity = encode(format, 16, std::numeric_limits<double>::infinity());
  const std::uint32_t one = encode(format, 16, 1);
  const std::uint32_t least_normal = 1u << (format.precision - 1);
  for (const std::uint32_t code : {0u, 1u, 2u, least_normal - 1, least_normal, least_normal + 1, one - 1, one,
                                   one + 1, infinity - 1, infinity, infinity + 1, 0x7fffu}) {
    others.push_back(static_cast<std::uint16_t>(code));
    others.push_back(static_cast<std::uint16_t>(code | 0x8000u));
  }
  std::mt19937 random(7);
  while (others.size() < 80) others.push_back(static_cast<std::uint16_t>(random()));
  for (std::uint16_t b : others) {
    const double right = decode(format, 16, b);
    for (std::uint32_t a = 0; a < 0x10000; ++a) {
      const std::uint16_t found = sum(element, static_cast<std::uint16_t>(a), b);
      const std::uint32_t wanted = encode(format, 16, decode(format, 16, a) + right);
      ASSERT_EQ(found, wanted) << std::hex << a << " + " << b;
    }
  }
}

TEST(Element, Fp16Sums) { check_against_all(Element::kFp16, kFp16); }
TEST(Element, Bf16Sums) { check_against_all(Element::kBf16, kBf16); }

TEST(Element, HandWorkedHalfSums) {
  EXPECT_EQ(sum<std::uint16_t>(Element::kFp16, 0x3c00, 0x3c00), 0x4000);  // 1 + 1
  EXPECT_EQ(sum<std::uint16_t>(Element::kFp16, 0x6800, 0x3c00), 0x6800);  // 2048 + 1: tie to even, down
  EXPECT_EQ(sum<std::uint16_t>(Element::kFp16, 0x6801, 0x3c00), 0x6802);  // 2050 + 1: tie to even, up
  EXPECT_EQ(sum<std::uint16_t>(Element::kFp16, 0x7bff, 0x4c00), 0x7c00);  // 65504 + 16: overflow
  EXPECT_EQ(sum<std::uint16_t>(Element::kFp16, 0x7bff, 0x4b80), 0x7bff);  // 65504 + 15: back to 65504
  EXPECT_EQ(sum<std::uint16_t>(Element::kFp16, 0x0001, 0x0001), 0x0002);  // subnormals
  EXPECT_EQ(sum<std::uint16_t>(Element::kFp16, 0x03ff, 0x0001), 0x0400);  // into the normal range
  EXPECT_EQ(sum<std::uint16_t>(Element::kFp16, 0x7c00, 0xfc00), 0x7e00);  // inf - inf
  EXPECT_EQ(sum<std::uint16_t>(Element::kFp16, 0xfe01, 0x3c00), 0x7e00);  // a NaN becomes the canonical one
  EXPECT_EQ(sum<std::uint16_t>(Element::kFp16, 0x8000, 0x8000), 0x8000);  // -0 + -0
  EXPECT_EQ(sum<std::uint16_t>(Element::kFp16, 0x8000, 0x0000), 0x0000);
  EXPECT_EQ(sum<std::uint16_t>(Element::kBf16, 0x3f80, 0x3b80), 0x3f80);  // 1 + 2^-8: tie to even, down
  EXPECT_EQ(sum<std::uint16_t>(Element::kBf16, 0x3f81, 0x3b80), 0x3f82);  // 1 + 2^-7 + 2^-8: up
  EXPECT_EQ(sum<std::uint16_t>(Element::kBf16, 0x7f7f, 0x7f7f), 0x7f80);
  EXPECT_EQ(sum<std::uint16_t>(Element::kBf16, 0x7f80, 0xff80), 0x7fc0);
}

TEST(Element, ConversionsFromEachHalf) {
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    const auto half = static_cast<std::uint16_t>(code);
    for (const bool brain : {false, true}) {
      const float value = brain ? float_from_bf16(half) : float_from_fp16(half);
      const double wanted = decode(brain ? kBf16 : kFp16, 16, code);
      if (std::isnan(wanted)) {
        ASSERT_TRUE(std::isnan(value)) << code;
        continue;
      }
      ASSERT_EQ(static_cast<double>(value), wanted) << code;
      ASSERT_EQ(std::signbit(value), std::signbit(wanted)) << code;
      ASSERT_EQ(brain ? bf16_from_float(value) : fp16_from_float(value), half) << code;
    }
  }
}

TEST(Element, ConversionsRoundToNearestEven) {
  std::mt19937 random(3);
  for (std::uint32_t i = 0; i < 2'000'000; ++i) {
    // All exponents; fractions that are random or close to a tie of either format.
    std::uint32_t code = static_cast<std::uint32_t>(random());
    if (i % 4 == 1) code = (code & 0xffffe000u) + 0x1000u + (i / 4) % 3 - 1;
    if (i % 4 == 2) code = (code & 0xffff0000u) + 0x8000u + (i / 4) % 3 - 1;
    if (i % 4 == 3) code = (code & 0x807fffffu) | ((100u + (i / 4) % 45) << 23);
    float value;
    std::memcpy(&value, &code, sizeof value);
    ASSERT_EQ(fp16_from_float(value), encode(kFp16, 16, value)) << std::hex << code;
    ASSERT_EQ(bf16_from_float(value), encode(kBf16, 16, value)) << std::hex << code;
  }
}

TEST(Element, Fp32Sums) {
  // Rounding the sum of two fp32 through fp64 is correct: 53 >= 2 * 24 + 2.
  std::mt19937 random(11);
  for (std::uint32_t i = 0; i < 2'000'000; ++i) {
    std::uint32_t a = static_cast<std::uint32_t>(random()), b = static_cast<std::uint32_t>(random());
    if (i % 3 == 1) b = (b & 0x80ffffffu) | (a & 0x7f000000u);  // near in size
    if (i % 3 == 2) a &= 0x81ffffffu, b &= 0x81ffffffu;         // subnormal and just above
    ASSERT_EQ(sum(Element::kFp32, a, b), encode(kFp32, 32, decode(kFp32, 32, a) + decode(kFp32, 32, b)))
        << std::hex << a << " + " << b;
  }
  EXPECT_EQ(sum<std::uint32_t>(Element::kFp32, 0x7f800000u, 0xff800000u), 0x7fc00000u);
  EXPECT_EQ(sum<std::uint32_t>(Element::kFp32, 0xffc12345u, 0x3f800000u), 0x7fc00000u);
  EXPECT_EQ(sum<std::uint32_t>(Element::kFp32, 0x3f800000u, 0x7f812345u), 0x7fc00000u);
  EXPECT_EQ(sum<std::uint32_t>(Element::kFp32, 0x7f7fffffu, 0x7f7fffffu), 0x7f800000u);
}

TEST(Element, Fp64Sums) {
  __extension__ using Quad = __float128;  // 113 >= 2 * 53 + 2, done in software
  std::mt19937_64 random(5);
  for (std::uint32_t i = 0; i < 300'000; ++i) {
    std::uint64_t a = random(), b = random();
    if (i % 3 == 1) b = (b & 0x801fffffffffffffull) | (a & 0x7fe0000000000000ull);
    if (i % 3 == 2) a &= 0x803fffffffffffffull, b &= 0x803fffffffffffffull;
    double left, right;
    std::memcpy(&left, &a, 8);
    std::memcpy(&right, &b, 8);
    if (std::isnan(left) || std::isnan(right) || (std::isinf(left) && std::isinf(right))) continue;
    const auto wanted = static_cast<double>(static_cast<Quad>(left) + static_cast<Quad>(right));
    std::uint64_t code;
    std::memcpy(&code, &wanted, 8);
    ASSERT_EQ(sum(Element::kFp64, a, b), code) << std::hex << a << " + " << b;
  }
  EXPECT_EQ(sum<std::uint64_t>(Element::kFp64, 0x7ff0000000000000ull, 0xfff0000000000000ull),
            0x7ff8000000000000ull);
  EXPECT_EQ(sum<std::uint64_t>(Element::kFp64, 0xfff8000000000001ull, 0ull), 0x7ff8000000000000ull);
}

TEST(Element, Int32SumsWrapAround) {
  EXPECT_EQ(sum<std::uint32_t>(Element::kInt32, 0x7fffffffu, 1u), 0x80000000u);
  EXPECT_EQ(sum<std::uint32_t>(Element::kInt32, 0xffffffffu, 2u), 1u);
}

TEST(Element, SumsRunOverAllElementsAtAnyAlignment) {
  for (const Element element :
       {Element::kFp32, Element::kFp16, Element::kBf16, Element::kInt32, Element::kFp64}) {
    const std::size_t size = element_bytes(element);
    std::vector<std::byte> into(1 + 37 * size), from(3 + 37 * size), guard = into;
    std::mt19937 random(9);
    for (std::byte& byte : into) byte = static_cast<std::byte>(random() & 0x3f);
    for (std::byte& byte : from) byte = static_cast<std::byte>(random() & 0x3f);
    std::vector<std::byte> wanted = into;
    for (std::size_t i = 0; i < 36; ++i) add(element, &wanted[1 + i * size], &from[3 + i * size], size);
    add(element, &into[1], &from[3], 36 * size);
    EXPECT_EQ(into, wanted) << element_name(element);
  }
}

TEST(Element, APartOfAnElementIsAnError) {
  std::byte into[16]{}, from[16]{};
  EXPECT_THROW(add(Element::kFp32, into, from, 6), std::invalid_argument);
  EXPECT_THROW(add(Element::kFp16, into, from, 3), std::invalid_argument);
  EXPECT_THROW(add(Element::kFp64, into, from, 12), std::invalid_argument);
  EXPECT_THROW(element_of(5), std::invalid_argument);
  EXPECT_EQ(element_of(WVP_INT32), Element::kInt32);
  for (std::uint8_t dtype = 0; dtype < 5; ++dtype) {
    EXPECT_EQ(element_bytes(element_of(dtype)), wvp_dtype_bytes(dtype));
  }
}

}  // namespace
}  // namespace wafervp::test
