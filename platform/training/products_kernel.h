// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

// For products_*.cpp, each of which is compiled for other vector instructions. Everything is in an anonymous
// namespace and nothing of the standard library is used, so that no code for one processor gets into another
// file's functions.

namespace wafervp::training {

template <class T>
struct Product {
  const T *a, *b;
  T* c;
  T* panel;  ///< depth x kPanelBytes, scratch
  std::size_t rows, columns, depth;
  std::size_t a_row, a_column, b_row, b_column, c_row;  ///< strides, elements
  bool add;
};

constexpr std::size_t kPanelBytes = 64;

void run_baseline(const Product<double>& product);
void run_baseline(const Product<float>& product);
void run_avx2(const Product<double>& product);
void run_avx2(const Product<float>& product);

namespace {

constexpr std::size_t kTileRows = 4;

template <class T, std::size_t kVectorBytes>
struct Vectors {
  typedef T Vector __attribute__((vector_size(kVectorBytes)));
  /// In memory, at any place.
  typedef T Stored __attribute__((vector_size(kVectorBytes), aligned(alignof(T)), may_alias));
  static constexpr std::size_t kLanes = kVectorBytes / sizeof(T);
  static constexpr std::size_t kWidth = 2 * kLanes;  ///< of a tile
};

/// Rows first .. first + kRows - 1 of the columns from `column`, of which `width` are there.
template <class T, std::size_t kVectorBytes, std::size_t kRows>
inline void run_tile(const Product<T>& p, std::size_t first, std::size_t column, std::size_t width) {
  using V = Vectors<T, kVectorBytes>;
  using Vector = typename V::Vector;
  using Stored = typename V::Stored;
  Vector sum[kRows][2];  // side by side
  for (std::size_t row = 0; row < kRows; ++row) sum[row][0] = sum[row][1] = Vector{};
  const T* a = p.a + first * p.a_row;
  const T* panel = p.panel;
  for (std::size_t k = 0; k < p.depth; ++k, a += p.a_column, panel += V::kWidth) {
    const Vector left = reinterpret_cast<const Stored*>(panel)[0];
    const Vector right = reinterpret_cast<const Stored*>(panel)[1];
    for (std::size_t row = 0; row < kRows; ++row) {
      sum[row][0] += a[row * p.a_row] * left;
      sum[row][1] += a[row * p.a_row] * right;
    }
  }
  for (std::size_t row = 0; row < kRows; ++row) {
    T values[V::kWidth];
    reinterpret_cast<Stored*>(values)[0] = sum[row][0];
    reinterpret_cast<Stored*>(values)[1] = sum[row][1];
    T* c = p.c + (first + row) * p.c_row + column;
    if (p.add)
      for (std::size_t j = 0; j < width; ++j) c[j] += values[j];
    else
      for (std::size_t j = 0; j < width; ++j) c[j] = values[j];
  }
}

/// Panel by panel: `kWidth` columns of b side by side, zeros beyond the last one.
template <class T, std::size_t kVectorBytes>
inline void run(const Product<T>& p) {
  constexpr std::size_t kWidth = Vectors<T, kVectorBytes>::kWidth;
  for (std::size_t column = 0; column < p.columns; column += kWidth) {
    const std::size_t width = p.columns - column < kWidth ? p.columns - column : kWidth;
    const T* b = p.b + column * p.b_column;
    for (std::size_t k = 0; k < p.depth; ++k) {
      T* panel = p.panel + k * kWidth;
      for (std::size_t j = 0; j < width; ++j) panel[j] = b[k * p.b_row + j * p.b_column];
      for (std::size_t j = width; j < kWidth; ++j) panel[j] = 0;
    }
    std::size_t row = 0;
    for (; row + kTileRows <= p.rows; row += kTileRows)
      run_tile<T, kVectorBytes, kTileRows>(p, row, column, width);
    for (; row < p.rows; ++row) run_tile<T, kVectorBytes, 1>(p, row, column, width);
  }
}

}  // namespace
}  // namespace wafervp::training
