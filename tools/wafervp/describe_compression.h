// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "scenario/scenario.h"
#include "topology/topology.h"
#include "workload/programs.h"

namespace wafervp::cli {

/// What the compression units do with each traffic class, and in which time; empty without units. Throws
/// ScenarioError where a codec and the workload do not fit.
std::string describe_compression(const Scenario& scenario, const Topology& topology,
                                 const Workload& workload);

}  // namespace wafervp::cli
