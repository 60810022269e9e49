// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "scenario/reader.h"

namespace wafervp {

/// The version of the scenario format that this tool reads.
inline constexpr std::uint32_t kScenarioVersion = 1;

/// Throws ScenarioError when the document names a version that this tool does not read: then no other
/// member can be judged. A version that is absent is left to the table.
void check_version(const Document& document);
/// True of members that say something of one file, so that they stand in no patch, grid or option.
inline bool belongs_to_file(const std::string& name) {
  return name == "version" || name == "base" || name == "$schema";
}
/// A value as a message shows it: `string "8"`, `-750`, `an object`.
std::string describe(const Json& value, const std::string& typed = {});

}  // namespace wafervp
