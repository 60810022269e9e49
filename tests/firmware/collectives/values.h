// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "wafervp/registers.h"

/// Typed values as raw bytes, with an arithmetic of their own (not that of the accelerator's model).
namespace wafervp::test {

using Buffer = std::vector<std::uint8_t>;

inline float half_to_float(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  if (exponent == 0) return static_cast<float>(bits >> 15 ? -mantissa : mantissa) * 0x1p-24f;
  const std::uint32_t wide = (bits & 0x8000u) << 16 | static_cast<std::uint32_t>(exponent + 112) << 23 |
                             static_cast<std::uint32_t>(mantissa) << 13;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}

/// Finite values well inside the range only; rounds to nearest even.
inline std::uint16_t float_to_half(float value) {
  std::uint32_t wide;
  std::memcpy(&wide, &value, 4);
  const std::uint32_t sign = wide >> 16 & 0x8000u, magnitude = wide & 0x7fffffffu;
  if (magnitude < 113u << 23) {  // subnormal: a multiple of 2^-24
    return static_cast<std::uint16_t>(sign |
                                      static_cast<std::uint32_t>(std::nearbyint(std::fabs(value) * 0x1p24f)));
  }
  return static_cast<std::uint16_t>(sign |
                                    (((magnitude + 0xfff + (magnitude >> 13 & 1)) >> 13) - (112u << 10)));
}

inline float brain_to_float(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}

inline std::uint16_t float_to_brain(float value) {
  std::uint32_t wide;
  std::memcpy(&wide, &value, 4);
  return static_cast<std::uint16_t>((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
}

/// a + b for elements of `dtype`, at `a`.
inline void add_element(std::uint32_t dtype, std::uint8_t* a, const std::uint8_t* b) {
  const auto as = [](auto zero, const std::uint8_t* from) {
    std::memcpy(&zero, from, sizeof zero);
    return zero;
  };
  const auto put = [a](auto value) { std::memcpy(a, &value, sizeof value); };
  switch (dtype) {
    case WVP_FP32:
      put(as(0.0f, a) + as(0.0f, b));
      break;
    case WVP_FP64:
      put(as(0.0, a) + as(0.0, b));
      break;
    case WVP_INT32:
      put(as(std::uint32_t{0}, a) + as(std::uint32_t{0}, b));
      break;
    case WVP_FP16:
      put(float_to_half(half_to_float(as(std::uint16_t{0}, a)) + half_to_float(as(std::uint16_t{0}, b))));
      break;
    default:
      put(float_to_brain(brain_to_float(as(std::uint16_t{0}, a)) + brain_to_float(as(std::uint16_t{0}, b))));
      break;
  }
}

inline void add_all(std::uint32_t dtype, std::uint8_t* a, const std::uint8_t* b, std::size_t bytes) {
  const std::size_t size = wvp_dtype_bytes(dtype);
  for (std::size_t i = 0; i + size <= bytes; i += size) add_element(dtype, a + i, b + i);
}

/// Values of mixed sign and magnitude, so that another order of sums gives other bits.
inline Buffer random_values(std::uint32_t dtype, std::size_t bytes, std::mt19937_64& random) {
  Buffer buffer(bytes);
  const std::size_t size = wvp_dtype_bytes(dtype);
  std::size_t i = 0;
  for (; i + size <= bytes; i += size) {
    const std::uint64_t bits = random();
    const double value =
        std::ldexp(static_cast<double>(static_cast<std::int32_t>(bits)), -31 - static_cast<int>(bits >> 61));
    const float narrow = static_cast<float>(value);
    const std::uint16_t half = float_to_half(narrow), brain = float_to_brain(narrow);
    const void* from = dtype == WVP_FP32   ? static_cast<const void*>(&narrow)
                       : dtype == WVP_FP64 ? static_cast<const void*>(&value)
                       : dtype == WVP_FP16 ? static_cast<const void*>(&half)
                       : dtype == WVP_BF16 ? static_cast<const void*>(&brain)
                                           : static_cast<const void*>(&bits);
    std::memcpy(&buffer[i], from, size);
  }
  for (; i < bytes; i++) buffer[i] = static_cast<std::uint8_t>(random());
  return buffer;
}

}  // namespace wafervp::test
