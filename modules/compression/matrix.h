// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace wafervp::compression {

/// Row-major.
template <class T>
struct Matrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<T> values;

  Matrix() = default;
  Matrix(std::size_t row_count, std::size_t column_count)
      : rows(row_count), columns(column_count), values(row_count * column_count) {}
  T* row(std::size_t index) { return values.data() + index * columns; }
  const T* row(std::size_t index) const { return values.data() + index * columns; }
};

}  // namespace wafervp::compression
