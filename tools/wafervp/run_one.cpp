// SPDX-License-Identifier: Apache-2.0
#include "run_one.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "errors.h"
#include "hooks.h"
#include "output.h"
#include "program.h"
#include "report.h"
#include "results/result_files.h"
#include "run/log.h"
#include "signals.h"
#include "status.h"
#include "variant.h"

namespace wafervp::cli {
namespace {

/// A warning of a run, "POINTER: text", with file and line.
Issue located(const Document& document, const std::string& warning) {
  const std::size_t colon = warning.find(": ");
  if (warning.empty() || warning[0] != '/' || colon == std::string::npos)
    return make_issue(document, "", warning);
  return make_issue(document, warning.substr(0, colon), warning.substr(colon + 2));
}

/// The reader's warnings go before those of the run, as the run states them: without file and line.
void add_warnings(Results& results, const std::vector<Issue>& read) {
  std::vector<std::string> all;
  for (const Issue& issue : read) all.push_back(issue.pointer + ": " + issue.text);
  for (const std::string& warning : results.warnings) {
    if (std::find(all.begin(), all.end(), warning) == all.end()) all.push_back(warning);
  }
  results.warnings = std::move(all);
}

/// A name that no line of the log has is a slip; in a study it may be one of another variant.
void check_log_name(const Scenario& scenario, const RunOptions& options) {
  RunHooks hooks;
  parse_log(options.log, hooks);
  const std::string wrong = unknown_log_name(scenario, hooks.log_filter);
  if (wrong.empty()) return;
  if (!options.worker) throw UsageError("--log " + options.log + ": " + wrong);
  note("--log " + options.log + ": " + wrong + '\n');
}

ProgressTo progress_to(const RunOptions& options) {
  if (options.report_progress) return ProgressTo::kParent;
  return options.quiet || options.worker ? ProgressTo::kNobody : ProgressTo::kTerminal;
}

}  // namespace

ResultFolder& open_folder(std::unique_ptr<ResultFolder>& folder, const std::string& path) {
  try {
    folder = std::make_unique<ResultFolder>(path);
  } catch (const FileError& error) {
    if (error.is_resource()) throw;
    throw UsageError(std::string("--out: ") + error.what());
  }
  return *folder;
}

int run_one(const Document& document, const std::string& title, const RunOptions& options,
            const std::string& out) {
  std::vector<Issue> read_warnings;
  const Scenario scenario = read_scenario(document, &read_warnings);
  const Json effective = effective_json(scenario);
  std::unique_ptr<ResultFolder> folder;
  if (!out.empty()) open_folder(folder, out);

  Results results;
  try {
    check_log_name(scenario, options);
    RunWatch watch(title, scenario.limits.wall_s, progress_to(options), options.log);
    results = run_scenario(scenario, watch.hooks());
  } catch (const ScenarioError& error) {
    if (!options.worker) throw ScenarioError(locate(document, error.issues()));
    print(worker_text(error.issues()));
    return kBadInput;
  }
  if (results.status == "interrupted") {
    // What has been trained so far is worth having; else a part of a run is of no use.
    const bool usable = folder && results.training && !results.training->curve.empty();
    if (usable) write_results(*folder, results, scenario, effective, program());
    if (!options.worker) {
      complain(title + ": interrupted, " +
               (usable ? fmt::format("the losses of {} of {} steps are in {}", results.training->curve.size(),
                                     results.training->steps, out)
                       : std::string("no results were written")));
    }
    return kInterrupted;
  }
  add_warnings(results, read_warnings);
  if (folder) write_results(*folder, results, scenario, effective, program());
  if (options.worker) {
    print(worker_text(results));
    return exit_status(results);
  }
  std::vector<Issue> warnings;
  for (const std::string& warning : results.warnings) warnings.push_back(located(document, warning));
  print_warnings(warnings);
  if (!results.message.empty()) complain(title + ": " + results.status + ": " + results.message);
  if (!options.quiet) print(scenario_report(title, results, out));
  return exit_status(results);
}

}  // namespace wafervp::cli
