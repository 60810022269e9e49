// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scenario/scenario.h"
#include "topology/fred_configurations.h"
#include "topology/fred_plan.h"
#include "wafer/fred_stages.h"
#include "wafer/fred_use.h"

namespace wafervp {

/// What is decided about a FRED wafer's in-network flows when it is built.
struct FredRouting {
  FredUse use;
  FredPlan plan;
  std::optional<FredConfigurations> configurations;  ///< where the switches are structural

  /// Throws ScenarioError where a switch's store of configurations is too small for structural switches.
  FredRouting(const Scenario& scenario, const Topology& topology, const Workload& workload,
              const TreeFlows& trees);
};

/// Of a FRED fabric whose remedy is endpoint_ring: takes groups out of the network whose flows conflict with
/// others, so that their firmware has the end points do it. What was done is added to the workload's
/// warnings.
void relieve(const Scenario& scenario, const Topology& topology, Workload& workload);

/// Phases that cannot be routed at once, and what is done, where a FRED fabric has such; after relieve(),
/// which tells of those that it relieves. Errors as FredRouting.
std::vector<std::string> routing_warnings(const Scenario& scenario, const Topology& topology,
                                          const Workload& workload);

}  // namespace wafervp
