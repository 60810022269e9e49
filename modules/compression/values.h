// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/element.h"

namespace wafervp::compression {

/// `count` elements as T (float or double), rounded to nearest even where T is narrower. No alignment is
/// needed.
template <class T>
void widen(Element element, const std::byte* from, T* to, std::size_t count);

/// The other way: rounded to nearest even, once; overflow gives infinity, NaN stays NaN.
template <class T>
void narrow(Element element, const T* from, std::byte* to, std::size_t count);

/// Largest finite value of an element type.
double largest_finite(Element element);

/// How the bits of a floating-point element are divided.
struct FloatFormat {
  unsigned exponent_bits;
  unsigned mantissa_bits;
};
inline FloatFormat float_format(Element element) {
  switch (element) {
    case Element::kFp16:
      return {5, 10};
    case Element::kBf16:
      return {8, 7};
    case Element::kFp32:
      return {8, 23};
    default:
      return {11, 52};
  }
}

/// The bits of element `index`.
std::uint64_t element_bits(Element element, const std::byte* values, std::size_t index);

/// True when no element is NaN or infinite; otherwise `at` is the first that is.
bool all_finite(Element element, const std::byte* values, std::size_t count, std::size_t& at);

}  // namespace wafervp::compression
