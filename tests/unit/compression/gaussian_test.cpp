// SPDX-License-Identifier: Apache-2.0
#include "compression/gaussian.h"

#include <gmock/gmock.h>

#include <cmath>

#include "compression/orthonormal.h"
#include "compression/product.h"

namespace wafervp::compression {
namespace {

TEST(PortableLog, IsTheLogarithm) {
  SplitMix random(1);
  for (int i = 0; i < 100000; ++i) {
    const double x = std::ldexp(1 + static_cast<double>(random.next() >> 12) * 0x1p-52,
                                static_cast<int>(random.below(200)) - 190);
    const double expected = std::log(x);
    ASSERT_NEAR(portable_log(x), expected, 2 * std::abs(expected) * 0x1p-52) << x;
  }
  EXPECT_EQ(portable_log(1), 0);
}

TEST(Gaussian, HasTheMomentsAndTailsOfANormalDistribution) {
  Gaussian gaussian(2);
  constexpr int kCount = 1000000;
  double sum = 0, square = 0, fourth = 0;
  int beyond_two = 0, beyond_four = 0;
  for (int i = 0; i < kCount; ++i) {
    const double x = gaussian.next();
    sum += x;
    square += x * x;
    fourth += x * x * x * x;
    beyond_two += std::abs(x) > 2;
    beyond_four += std::abs(x) > 4;
  }
  // Four deviations of each estimate: of the mean 1, of the square sqrt(2), of the fourth sqrt(96), over
  // sqrt(n).
  EXPECT_NEAR(sum / kCount, 0, 0.004);
  EXPECT_NEAR(square / kCount, 1, 0.0057);
  EXPECT_NEAR(fourth / kCount, 3, 0.04);
  EXPECT_NEAR(beyond_two, kCount * std::erfc(2 / std::sqrt(2.0)), 4 * std::sqrt(kCount * 0.0455));
  EXPECT_NEAR(beyond_four, kCount * std::erfc(4 / std::sqrt(2.0)), 4 * std::sqrt(kCount * 6.4e-5));
}

TEST(Gaussian, RepeatsForASeed) {
  EXPECT_EQ(gaussian_matrix(3, 5, 9).values, gaussian_matrix(3, 5, 9).values);
  EXPECT_NE(gaussian_matrix(3, 5, 9).values, gaussian_matrix(3, 5, 10).values);
}

template <class T>
double orthonormality(const Matrix<T>& q) {
  double worst = 0;
  for (std::size_t a = 0; a < q.columns; ++a) {
    for (std::size_t b = 0; b < q.columns; ++b) {
      double sum = 0;
      for (std::size_t i = 0; i < q.rows; ++i) sum += static_cast<double>(q.row(i)[a]) * q.row(i)[b];
      worst = std::max(worst, std::abs(sum - (a == b ? 1 : 0)));
    }
  }
  return worst;
}

TEST(Orthonormalise, GivesOrthonormalColumnsOfTheSameSpan) {
  const Matrix<double> m = gaussian_matrix(50, 12, 3);
  Matrix<double> q = m;
  orthonormalise(q);
  EXPECT_LT(orthonormality(q), 1e-14);
  // Q Q^T M = M
  Matrix<double> shares(12, 12), back(50, 12);
  transposed_multiply(50, 12, 12, q.values.data(), m.values.data(), shares.values.data());
  multiply(50, 12, 12, q.values.data(), shares.values.data(), back.values.data());
  for (std::size_t i = 0; i < m.values.size(); ++i) EXPECT_NEAR(back.values[i], m.values[i], 1e-13);
}

TEST(Orthonormalise, HoldsForColumnsThatAreNearlyOne) {
  Matrix<double> m = gaussian_matrix(40, 5, 4);
  for (std::size_t i = 0; i < m.rows; ++i) {
    for (std::size_t j = 1; j < m.columns; ++j) m.row(i)[j] = m.row(i)[0] + 1e-7 * m.row(i)[j];
  }
  orthonormalise(m);
  EXPECT_LT(orthonormality(m), 1e-14);
}

TEST(Orthonormalise, MakesDependentColumnsZeroWhateverTheirSize) {
  for (const double size : {1e-300, 1.0, 1e300}) {
    Matrix<double> m(3, 4);
    const double columns[4][3] = {{1, 1, 0}, {2, 2, 0}, {0, 0, 0}, {0, 3, 0}};
    for (std::size_t j = 0; j < 4; ++j) {
      for (std::size_t i = 0; i < 3; ++i) m.row(i)[j] = size * columns[j][i];
    }
    orthonormalise(m);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(m.row(i)[1], 0);
      EXPECT_EQ(m.row(i)[2], 0);
    }
    const double root = std::sqrt(0.5);
    EXPECT_NEAR(m.row(0)[0], root, 1e-15);
    EXPECT_NEAR(m.row(0)[3], -root, 1e-15);
    EXPECT_NEAR(m.row(1)[3], root, 1e-15);
  }
}

TEST(Orthonormalise, SpreadsNanAndInfinity) {
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    Matrix<float> m(3, 2);
    m.values = {1, 1, bad, 2, 1, 4};
    orthonormalise(m);
    for (const float value : m.values) EXPECT_TRUE(std::isnan(value));
  }
}

TEST(Product, EqualsItsDefinition) {
  for (const std::size_t rows : {0, 1, 3, 17}) {
    for (const std::size_t inner : {0, 1, 5, 40}) {
      for (const std::size_t columns : {0, 1, 2, 19}) {
        const Matrix<double> a = gaussian_matrix(rows, inner, 1), b = gaussian_matrix(inner, columns, 2);
        Matrix<double> c(rows, columns), d(rows, columns), e(rows, columns);
        Matrix<double> at(inner, rows), bt(columns, inner);
        for (std::size_t i = 0; i < rows; ++i)
          for (std::size_t j = 0; j < inner; ++j) at.row(j)[i] = a.row(i)[j];
        for (std::size_t i = 0; i < inner; ++i)
          for (std::size_t j = 0; j < columns; ++j) bt.row(j)[i] = b.row(i)[j];
        c.values.assign(c.values.size(), 99);
        multiply(rows, inner, columns, a.values.data(), b.values.data(), c.values.data());
        multiply_transposed(rows, inner, columns, a.values.data(), bt.values.data(), d.values.data());
        transposed_multiply(inner, rows, columns, at.values.data(), b.values.data(), e.values.data());
        for (std::size_t i = 0; i < rows; ++i) {
          for (std::size_t j = 0; j < columns; ++j) {
            double sum = 0;
            for (std::size_t l = 0; l < inner; ++l) sum += a.row(i)[l] * b.row(l)[j];
            EXPECT_NEAR(c.row(i)[j], sum, 1e-13);
            EXPECT_NEAR(d.row(i)[j], sum, 1e-13);
            EXPECT_NEAR(e.row(i)[j], sum, 1e-13);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace wafervp::compression
