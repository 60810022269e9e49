// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/half.h"

namespace wafervp {

/// Element types of reductions, numbered as `enum wvp_dtype` of the register map.
enum class Element : std::uint8_t { kFp32 = 0, kFp16 = 1, kBf16 = 2, kInt32 = 3, kFp64 = 4 };

/// Throws std::invalid_argument when `dtype` names no element type.
Element element_of(std::uint8_t dtype);
std::size_t element_bytes(Element element);
const char* element_name(Element element);

/// into[i] = into[i] + from[i] for the elements in `bytes`, the same bits on any machine and at any
/// optimisation level: floats round to nearest even with subnormals kept, and each NaN result is the
/// canonical quiet NaN (the processor's own choice depends on the order of operands). fp16 and bf16 are
/// added in fp32 and rounded once more, which is the correctly rounded sum since 24 >= 2 * 11 + 2.
/// int32 wraps around. The two ranges may be the same, not overlap otherwise; no alignment is needed.
/// Throws std::invalid_argument when `bytes` is not a multiple of the element's size.
void add(Element element, std::byte* into, const std::byte* from, std::size_t bytes);

}  // namespace wafervp
