// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "scenario/reader.h"

namespace wafervp {

/// Source of values from the command line.
inline constexpr const char* kCommandLine = "--set";

/// Lays command-line values over a scenario; their origin is "--set". Throws ScenarioError with all
/// faults of pointers and of the values' JSON.
void apply_overrides(Document& document, const std::vector<Override>& overrides);
/// The same check for overrides that are applied later, to each variant of a study.
void check_overrides(const std::vector<Override>& overrides);

}  // namespace wafervp
