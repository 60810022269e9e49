// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "topology/fred_phases.h"
#include "wafer/tree_flows.h"
#include "workload/programs.h"

namespace wafervp {

/// The in-network flows that a workload's programs use, as phases: those of groups that communicate at the
/// same time and of one step of their operation, without those that share an end. Each stream of an I/O
/// controller is a phase of its own.
struct FredUse {
  std::vector<FredPhase> phases;
  /// The flows of each phase by their handles.
  std::vector<std::vector<std::uint32_t>> handles;
  /// The communicator of each flow.
  std::vector<std::vector<std::size_t>> communicators;
};
FredUse fred_use(const Topology& topology, const Workload& workload, const TreeFlows& trees);

}  // namespace wafervp
