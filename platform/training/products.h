// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <type_traits>

#include "compression/matrix.h"

namespace wafervp::training {

using compression::Matrix;

/// Part of a matrix, or its transpose.
template <class T>
struct View {
  T* data;
  std::size_t rows, columns;
  std::size_t row_stride, column_stride;  ///< elements

  View(T* start, std::size_t row_count, std::size_t column_count, std::size_t row_step,
       std::size_t column_step = 1)
      : data(start),
        rows(row_count),
        columns(column_count),
        row_stride(row_step),
        column_stride(column_step) {}
  /// For reading only.
  template <class U, class = std::enable_if_t<std::is_same_v<const U, T>>>
  View(const View<U>& other)  // NOLINT(google-explicit-constructor): as with pointers
      : View(other.data, other.rows, other.columns, other.row_stride, other.column_stride) {}
  View<T> transposed() const { return {data, columns, rows, column_stride, row_stride}; }
};

template <class T>
View<const T> view(const Matrix<T>& matrix) {
  return {matrix.values.data(), matrix.rows, matrix.columns, matrix.columns};
}
template <class T>
View<T> view(Matrix<T>& matrix) {
  return {matrix.values.data(), matrix.rows, matrix.columns, matrix.columns};
}

/// Gives a matrix this shape; what it holds is lost, its memory is used again.
template <class T>
void shape(Matrix<T>& matrix, std::size_t rows, std::size_t columns) {
  matrix.rows = rows;
  matrix.columns = columns;
  matrix.values.resize(rows * columns);
}

enum class Into { kReplace, kAdd };

/// c = a b, or c + a b. Each element is the sum of its products in ascending order, rounded after each
/// multiplication and each addition, so that the bits are the same on each machine, whichever of its vector
/// instructions are used. The columns of c stand side by side. Shapes are the caller's promise.
void multiply(View<const double> a, View<const double> b, View<double> c, Into into);
void multiply(View<const float> a, View<const float> b, View<float> c, Into into);

/// What multiply() is on machines without AVX2; for tests.
void multiply_baseline(View<const double> a, View<const double> b, View<double> c, Into into);
void multiply_baseline(View<const float> a, View<const float> b, View<float> c, Into into);

template <class T>
void multiply(const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& c, Into into = Into::kReplace) {
  multiply(view(a), view(b), view(c), into);
}

}  // namespace wafervp::training
