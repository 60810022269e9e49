// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "scenario/reader.h"

namespace wafervp {

/// The scenario that a study's `base` names. Throws ScenarioError, like read_document.
Document base_of_study(const Document& study);
/// The study that member `pointer` of a study names, `file` being relative to it; the overrides are the
/// same. Throws ScenarioError.
Document study_beside(const Document& study, const std::string& pointer, const std::string& file);
/// read_scenario after the version has been looked at.
Scenario validate_scenario(const Document& document, std::vector<Issue>* warnings);

}  // namespace wafervp
