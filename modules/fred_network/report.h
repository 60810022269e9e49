// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "fred_network/routing.h"

namespace wafervp {

/// Names of a switch's ports for reports; port k is "k" where there is none.
using PortNames = std::vector<std::string>;

/// A line a flow: its ports, its middle network at each level, the depth of its additions and copies.
std::string describe(const std::vector<FredFlow>& flows, const Routing& routing, const PortNames& names = {});

/// Which flows cannot run at the same time, why, and the μswitches where each two of them meet.
std::string describe(const FredShape& shape, const std::vector<FredFlow>& flows, const Conflict& conflict,
                     const PortNames& names = {});

}  // namespace wafervp
