// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compression/matrix.h"

namespace wafervp::compression {

/// Makes the columns orthonormal in place, from left to right (modified Gram-Schmidt, twice for full
/// accuracy). A column that lies in the span of those before it, or is zero, becomes zero. NaN and infinity
/// make NaN.
template <class T>
void orthonormalise(Matrix<T>& matrix);

}  // namespace wafervp::compression
