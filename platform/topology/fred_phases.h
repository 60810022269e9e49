// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "fred_network/fred_flow.h"
#include "topology/placement.h"

namespace wafervp {

/// Flows that a training step needs at the same time. Their ports are ends of the wafer: NPU n is n.
struct FredPhase {
  std::string name;  ///< "mp", "dp", "pp_forward", "pp_backward"
  std::vector<FredFlow> flows;
};

/// The phases of 3D parallelism on FRED (arXiv 2406.19580): an all-reduce of each MP group; of each DP group;
/// and in either direction a multicast of each stage's first MP member to the whole next stage. Dimensions of
/// one rank have none.
std::vector<FredPhase> fred_phases(const ParallelismSpec& parallelism, const Placement& placement);

/// Rank r on NPU r: MP innermost, then PP, then DP, the paper's placement.
Placement consecutive_placement(const ParallelismSpec& parallelism);

/// All (MP, DP, PP) with a product of `fewest` to `most` ranks, ordered by MP, then DP, then PP.
std::vector<ParallelismSpec> parallelisms(std::uint32_t fewest, std::uint32_t most);

}  // namespace wafervp
