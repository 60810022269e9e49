// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "topology/topology.h"

namespace wafervp {

/// NPU of each rank; rank = (dp * PP + pp) * MP + mp, that is MP innermost, then PP, then DP.
struct Placement {
  std::vector<NpuId> npu_of_rank;
  /// Rings of the placement on the most loaded link, under the fabric's routes and rank-order rings:
  /// MP, PP (next stage, each direction), DP (facts: fred paper, section on placement).
  std::array<std::uint32_t, 3> worst_link_rings{};  // MP, PP, DP
};

/// Places MP * DP * PP ranks. `searched` minimises the most loaded link of MP, DP and PP rings by
/// simulated annealing, bounded by iterations (never by time), from the scenario's seed.
Placement place(const Topology& topology, const ParallelismSpec& parallelism, const PlacementSpec& placement);

}  // namespace wafervp
