// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "scenario/reader.h"
#include "workload/programs.h"

namespace wafervp::test {

/// A scenario on the paper's mesh (or `fabric`, a JSON object) with a workload given as JSON.
inline Scenario scenario_of(const std::string& workload, const std::string& fabric = R"({"kind":"mesh2d"})",
                            const std::string& rest = "", std::uint32_t npus = 20) {
  return read_scenario(parse_document(R"({"version":1,"name":"test","wafer":{"npus":)" +
                                          std::to_string(npus) + R"(,"fabric":)" + fabric +
                                          R"(},"workload":)" + workload + rest + "}",
                                      "test.json"));
}

struct Built {
  Topology topology;
  Placement placement;
  Workload workload;
};
inline Built build(const Scenario& scenario) {
  Built built;
  built.topology = build_topology(scenario.wafer);
  built.placement = place(built.topology, scenario.workload.parallelism, scenario.workload.placement);
  built.workload = build_workload(scenario, built.topology, built.placement);
  return built;
}

/// The faults that building the scenario ends with.
inline std::vector<Issue> build_issues(const Scenario& scenario) {
  try {
    build(scenario);
  } catch (const ScenarioError& error) {
    return error.issues();
  }
  return {};
}

/// Commands of one kind (and operation) in a program.
inline std::vector<wvp_command> commands(const RankProgram& program, wvp_command_kind kind) {
  std::vector<wvp_command> found;
  for (const wvp_command& command : program.commands) {
    if (command.kind == kind) found.push_back(command);
  }
  return found;
}
inline std::vector<wvp_command> starts(const RankProgram& program, wvp_operation operation) {
  std::vector<wvp_command> found;
  for (const wvp_command& command : commands(program, WVP_CMD_START)) {
    if (command.op == operation) found.push_back(command);
  }
  return found;
}

}  // namespace wafervp::test
