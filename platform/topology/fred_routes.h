// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fred_network/rounds.h"
#include "topology/fred_phases.h"
#include "topology/fred_wafer.h"
#include "topology/up_ports.h"

namespace wafervp {

struct FredRouteOptions {
  std::string up_ports = "searched";  ///< a policy of up_port_policy_names()
  RoutingOptions routing;
};

/// How the chips of a slice carry flows; all slices are configured alike.
struct FredRoutes {
  RoutingStatus status;
  std::vector<Crossing> crossings;
  std::optional<UpPorts> up_ports;  ///< none: the flows find no room, see `problem`
  std::string problem;
  /// A least set of flows for which the policy finds no up ports; not for `in_order`, and where names are
  /// asked for.
  std::vector<std::size_t> without_room;
  std::uint64_t tried = 0;        ///< assignments of up ports
  bool no_up_ports_help = false;  ///< whatever the up ports are; proved (UpPortChoice::proved)
  std::vector<ChipFlows> parts;   ///< by chip; empty without up ports
  std::vector<Routing> routings;  ///< by chip; empty without up ports
};

/// Routes all flows at the same time. Their ports are ends of the wafer (place_of). The result depends on
/// nothing but the arguments. Throws std::invalid_argument as check() of wafer and flows, and for a policy
/// that is not there.
FredRoutes route(const FredWafer& wafer, const std::vector<FredFlow>& flows,
                 const FredRouteOptions& options = {});

/// For fewest_rounds() of a wafer's flows.
RoundBudget round_budget(const FredWafer& wafer);

/// kConflict only where it is proved that the flows cannot be routed at once: not where other up ports might
/// do.
RoutingStatus proved_status(const FredRoutes& routes);

/// Sets of flows that can be routed, one set after the other: the fewest that fewest_rounds() finds.
RoundChoice serialise(const FredWafer& wafer, const std::vector<FredFlow>& flows,
                      const FredRouteOptions& options = {});

/// What an architect needs to know: each chip that carries flows with its routes, or its conflict, by the
/// names of its ports; or the flows that find no up ports. `routes` are those of `flows`.
std::string describe(const FredWafer& wafer, const std::vector<FredFlow>& flows, const FredRoutes& routes);

/// The same for what cannot be routed only: the chips with a conflict, or the flows that find no up ports.
std::string describe_conflict(const FredWafer& wafer, const std::vector<FredFlow>& flows,
                              const FredRoutes& routes);

/// A phase of a parallelism that cannot be routed at once.
struct PhaseConflict {
  ParallelismSpec parallelism;
  FredPhase phase;
  FredRoutes routes;
};
/// Routes each phase of each parallelism, with consecutive placement.
struct RouteSurvey {
  unsigned phases = 0;
  std::vector<PhaseConflict> conflicts;
};
RouteSurvey survey(const FredWafer& wafer, const std::vector<ParallelismSpec>& parallelisms,
                   const FredRouteOptions& options = {});

}  // namespace wafervp
