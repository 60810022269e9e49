// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/element.h"

namespace wafervp::compression {

/// Bits without the sign: integers in the order of the magnitudes, infinity above all numbers and NaN above
/// it.
std::uint64_t magnitude_bits(Element element, const std::byte* values, std::size_t index);

/// Finds the largest of many; its memory is used again.
class Selection {
 public:
  /// Indices of the k elements of largest magnitude, ascending; among equal ones those that come first. k <=
  /// count.
  const std::vector<std::uint64_t>& largest(Element element, const std::byte* values, std::size_t count,
                                            std::size_t k);
  /// The magnitude (as bits) of the k-th largest finite element, at least 1 (zeros are never worth sending);
  /// k is cut to the number of finite elements, and no element at all gives 1.
  std::uint64_t kth_finite(Element element, const std::byte* values, std::size_t count, std::size_t k);

 private:
  struct Ranked {
    std::uint64_t magnitude, index;
  };
  std::vector<Ranked> ranked_;
  std::vector<std::uint64_t> magnitudes_;
  std::vector<std::uint64_t> chosen_;
};

}  // namespace wafervp::compression
