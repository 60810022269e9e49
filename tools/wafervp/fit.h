// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "progress.h"
#include "results/folder.h"
#include "results/summary.h"
#include "scenario/reader.h"

namespace wafervp::cli {

/// Fits that this process has made, by all that they depend on: studies that share one make it once.
using KnownFits = std::map<std::string, CalibrationRow>;

struct FitOptions {
  unsigned jobs = 1;
  std::string log;
  bool progress = false;
  /// Folder of each variant's results. The last evaluation is what the study then runs: its files are
  /// written there and the study finds them done. Empty: nothing is written.
  std::map<std::string, std::string> folders;
  KnownFits* known = nullptr;
};

/// Throws ScenarioError when the study cannot be calibrated so: no such variant, nothing to compare with,
/// a grid, a quantity that is not known, an empty range.
void check_calibration(const Study& study, const Document& document, const Calibration& calibration);

/// The variant with the calibration's patch and the value of its parameter.
Document with_fit(const Document& variant, const Calibration& calibration, const Json& value);

/// Finds the parameter's value at which the variant meets the target, by running the variant and the one
/// it is compared with. What is solved is T_reference - S * T_variant = 0 for the speed-up S wanted, which
/// is linear in a compute time that all share; regula falsi (Illinois), bounded in steps. A fit that fails
/// says why in `message`. False when a stop was asked for.
/// With a folder, the fit is kept in calibration.json and taken from there when all it depends on is equal;
/// `origin` says so
/// (kReplaced: made, and another one was kept there).
enum class FitOrigin { kMade, kReplaced, kKept, kKnown };
bool fit(const Study& study, const Document& document, const Calibration& calibration,
         const FitOptions& options, ResultFolder* folder, CalibrationRow& row, FitOrigin& origin);

}  // namespace wafervp::cli
