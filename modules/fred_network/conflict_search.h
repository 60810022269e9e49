// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "fred_network/colouring.h"
#include "fred_network/routing.h"

namespace wafervp {

/// The first two flows that have a port in common.
std::optional<Conflict> find_shared_port(const FredShape& shape, const std::vector<FredFlow>& flows);

/// Names a least set of the flows in `all` that cannot be routed together, and what they share. `all` is one
/// that `colouring` has proved not to be routable.
Conflict explain(FlowColouring& colouring, const FredShape& shape, const std::vector<FredFlow>& flows,
                 const FlowSet& all);

}  // namespace wafervp
