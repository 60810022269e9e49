// SPDX-License-Identifier: Apache-2.0
#include "compression/gaussian.h"

#include <cmath>

#include "core/half.h"

namespace wafervp::compression {
namespace {

/// From -1 to 1, of 53 bits.
double symmetric(SplitMix& uniform) { return static_cast<double>(uniform.next() >> 11) * 0x1p-52 - 1; }

}  // namespace

double portable_log(double x) {
  // x = m 2^e with m from sqrt(1/2) to sqrt(2); log m = 2 atanh((m - 1) / (m + 1)) as a series.
  std::uint64_t bits = bits_as<std::uint64_t>(x);
  int exponent = static_cast<int>((bits >> 52) & 0x7ff) - 1023;
  bits = (bits & 0x000fffffffffffffull) | 0x3ff0000000000000ull;
  double m = bits_as<double>(bits);
  if (m > 1.4142135623730951) {
    m /= 2;
    ++exponent;
  }
  const double s = (m - 1) / (m + 1);
  const double square = s * s;  // at most 0.0295: the first term left out is below 2^-58
  double sum = 0;
  for (int n = 21; n >= 3; n -= 2) sum = (sum + 1.0 / n) * square;
  // log 2 in two parts, of which the first has zeros at its end, so that its multiple is exact.
  constexpr double kLog2High = 0x1.62e42fefa38p-1;
  constexpr double kLog2Low = 0x1.ef35793c7673p-45;
  return exponent * kLog2High + (2 * s + (2 * s * sum + exponent * kLog2Low));
}

double Gaussian::next() {
  if (has_second_) {
    has_second_ = false;
    return second_;
  }
  double u, v, square;
  do {
    u = symmetric(uniform_);
    v = symmetric(uniform_);
    square = u * u + v * v;
  } while (square >= 1 || square < 0x1p-100);
  // The square root is exact to the last bit by IEEE 754, on each machine.
  const double factor = std::sqrt(-2 * portable_log(square) / square);
  second_ = v * factor;
  has_second_ = true;
  return u * factor;
}

Matrix<double> gaussian_matrix(std::size_t rows, std::size_t columns, std::uint64_t seed, double deviation) {
  Gaussian gaussian(seed);
  Matrix<double> matrix(rows, columns);
  for (double& value : matrix.values) value = deviation * gaussian.next();
  return matrix;
}

}  // namespace wafervp::compression
