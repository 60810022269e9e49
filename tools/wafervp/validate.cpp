// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>
#include <vector>

#include "errors.h"
#include "options.h"
#include "output.h"
#include "status.h"
#include "topology/placement.h"
#include "topology/topology.h"
#include "workload/programs.h"

namespace wafervp::cli {
namespace {

/// Builds what a run would build before it simulates, so that the faults of all stages come out.
void check_scenario(const Document& document) {
  std::vector<Issue> warnings;
  const Scenario scenario = read_scenario(document, &warnings);
  print_warnings(warnings);
  try {
    const Topology topology = build_topology(scenario.wafer);
    build_workload(scenario, topology,
                   place(topology, scenario.workload.parallelism, scenario.workload.placement));
  } catch (const ScenarioError& error) {
    throw ScenarioError(locate(document, error.issues()));
  }
}

std::string check_file(const std::string& file, const std::vector<Override>& overrides) {
  const Document document = read_document(file, overrides);
  if (!is_study(document)) {
    check_scenario(document);
    return file + ": a scenario, no fault found\n";
  }
  const Study study = read_study(document);
  for (const Variant& variant : study.variants) check_scenario(variant.document);
  for (const Beside& beside : study.beside) {
    for (const Variant& variant : beside.study->variants) check_scenario(variant.document);
  }
  return fmt::format("{}: a study of {} variants, no fault found\n", file, study.variants.size());
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
