// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace wafervp {

/// What to write in place of a number in quotes, e.g. for "50GB/s" where bytes/s are expected. Begins
/// with "; ". GB (10^9 bytes), GiB (2^30 bytes) and Gb (10^9 bits) are told apart.
std::string quoted_number_hint(const std::string& text, const std::string& unit);

}  // namespace wafervp
