// SPDX-License-Identifier: Apache-2.0
#include "training/normalisation.h"

#include <cmath>

namespace wafervp::training {

template <class T>
void normalise(const Matrix<T>& x, Normalised<T>& result) {
  shape(result.values, x.rows, x.columns);
  result.scale.resize(x.rows);
  for (std::size_t row = 0; row < x.rows; ++row) {
    const T* in = x.row(row);
    T squares = 0;
    for (std::size_t j = 0; j < x.columns; ++j) squares += in[j] * in[j];
    const T scale = 1 / std::sqrt(squares / static_cast<T>(x.columns) + static_cast<T>(1e-6));
    T* out = result.values.row(row);
    for (std::size_t j = 0; j < x.columns; ++j) out[j] = in[j] * scale;
    result.scale[row] = scale;
  }
}

template <class T>
void normalise_backward(const Matrix<T>& gradient, const Normalised<T>& pass, Matrix<T>& x_gradient) {
  for (std::size_t row = 0; row < gradient.rows; ++row) {
    const T* g = gradient.row(row);
    const T* y = pass.values.row(row);
    T along = 0;
    for (std::size_t j = 0; j < gradient.columns; ++j) along += g[j] * y[j];
    along /= static_cast<T>(gradient.columns);
    T* out = x_gradient.row(row);
    for (std::size_t j = 0; j < gradient.columns; ++j) out[j] += pass.scale[row] * (g[j] - y[j] * along);
  }
}

template void normalise(const Matrix<float>&, Normalised<float>&);
template void normalise(const Matrix<double>&, Normalised<double>&);
template void normalise_backward(const Matrix<float>&, const Normalised<float>&, Matrix<float>&);
template void normalise_backward(const Matrix<double>&, const Normalised<double>&, Matrix<double>&);

}  // namespace wafervp::training
