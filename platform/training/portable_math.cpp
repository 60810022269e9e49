// SPDX-License-Identifier: Apache-2.0
#include "training/portable_math.h"

#include <cstdint>
#include <cstring>

namespace wafervp::training {
namespace {

/// Added and taken away again, it rounds to the nearest integer, which then stands in the lowest bits.
constexpr double kRounder = 0x1.8p52;

std::uint64_t bits_of(double x) {
  std::uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

/// x = quarter pi/2 + rest, |rest| <= pi/4. pi/2 in three parts; the products with the first two are exact.
double reduce(double x, unsigned& quarter) {
  const double rounded = x * 0.63661977236758134308 + kRounder;
  quarter = static_cast<unsigned>(bits_of(rounded) & 3);
  const double n = rounded - kRounder;
  return ((x - n * 0x1.921fb544p+0) - n * 0x1.0b4611a6p-34) - n * 0x1.3198a2e037073p-69;
}

/// Taylor series; the first term left out is below 1e-19.
double sine_near_zero(double x) {
  const double y = x * x;
  double sum = 0;
  for (int n = 17; n >= 3; n -= 2) sum = (sum + 1) * (-y / (n * (n - 1)));
  return x + x * sum;
}
double cosine_near_zero(double x) {
  const double y = x * x;
  double sum = 0;
  for (int n = 18; n >= 2; n -= 2) sum = (sum + 1) * (-y / (n * (n - 1)));
  return 1 + sum;
}

double sine_of_quarter(unsigned quarter, double rest) {
  const double value = quarter & 1 ? cosine_near_zero(rest) : sine_near_zero(rest);
  return quarter & 2 ? -value : value;
}

}  // namespace

double portable_exp(double x) {
  x = x < -700 ? -700 : x;
  x = x > 700 ? 700 : x;
  // x = n ln 2 + r, |r| <= ln 2 / 2; ln 2 in two parts, so that the product with the first one is exact.
  const double rounded = x * 1.44269504088896340736 + kRounder;
  const double n = rounded - kRounder;
  const double r = (x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
  // Taylor series to r^13 / 13!; the first term left out is below 1e-17.
  double sum = 1.0 / 6227020800;
  sum = sum * r + 1.0 / 479001600;
  sum = sum * r + 1.0 / 39916800;
  sum = sum * r + 1.0 / 3628800;
  sum = sum * r + 1.0 / 362880;
  sum = sum * r + 1.0 / 40320;
  sum = sum * r + 1.0 / 5040;
  sum = sum * r + 1.0 / 720;
  sum = sum * r + 1.0 / 120;
  sum = sum * r + 1.0 / 24;
  sum = sum * r + 1.0 / 6;
  sum = sum * r + 1.0 / 2;
  sum = sum * r + 1;
  sum = sum * r + 1;
  const std::uint64_t power = (bits_of(rounded) << 52) + bits_of(1.0);
  double scale;
  std::memcpy(&scale, &power, sizeof scale);
  return sum * scale;
}

double portable_sin(double x) {
  unsigned quarter;
  const double rest = reduce(x, quarter);
  return sine_of_quarter(quarter, rest);
}

double portable_cos(double x) {
  unsigned quarter;
  const double rest = reduce(x, quarter);
  return sine_of_quarter(quarter + 1, rest);
}

}  // namespace wafervp::training
