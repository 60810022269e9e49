// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace wafervp {

/// The program that made a result. The same sources give the same text with any compiler and option.
struct ProgramInfo {
  std::string version;  // of the project
  std::string sources;  // hash of the sources that it was built from
};

}  // namespace wafervp
