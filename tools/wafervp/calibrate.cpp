// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <nlohmann/json.hpp>
#include <string>

#include "errors.h"
#include "options.h"
#include "output.h"
#include "report.h"
#include "scenario/text.h"
#include "status.h"
#include "study.h"

namespace wafervp::cli {
namespace {

void set_number(const std::string& option, const std::string& text, double& value) {
  if (text.empty()) return;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end) {
    throw UsageError(option + ' ' + quote(text) + ": expected a number");
  }
}

void set_word(const std::string& text, std::string& value) {
  if (!text.empty()) value = text;
}

/// The study's calibration with what the command line has laid over it.
Calibration chosen_calibration(const Study& study, const CalibrateOptions& options) {
  Calibration calibration;
  if (study.calibrate) {
    calibration = *study.calibrate;
  } else {
    for (const auto& [option, text] :
         {std::pair<const char*, const std::string*>{"--parameter", &options.parameter},
          {"--variant", &options.variant},
          {"--target", &options.target},
          {"--low", &options.low},
          {"--high", &options.high}}) {
      if (text->empty()) {
        throw UsageError(options.run.files.front() + " has no section \"calibrate\": " + option +
                         " is needed");
      }
    }
    calibration.quantity = "speedup";
    calibration.patch = Json::object();
  }
  set_word(options.parameter, calibration.parameter);
  set_word(options.variant, calibration.variant);
  set_word(options.quantity, calibration.quantity);
  set_number("--target", options.target, calibration.target);
  set_number("--low", options.low, calibration.low);
  set_number("--high", options.high, calibration.high);
  return calibration;
}

}  // namespace

int calibrate_command(const CalibrateOptions& options) {
  const std::string& file = options.run.files.front();
  const Document document = read_document(file, options.run.overrides);
  if (!is_study(document)) {
    throw UsageError(file + ": expected a study (a file with \"variants\"), found a scenario");
  }
  const Study study = read_study(document);
  StudyRun run;
  run.calibration = chosen_calibration(study, options);
  Summary summary;
  const int status = run_variants(study, document, run, options.run, summary);
  if (status == kInterrupted) {
    complain(study.name + ": interrupted");
  } else if (summary.calibration->fitted_value) {
    print(calibration_report(summary));
  }
  return status;
}

}  // namespace wafervp::cli
