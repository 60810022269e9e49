// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "training/products.h"

namespace wafervp::training {

/// RMSNorm without gain: each row divided by sqrt(mean of its squares + 1e-6).
template <class T>
struct Normalised {
  Matrix<T> values;
  std::vector<T> scale;  ///< of each row: 1 / sqrt(...)
};

template <class T>
void normalise(const Matrix<T>& x, Normalised<T>& result);

/// Adds to `x_gradient` what `gradient`, by the normalised values, is by x.
template <class T>
void normalise_backward(const Matrix<T>& gradient, const Normalised<T>& pass, Matrix<T>& x_gradient);

}  // namespace wafervp::training
