// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "topology/fred_plan.h"
#include "topology/topology.h"

namespace wafervp {

/// The switches of a scenario's FRED fabric as they are built, for routing. A fabric of one L1 switch is
/// flat. Throws ScenarioError where the L2 chips do not divide the up ports.
FredWafer fred_wafer_of(const FredSpec& fred, const Topology& topology);

/// As place(). On a FRED fabric whose remedy is to move workers, and where the phases of the parallelism
/// cannot all be routed at once with that placement: another one under which fewer flows wait, if there is.
/// What was done is added to `warnings`.
Placement place_workers(const WaferSpec& wafer, const Topology& topology, const WorkloadSpec& workload,
                        std::vector<std::string>& warnings);

/// Placements that a search for a better one looks at.
inline constexpr std::uint32_t kPlacementsTried = 200;

}  // namespace wafervp
