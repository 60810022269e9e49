// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "scenario/scenario.h"
#include "topology/fred_lanes.h"
#include "topology/fred_routes.h"

namespace wafervp {

/// Flows of which at most one passes at a time, at one switch. Where a phase takes turns round by round, each
/// flow has a lane of its own, and a slot in `rounds` of the time of a port, that of its round.
struct FredLane {
  unsigned node = 0;  ///< number of the switch in FredSlice
  FlowSet flows;
  unsigned rounds = 1;
};

struct PlannedPhase {
  FredPhase phase;
  /// How all flows are routed at once, with their conflict where they cannot be. Empty where the phase is one
  /// flow, which always goes.
  FredRoutes at_once;
  bool conflict = false;
  RoundChoice rounds;           ///< one where there is no conflict
  FlowSet out_of_network;       ///< flows that their end points carry (endpoint_ring)
  std::vector<FredLane> lanes;  ///< none where there is no conflict, or a remedy has ended it
  /// Sets of flows that may pass at once, with their routes: one where there are no lanes.
  struct Set {
    FlowSet flows;
    FredRoutes routes;
  };
  std::vector<Set> sets;
  std::vector<std::size_t> set_of;  ///< by flow in the network: the first set with it, whose routes it has
};

/// How a wafer's FRED switches carry the phases of a step.
struct FredPlan {
  FredWafer wafer;  ///< with more middle networks where the remedy is that
  std::vector<PlannedPhase> phases;
  std::vector<std::string> warnings;  ///< a phase each that cannot be routed at once, and what is done
};

/// Routes each phase. `remedy`: for a conflict; to move workers changes the placement before anything is
/// planned (move_workers.h), and what is left after it waits. The result depends on nothing but the
/// arguments. Errors as route().
FredPlan plan_phases(const FredWafer& wafer, const std::vector<FredPhase>& phases, FredRemedy remedy,
                     const FredRouteOptions& options = {});

/// Flows without which the others can be routed at once, few of them; small flows rather than large ones.
FlowSet flows_to_take_out(const FredWafer& wafer, const std::vector<FredFlow>& flows,
                          const FredRouteOptions& options = {});
/// The least m with which all flows can be routed at once; none where no m is enough.
std::optional<unsigned> middles_needed(const FredWafer& wafer, const std::vector<FredFlow>& flows,
                                       const FredRouteOptions& options = {});

}  // namespace wafervp
