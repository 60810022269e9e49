// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "options.h"
#include "results/summary.h"

namespace wafervp::cli {

struct StudyRun {
  std::optional<Calibration> calibration;
  bool with_uncalibrated = false;  // with a calibration: run the variants as the study has them too
  bool with_beside = false;        // the figures of other studies too
  std::string out;                 // folder of the results; empty: none are written
};

/// Runs all variants as children, `options.jobs` at a time; those whose results are in the folder already
/// are taken from there. Returns the exit status; `summary` is complete unless it is kInterrupted.
int run_variants(const Study& study, const Document& document, const StudyRun& run, const RunOptions& options,
                 Summary& summary);

/// `wafervp run` of a study: variants, summary files, table under `title`.
int run_study(const Document& document, const std::string& title, const RunOptions& options,
              const std::string& out);

}  // namespace wafervp::cli
