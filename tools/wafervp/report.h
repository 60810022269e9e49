// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "results/summary.h"

namespace wafervp::cli {

/// The table of one run: time, breakdown, collectives beside their bounds, most loaded links.
std::string scenario_report(const std::string& title, const Results& results, const std::string& out);
/// The table of a study, published figures beside the simulated ones.
std::string study_report(const Summary& summary, const std::string& out);
/// The same with the fit first, and fitted and predicted variants apart.
std::string calibration_report(const Summary& summary);

}  // namespace wafervp::cli
