// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "scenario/scenario.h"
#include "topology/topology.h"
#include "workload/programs.h"

namespace wafervp::cli {

/// How the FRED switches are configured for each communicator: the L1 switches that its members hang on,
/// whether it goes through L2, and its in-network flows; and the switches' chips, with area and power where
/// they are known. Empty on other fabrics.
std::string describe_fred(const Scenario& scenario, const Topology& topology, const Workload& workload);

}  // namespace wafervp::cli
