// SPDX-License-Identifier: Apache-2.0
#include "compression/orthonormal.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace wafervp::compression {
namespace {

double dot(const double* a, const double* b, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

/// Divides a column by its largest magnitude, so that squares neither overflow nor vanish; NaN or infinity in
/// it make all of it NaN.
void scale(double* column, std::size_t count) {
  double largest = 0;
  bool finite = true;
  for (std::size_t i = 0; i < count; ++i) {
    finite = finite && std::abs(column[i]) <= std::numeric_limits<double>::max();
    largest = std::max(largest, std::abs(column[i]));
  }
  if (finite && largest == 0) return;
  for (std::size_t i = 0; i < count; ++i) {
    column[i] = finite ? column[i] / largest : std::numeric_limits<double>::quiet_NaN();
  }
}

/// `columns`: one a row. What is left of column `at` without the parts along those before it.
void remove_before(Matrix<double>& columns, std::size_t at) {
  double* column = columns.row(at);
  for (std::size_t before = 0; before < at; ++before) {
    const double* other = columns.row(before);
    const double share = dot(column, other, columns.columns);
    for (std::size_t i = 0; i < columns.columns; ++i) column[i] -= share * other[i];
  }
}

}  // namespace

template <class T>
void orthonormalise(Matrix<T>& matrix) {
  Matrix<double> columns(matrix.columns, matrix.rows);
  for (std::size_t i = 0; i < matrix.rows; ++i) {
    for (std::size_t j = 0; j < matrix.columns; ++j) columns.row(j)[i] = matrix.row(i)[j];
  }
  for (std::size_t j = 0; j < matrix.columns; ++j) {
    double* column = columns.row(j);
    scale(column, matrix.rows);
    const double before = std::sqrt(dot(column, column, matrix.rows));
    remove_before(columns, j);
    remove_before(columns, j);
    const double left = std::sqrt(dot(column, column, matrix.rows));
    // What is left of a dependent column is rounding alone. A NaN is not smaller, and stays.
    const bool dependent = left <= 64 * static_cast<double>(std::numeric_limits<T>::epsilon()) * before;
    for (std::size_t i = 0; i < matrix.rows; ++i) column[i] = dependent ? 0 : column[i] / left;
  }
  for (std::size_t i = 0; i < matrix.rows; ++i) {
    for (std::size_t j = 0; j < matrix.columns; ++j) matrix.row(i)[j] = static_cast<T>(columns.row(j)[i]);
  }
}

template void orthonormalise(Matrix<float>&);
template void orthonormalise(Matrix<double>&);

}  // namespace wafervp::compression
