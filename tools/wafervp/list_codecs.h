// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace wafervp::cli {

/// All codecs with their parameters, as `wafervp list codecs` prints them.
std::string codecs_text();

}  // namespace wafervp::cli
