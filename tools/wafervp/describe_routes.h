// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "scenario/scenario.h"
#include "topology/placement.h"
#include "topology/topology.h"
#include "workload/programs.h"

namespace wafervp::cli {

/// How the switches of a FRED wafer carry the flows of each phase: middle networks, additions and copies, up
/// ports; each conflict with what the four remedies would do; and what the switches' stores of configurations
/// hold. Empty for other fabrics.
std::string describe_fred_routes(const Scenario& scenario, const Topology& topology,
                                 const Placement& placement, const Workload& workload);

}  // namespace wafervp::cli
