// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "topology/topology.h"

namespace wafervp {

/// Links that wait for each other in a circle in the channel-dependency graph (Dally and Seitz, 1987) of
/// `routes`, in order; empty when there is none. A cycle can deadlock only where flows share buffers.
std::vector<LinkId> find_dependency_cycle(const Topology& topology,
                                          const std::vector<std::vector<LinkId>>& routes);
/// The same for the routes between all pairs of NPUs.
std::vector<LinkId> find_dependency_cycle(const Topology& topology);

/// "free of cycles", or the cycle and what it means, for reports. The work grows with the square of the NPUs;
/// beyond 4096 it is not done, and the text says so.
std::string describe_cycles(const Topology& topology);

}  // namespace wafervp
