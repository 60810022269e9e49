// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "scenario/scenario.h"
#include "topology/placement.h"
#include "topology/topology.h"

namespace wafervp::cli {

/// The switch chips that a FRED wafer is cut into.
struct ChipOptions {
  bool wanted = false;
  unsigned middles = 3;   ///< m of all chips
  unsigned l2_chips = 1;  ///< of a slice
};

/// How the chips of a slice carry the flows of each phase of the parallelism: middle networks, up ports,
/// conflicts and what helps against them. Empty for other fabrics. Throws UsageError for chips that cannot
/// be.
std::string describe_chips(const Topology& topology, const Placement& placement,
                           const ParallelismSpec& parallelism, const ChipOptions& options);

}  // namespace wafervp::cli
