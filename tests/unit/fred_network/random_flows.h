// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "fred_network/fred_flow.h"
#include "fred_network/shape.h"

namespace wafervp::test {

/// Up to `most` flows with disjoint random input and output ports; half of those sets leave ports free.
std::vector<FredFlow> random_flows(std::mt19937& random, unsigned ports, unsigned most);

/// One unicast a port, to the ports in a random order.
std::vector<FredFlow> random_permutation(std::mt19937& random, unsigned ports);

/// Whether the flows can be routed at the same time, by trying each assignment of middle networks (a flow
/// stays in one at each level, and each wire carries one flow): no graph, no pruning.
bool routable_by_trying_all(const FredShape& shape, const std::vector<FredFlow>& flows);

}  // namespace wafervp::test
