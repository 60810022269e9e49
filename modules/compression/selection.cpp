// SPDX-License-Identifier: Apache-2.0
#include "compression/selection.h"

#include <algorithm>
#include <functional>

#include "compression/values.h"

namespace wafervp::compression {

std::uint64_t magnitude_bits(Element element, const std::byte* values, std::size_t index) {
  const FloatFormat format = float_format(element);
  const std::uint64_t sign = std::uint64_t{1} << (format.exponent_bits + format.mantissa_bits);
  return element_bits(element, values, index) & (sign - 1);
}

const std::vector<std::uint64_t>& Selection::largest(Element element, const std::byte* values,
                                                     std::size_t count, std::size_t k) {
  ranked_.resize(count);
  for (std::size_t i = 0; i < count; ++i) ranked_[i] = {magnitude_bits(element, values, i), i};
  const auto middle = ranked_.begin() + static_cast<std::ptrdiff_t>(k);
  if (k < count) {
    std::nth_element(ranked_.begin(), middle, ranked_.end(), [](const Ranked& a, const Ranked& b) {
      return a.magnitude != b.magnitude ? a.magnitude > b.magnitude : a.index < b.index;
    });
  }
  chosen_.clear();
  std::for_each(ranked_.begin(), middle, [&](const Ranked& each) { chosen_.push_back(each.index); });
  std::sort(chosen_.begin(), chosen_.end());
  return chosen_;
}

std::uint64_t Selection::kth_finite(Element element, const std::byte* values, std::size_t count,
                                    std::size_t k) {
  const FloatFormat format = float_format(element);
  const std::uint64_t infinity = ((std::uint64_t{1} << format.exponent_bits) - 1) << format.mantissa_bits;
  magnitudes_.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t magnitude = magnitude_bits(element, values, i);
    if (magnitude < infinity) magnitudes_.push_back(magnitude);
  }
  k = std::min(k, magnitudes_.size());
  if (k == 0) return 1;
  const auto at = magnitudes_.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(magnitudes_.begin(), at, magnitudes_.end(), std::greater<>());
  return std::max<std::uint64_t>(*at, 1);
}

}  // namespace wafervp::compression
