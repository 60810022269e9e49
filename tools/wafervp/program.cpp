// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include "wafervp_sources.h"  // made by the build, see source_hash.cmake

namespace wafervp::cli {

const ProgramInfo& program() {
  static const ProgramInfo info{WAFERVP_VERSION, WAFERVP_SOURCES};
  return info;
}

std::string version_text() { return "wafervp " + program().version; }

}  // namespace wafervp::cli
