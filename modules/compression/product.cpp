// SPDX-License-Identifier: Apache-2.0
#include "compression/product.h"

#include <Eigen/Core>
#include <algorithm>

namespace wafervp::compression {
namespace {

template <class T>
using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using View = Eigen::Map<RowMajor<T>>;
template <class T>
using ConstView = Eigen::Map<const RowMajor<T>>;

/// Nothing to add up: no element, or zeros.
template <class T>
bool trivial(std::size_t rows, std::size_t inner, std::size_t columns, T* c) {
  if (rows != 0 && inner != 0 && columns != 0) return false;
  std::fill_n(c, rows * columns, T(0));
  return true;
}

Eigen::Index index(std::size_t value) { return static_cast<Eigen::Index>(value); }

}  // namespace

template <class T>
void multiply(std::size_t rows, std::size_t inner, std::size_t columns, const T* a, const T* b, T* c) {
  if (trivial(rows, inner, columns, c)) return;
  View<T>(c, index(rows), index(columns)).noalias() =
      ConstView<T>(a, index(rows), index(inner)) * ConstView<T>(b, index(inner), index(columns));
}

template <class T>
void multiply_transposed(std::size_t rows, std::size_t inner, std::size_t columns, const T* a, const T* b,
                         T* c) {
  if (trivial(rows, inner, columns, c)) return;
  View<T>(c, index(rows), index(columns)).noalias() =
      ConstView<T>(a, index(rows), index(inner)) * ConstView<T>(b, index(columns), index(inner)).transpose();
}

template <class T>
void transposed_multiply(std::size_t rows, std::size_t columns_a, std::size_t columns_b, const T* a,
                         const T* b, T* c) {
  if (trivial(columns_a, rows, columns_b, c)) return;
  View<T>(c, index(columns_a), index(columns_b)).noalias() =
      ConstView<T>(a, index(rows), index(columns_a)).transpose() *
      ConstView<T>(b, index(rows), index(columns_b));
}

template void multiply(std::size_t, std::size_t, std::size_t, const float*, const float*, float*);
template void multiply(std::size_t, std::size_t, std::size_t, const double*, const double*, double*);
template void multiply_transposed(std::size_t, std::size_t, std::size_t, const float*, const float*, float*);
template void multiply_transposed(std::size_t, std::size_t, std::size_t, const double*, const double*,
                                  double*);
template void transposed_multiply(std::size_t, std::size_t, std::size_t, const float*, const float*, float*);
template void transposed_multiply(std::size_t, std::size_t, std::size_t, const double*, const double*,
                                  double*);

}  // namespace wafervp::compression
