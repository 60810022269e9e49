// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "compression/matrix.h"
#include "core/split_mix.h"

namespace wafervp::compression {

/// Normal numbers of mean 0 and variance 1, the same bits on each machine: Marsaglia's polar method with a
/// logarithm of its own, as that of the C library may differ by processor.
class Gaussian {
 public:
  explicit Gaussian(std::uint64_t seed) : uniform_(seed) {}
  double next();

 private:
  SplitMix uniform_;
  double second_ = 0;
  bool has_second_ = false;
};

/// Row by row.
Matrix<double> gaussian_matrix(std::size_t rows, std::size_t columns, std::uint64_t seed,
                               double deviation = 1);

/// Natural logarithm of a positive normal number, within 2 units in the last place, from additions,
/// multiplications and divisions alone.
double portable_log(double x);

}  // namespace wafervp::compression
