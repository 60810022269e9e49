// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "scenario/reader.h"

namespace wafervp {

/// The scenario that a study's `base` names. Throws ScenarioError, like read_document.
Document base_of_study(const Document& study);
/// read_scenario after the version has been looked at.
Scenario validate_scenario(const Document& document, std::vector<Issue>* warnings);

}  // namespace wafervp
