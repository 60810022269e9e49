// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "results/program_info.h"
#include "results/results.h"

namespace wafervp {

/// What one run of a variant gave.
struct Outcome {
  std::string status;  // as in Results, or bad_input, crashed
  std::string message;
  int exit_status = 0;
  Time time_ps = 0;  // 0 where the run did not finish
  Breakdown breakdown;
  std::optional<double> speedup;     // time of compare_to / own time
  std::optional<double> final_loss;  // of kind training
  std::uint64_t payload_bytes = 0;   // of all links
  std::vector<CompressionClassResult> compression_classes;
  std::optional<GradientSumError> gradient_sum;  // of kind training with replicas
  std::string scenario_hash;

  bool finished() const { return status == "ok" || status == "check_failed"; }
};
struct PublishedRow {
  std::string quantity;
  double value = 0;
  std::string source;
  std::optional<double> simulated;
  std::string note{};  // what to keep in mind with it
  std::optional<double> difference() const {
    if (!simulated) return std::nullopt;
    return *simulated - value;
  }
};
/// What a variant's figures are in a calibrated study.
enum class Role { kNone, kReference, kFitted, kPredicted };
const char* role_name(Role role);  ///< "", "reference", ...

struct VariantRow {
  std::string name, compare_to;  // compare_to: the variant whose time is the speed-up's numerator, or empty
  Role role = Role::kNone;
  Outcome outcome;
  std::vector<PublishedRow> published;
  std::optional<Outcome> uncalibrated;  // the variant as the study has it
};
struct CalibrationRow {
  std::string parameter, variant, quantity;
  double target = 0;
  std::optional<Json> fitted_value;  // absent when the fit failed
  std::optional<double> reached;     // the quantity at the fitted value
  std::string message;               // why the fit failed
  unsigned evaluations = 0;
};
/// A figure of another study.
struct BesideRow {
  std::string label, study;  // what is different there; the study's name
  VariantRow row;
  std::optional<CalibrationRow> calibration;  // of that study
};
struct Summary {
  std::string name, comment, compare_to;
  std::vector<VariantRow> variants;
  std::optional<CalibrationRow> calibration;
  std::vector<BesideRow> beside;
};

/// Fills in speed-ups over each row's `compare_to` and the simulated values beside the published ones.
void compare_variants(Summary& summary);

Json summary_json(const Summary& summary, const ProgramInfo& program);
/// One line a variant; published figures have columns of their own for each quantity that the study has.
std::string summary_csv(const Summary& summary);

}  // namespace wafervp
