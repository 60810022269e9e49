// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "errors.h"
#include "options.h"
#include "output.h"
#include "scenario/text.h"
#include "status.h"
#include "topology/deadlock.h"
#include "topology/fred_built.h"
#include "topology/placement.h"
#include "topology/topology.h"
#include "wafer/compression_plan.h"
#include "wafer/fred_routing.h"
#include "workload/programs.h"

namespace wafervp::cli {
namespace {

/// Builds what a run would build before it simulates, so that the faults of all stages come out.
/// Returns what is to be told of its routes.
/// `title`: of the file, and of the variant; `told`: warnings that have been printed.
std::string check_scenario(const std::string& title, const Document& document, std::set<std::string>& told) {
  std::vector<Issue> warnings;
  const Scenario scenario = read_scenario(document, &warnings);
  for (const Issue& warning : warnings) {
    if (told.insert(warning.format()).second) print_warnings({warning});
  }
  try {
    const Topology topology = build_topology(scenario.wafer);
    std::vector<std::string> wafer;
    const Placement placement = place_workers(scenario.wafer, topology, scenario.workload, wafer);
    Workload workload = build_workload(scenario, topology, placement);
    const auto built = static_cast<std::ptrdiff_t>(workload.warnings.size());
    relieve(scenario, topology, workload);
    CompressionPlan(scenario).check(topology, workload);
    wafer.insert(wafer.end(), workload.warnings.begin() + built, workload.warnings.end());
    const std::vector<std::string> conflicts = routing_warnings(scenario, topology, workload);
    wafer.insert(wafer.end(), conflicts.begin(), conflicts.end());
    for (const std::string& warning : wafer) {
      const std::string line = "warning: " + title + ": " + warning + '\n';
      if (told.insert(line).second) note(line);
    }
    return describe_cycles(topology, scenario.wafer.io.channels);
  } catch (const ScenarioError& error) {
    throw ScenarioError(locate(document, error.issues()));
  }
}

std::string check_file(const std::string& file, const std::vector<Override>& overrides) {
  const Document document = read_document(file, overrides);
  std::set<std::string> told;
  if (!is_study(document)) {
    const std::string routes = check_scenario(file, document, told);
    return file + ": a scenario, no fault found; routes: " + routes + '\n';
  }
  const Study study = read_study(document);
  // Variants by what is to be told of their routes.
  std::map<std::string, std::vector<std::string>> routes;
  for (const Variant& variant : study.variants) {
    routes[check_scenario(file + ", variant " + variant.name, variant.document, told)].push_back(
        variant.name);
  }
  for (const Beside& beside : study.beside) {
    for (const Variant& variant : beside.study->variants)
      check_scenario(file + ", beside it " + variant.name, variant.document, told);
  }
  std::string text =
      fmt::format("{}: a study of {} variants, no fault found; routes: ", file, study.variants.size());
  for (const auto& [routing, names] : routes) {
    if (routes.size() > 1) text += "\n  " + join_words(names, 5) + ": ";
    text += routing;
  }
  return text + '\n';
}

}  // namespace

int validate_command(const std::vector<std::string>& files, const std::vector<Override>& overrides) {
  std::vector<Issue> issues;
  std::string text;
  for (const std::string& file : files) {
    try {
      text += check_file(file, overrides);
    } catch (const ScenarioError& error) {
      issues.insert(issues.end(), error.issues().begin(), error.issues().end());
    }
  }
  if (!issues.empty()) throw ScenarioError(std::move(issues));
  print(text);
  return kOk;
}

}  // namespace wafervp::cli
