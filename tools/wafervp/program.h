// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "results/program_info.h"

namespace wafervp::cli {

const ProgramInfo& program();
/// "wafervp 0.1.0".
std::string version_text();

}  // namespace wafervp::cli
