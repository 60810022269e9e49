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
  /// Ring edges on the most loaded link, under the fabric's routes, when all groups of one dimension
  /// communicate at the same time: rank-order rings of MP and DP; relay chains of PP (see
  /// StageTransfer), the larger of forward and backward.
  std::array<std::uint32_t, 3> worst_link_rings{};  // MP, PP, DP
};

/// The three dimensions of the parallelism.
enum class GroupKind { kMp, kPp, kDp };

/// The groups of one dimension, each in rank order; groups in the order of their first rank.
std::vector<std::vector<NpuId>> groups(const ParallelismSpec& parallelism, const Placement& placement,
                                       GroupKind kind);

/// One stage's hand-over to the next: the sender (the stage's MP member 0), then all MP members of the
/// receiving stage; an activation goes along this chain.
struct StageTransfer {
  std::uint32_t dp, from_stage, to_stage;
  std::vector<NpuId> chain;
};
/// All hand-overs of neighbouring stages: forward (p to p+1) ones, then backward (p+1 to p) ones.
std::vector<StageTransfer> stage_transfers(const ParallelismSpec& parallelism, const Placement& placement);

/// Places MP * DP * PP ranks. `searched` minimises the most loaded link of MP, DP and PP rings by
/// threshold annealing, bounded by iterations (never by time), from the scenario's seed. A group that
/// covers the whole mesh is left out of the search, since its collective is hierarchical and wants row
/// order. `mp_pp_dp` and `row_major` both put rank r on NPU r, which on the mesh is row order; on other
/// fabrics than the mesh `searched` is the same.
/// Throws ScenarioError when the ranks exceed the wafer or an explicit list is wrong.
Placement place(const Topology& topology, const ParallelismSpec& parallelism, const PlacementSpec& placement);

}  // namespace wafervp
