// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/half.h"

namespace wafervp::compression {

/// Loops of the block quantiser, in a form that compilers turn into vector instructions.

/// Largest magnitude; NaN or infinity where one of the values is not finite. Compared as integers, which are
/// in the order of the magnitudes, with NaN behind infinity.
inline float largest_magnitude(const float* values, std::size_t count) {
  std::int32_t largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int32_t bits = bits_as<std::int32_t>(values[i]) & 0x7fffffff;
    largest = bits > largest ? bits : largest;
  }
  return bits_as<float>(largest);
}

inline double largest_magnitude(const double* values, std::size_t count) {
  std::int64_t largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t bits = bits_as<std::int64_t>(values[i]) & 0x7fffffffffffffff;
    largest = bits > largest ? bits : largest;
  }
  return bits_as<double>(largest);
}

/// Below this, 1 / scale might be infinite.
constexpr float kLeastInvertible = 0x1p-120f;

/// value / scale rounded to the nearest integer, ties to even, for quotients of magnitude up to 127. The sum
/// with 1.5 times 2 to the number of mantissa bits rounds, and leaves the integer in its low bits. A quotient
/// is a product with 1 / scale, which a tie sees only within 3 units in the last place.
inline void round_to_codes(const float* values, float scale, std::int8_t* codes, std::size_t count) {
  if (scale < kLeastInvertible) {
    for (std::size_t i = 0; i < count; ++i) {
      codes[i] = static_cast<std::int8_t>(bits_as<std::int32_t>(values[i] / scale + 0x1.8p23f));
    }
    return;
  }
  const float inverse = 1 / scale;
  for (std::size_t i = 0; i < count; ++i) {
    codes[i] = static_cast<std::int8_t>(bits_as<std::int32_t>(values[i] * inverse + 0x1.8p23f));
  }
}

// The same of bf16 as it is in a message: without a copy in fp32, which would take longer than the rest.

inline std::uint16_t load_bf16(const std::byte* values, std::size_t index) {
  std::uint16_t bits;
  std::memcpy(&bits, values + 2 * index, sizeof bits);
  return bits;
}

inline float largest_magnitude_bf16(const std::byte* values, std::size_t count) {
  std::int16_t largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = static_cast<std::int16_t>(load_bf16(values, i) & 0x7fff);
    largest = bits > largest ? bits : largest;
  }
  return float_from_bf16(static_cast<std::uint16_t>(largest));
}

/// `scale`: kLeastInvertible and more.
inline void round_bf16_to_codes(const std::byte* values, float scale, std::int8_t* codes, std::size_t count) {
  const float inverse = 1 / scale;
  for (std::size_t i = 0; i < count; ++i) {
    const float value = float_from_bf16(load_bf16(values, i));
    codes[i] = static_cast<std::int8_t>(bits_as<std::int32_t>(value * inverse + 0x1.8p23f));
  }
}

/// code * step as bf16, rounded to even. No product is beyond the largest bf16, or NaN.
inline void codes_to_bf16(const std::int8_t* codes, float step, std::byte* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = bits_as<std::uint32_t>(static_cast<float>(codes[i]) * step);
    const auto half = static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
    std::memcpy(values + 2 * i, &half, sizeof half);
  }
}

inline std::int8_t lowest_code(const std::int8_t* codes, std::size_t count) {
  std::int8_t lowest = 0;
  for (std::size_t i = 0; i < count; ++i) lowest = codes[i] < lowest ? codes[i] : lowest;
  return lowest;
}

/// Scales, of fp32 at most, all have an inverse in fp64.
inline void round_to_codes(const double* values, double scale, std::int8_t* codes, std::size_t count) {
  const double inverse = 1 / scale;
  for (std::size_t i = 0; i < count; ++i) {
    codes[i] = static_cast<std::int8_t>(bits_as<std::int64_t>(values[i] * inverse + 0x1.8p52));
  }
}

/// `bytes` pairs of codes of 4 bits, the first one low.
inline void pack_nibbles(const std::int8_t* codes, std::byte* to, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) {
    to[i] = static_cast<std::byte>((codes[2 * i] & 0xf) | (codes[2 * i + 1] & 0xf) << 4);
  }
}

inline void unpack_nibbles(const std::byte* from, std::int8_t* codes, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) {
    const auto byte = static_cast<unsigned>(from[i]);
    codes[2 * i] = static_cast<std::int8_t>(((byte & 0xf) ^ 8) - 8);
    codes[2 * i + 1] = static_cast<std::int8_t>(((byte >> 4) ^ 8) - 8);
  }
}

}  // namespace wafervp::compression
