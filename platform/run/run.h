// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "results/results.h"
#include "scenario/scenario.h"

namespace wafervp {

struct Progress {
  Time now_ps = 0;
  double share = 0;  // of the commands of all ranks that are done
  std::uint64_t events = 0;
  const TrainingResult* training = nullptr;  // of kind training: the steps so far
};
struct RunHooks {
  /// Called a few times a second of wall time; returning false ends the run as interrupted.
  std::function<bool(const Progress&)> progress;
  /// True when a state report was asked for (SIGUSR1); the report goes to `report`.
  std::function<bool()> state_wanted;
  std::function<void(const std::string&)> report;
  /// Log lines, already filtered by level.
  std::function<void(const std::string&)> log;
  int log_level = 0;       // 0 off, 1 error, 2 warning, 3 info, 4 debug, 5 trace
  std::string log_filter;  // empty, or module|rank|flow
};

/// The way of the data: Scenario -> Topology, Placement, Workload -> Wafer -> run -> Results. One run a
/// process (SystemC elaborates once). Throws ScenarioError for a workload that cannot be built; every
/// other outcome is in Results.status.
Results run_scenario(const Scenario& scenario, const RunHooks& hooks);

/// 0 ok, 1 check_failed, 3 deadlock or time_limit, 130 interrupted, 4 error.
int exit_status(const Results& results);

}  // namespace wafervp
