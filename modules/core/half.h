// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

namespace wafervp {

/// The same bits as another type of the same size.
template <class To, class From>
inline To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

inline float float_from_fp16(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return bits_as<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
  if (magnitude >= 0x0400u) return bits_as<float>(sign | ((magnitude << 13) + 0x38000000u));
  // Subnormal: a whole number of 2^-24, exact in fp32.
  const float value = static_cast<float>(magnitude) * 0x1p-24f;
  return bits_as<float>(sign | bits_as<std::uint32_t>(value));
}

/// Rounds to nearest even; overflow gives infinity, NaN the canonical 0x7e00.
inline std::uint16_t fp16_from_float(float value) {
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

inline float float_from_bf16(std::uint16_t bits) {
  return bits_as<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// Rounds to nearest even; NaN gives the canonical 0x7fc0.
inline std::uint16_t bf16_from_float(float value) {
  const auto bits = bits_as<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fc0u;
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace wafervp
