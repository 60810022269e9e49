// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace wafervp::compression {

/// Matrix products on row-major blocks, T float or double. The order of the sums depends on the sizes alone:
/// not on the processor, its caches, or the alignment of the blocks. The result must not overlap the factors.

/// c (rows x columns) = a (rows x inner) b (inner x columns)
template <class T>
void multiply(std::size_t rows, std::size_t inner, std::size_t columns, const T* a, const T* b, T* c);

/// c (rows x columns) = a (rows x inner) b^T, b: columns x inner
template <class T>
void multiply_transposed(std::size_t rows, std::size_t inner, std::size_t columns, const T* a, const T* b,
                         T* c);

/// c (columns_a x columns_b) = a^T b, a: rows x columns_a, b: rows x columns_b
template <class T>
void transposed_multiply(std::size_t rows, std::size_t columns_a, std::size_t columns_b, const T* a,
                         const T* b, T* c);

}  // namespace wafervp::compression
