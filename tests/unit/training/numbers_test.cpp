// SPDX-License-Identifier: Apache-2.0
// Products and functions whose bits do not depend on the machine.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "compression/gaussian.h"
#include "training/fixed_tables.h"
#include "training/portable_math.h"
#include "training/products.h"

namespace wafervp::training {
namespace {

template <class T>
Matrix<T> random(std::size_t rows, std::size_t columns, std::uint64_t seed) {
  const Matrix<double> values = compression::gaussian_matrix(rows, columns, seed);
  Matrix<T> result(rows, columns);
  for (std::size_t i = 0; i < result.values.size(); ++i) result.values[i] = static_cast<T>(values.values[i]);
  return result;
}

/// The definition: one sum after the other, in ascending order.
template <class T>
Matrix<T> by_definition(View<const T> a, View<const T> b, const Matrix<T>& before, Into into) {
  Matrix<T> c(a.rows, b.columns);
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t j = 0; j < b.columns; ++j) {
      T sum = 0;
      for (std::size_t k = 0; k < a.columns; ++k) {
        const T product =
            a.data[i * a.row_stride + k * a.column_stride] * b.data[k * b.row_stride + j * b.column_stride];
        sum += product;
      }
      c.row(i)[j] = into == Into::kAdd ? before.row(i)[j] + sum : sum;
    }
  return c;
}

template <class T>
void expect_same_bits(const Matrix<T>& a, const Matrix<T>& b) {
  ASSERT_EQ(a.values.size(), b.values.size());
  if (a.values.empty()) return;
  EXPECT_EQ(std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof(T)), 0);
}

template <class T>
void check_products() {
  for (const std::size_t m : {0, 1, 3, 4, 9})
    for (const std::size_t n : {0, 1, 4, 7, 8, 17, 33})
      for (const std::size_t depth : {0, 1, 5, 40})
        for (const Into into : {Into::kReplace, Into::kAdd}) {
          const Matrix<T> a = random<T>(m, depth, 1), b = random<T>(depth, n, 2), c = random<T>(m, n, 3);
          const Matrix<T> a_turned = random<T>(depth, m, 4), b_turned = random<T>(n, depth, 5);
          for (const View<const T> left : {view(a), view(a_turned).transposed()})
            for (const View<const T> right : {view(b), view(b_turned).transposed()}) {
              const Matrix<T> expected = by_definition<T>(left, right, c, into);
              Matrix<T> fast = c, baseline = c;
              multiply(left, right, view(fast), into);
              multiply_baseline(left, right, view(baseline), into);
              expect_same_bits(fast, expected);
              expect_same_bits(baseline, expected);
            }
        }
}

TEST(Products, HaveTheBitsOfTheirDefinitionWithAndWithoutAvx2) {
  check_products<double>();
  check_products<float>();
}

TEST(Products, LeaveWhatStandsBesideTheResultAlone) {
  const Matrix<double> a = random<double>(5, 3, 1), b = random<double>(3, 2, 2);
  Matrix<double> wide = random<double>(5, 9, 3);
  const Matrix<double> before = wide;
  multiply(view(a), view(b), View<double>(wide.values.data() + 4, 5, 2, 9), Into::kReplace);
  for (std::size_t row = 0; row < 5; ++row)
    for (std::size_t column = 0; column < 9; ++column)
      if (column < 4 || column > 5) {
        EXPECT_EQ(wide.row(row)[column], before.row(row)[column]);
      }
}

TEST(PortableMath, ExpIsWithinFourUnitsInTheLastPlace) {
  for (double x = -699.7; x < 700; x += 0.0137) {
    const double expected = std::exp(x);
    EXPECT_LE(std::abs(portable_exp(x) - expected), 4 * (std::nextafter(expected, INFINITY) - expected)) << x;
  }
  EXPECT_EQ(portable_exp(0), 1);
  EXPECT_EQ(portable_exp(1e300), portable_exp(700));
  EXPECT_EQ(portable_exp(-1e300), portable_exp(-700));
  EXPECT_TRUE(std::isnan(portable_exp(NAN)));
}

TEST(PortableMath, SinAndCosAreRightToFifteenDigits) {
  for (double x = 0; x < 1048576; x = x * 1.0007 + 0.01) {
    EXPECT_NEAR(portable_sin(x), std::sin(x), 1e-15) << x;
    EXPECT_NEAR(portable_cos(x), std::cos(x), 1e-15) << x;
  }
  EXPECT_EQ(portable_sin(0), 0);
  EXPECT_EQ(portable_cos(0), 1);
}

TEST(FixedTables, AreNormalNumbersAndWaves) {
  ModelConfig model;
  model.vocabulary = 500;
  const auto tables = make_tables(model, 3);
  ASSERT_EQ(tables->tokens.rows, 500u);
  ASSERT_EQ(tables->tokens.columns, 64u);
  double sum = 0, squares = 0;
  for (const double value : tables->tokens.values) {
    sum += value;
    squares += value * value;
  }
  const double count = 500 * 64;
  EXPECT_NEAR(sum / count, 0, 4 / std::sqrt(count));
  EXPECT_NEAR(squares / count, 1, 4 * std::sqrt(2 / count));
  for (const std::size_t position : {0, 1, 17, 31})
    for (const std::size_t i : {0, 3, 31}) {
      const double angle = static_cast<double>(position) / std::pow(10000.0, static_cast<double>(2 * i) / 64);
      EXPECT_NEAR(tables->positions.row(position)[2 * i], std::sin(angle), 1e-14);
      EXPECT_NEAR(tables->positions.row(position)[2 * i + 1], std::cos(angle), 1e-14);
    }
  // A U of the same seed has other numbers.
  EXPECT_NE(compression::gaussian_matrix(64, 8, 3).values[0], tables->tokens.values[0]);
  EXPECT_EQ(make_tables(model, 3)->tokens.values, tables->tokens.values);
  EXPECT_NE(make_tables(model, 4)->tokens.values, tables->tokens.values);
}

}  // namespace
}  // namespace wafervp::training
