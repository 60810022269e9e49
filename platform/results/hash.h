// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace wafervp {

/// 64-bit FNV-1a of a text as 16 hexadecimal digits: tells inputs apart, is no protection against malice.
std::string fnv1a64(std::string_view text);

}  // namespace wafervp
