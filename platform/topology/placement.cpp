// SPDX-License-Identifier: Apache-2.0
#include "topology/placement.h"

#include <algorithm>

#include "scenario/errors.h"
#include "topology/placement_search.h"

namespace wafervp {
namespace {

std::uint32_t rank_of(const ParallelismSpec& p, std::uint32_t dp, std::uint32_t pp, std::uint32_t mp) {
  return (dp * p.pp + pp) * p.mp + mp;
}

std::vector<NpuId> in_order(std::uint32_t ranks) {
  std::vector<NpuId> npus(ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) npus[r] = NpuId{r};
  return npus;
}

std::vector<NpuId> explicit_npus(const Topology& topology, const PlacementSpec& spec, std::uint32_t ranks) {
  const std::string pointer = "/workload/placement/npus";
  if (spec.npus.size() != ranks) {
    throw ScenarioError({Issue{"", 0, 0, pointer,
                               "expected one NPU for each of " + std::to_string(ranks) +
                                   " ranks (mp * dp * pp), found " + std::to_string(spec.npus.size())}});
  }
  constexpr std::uint32_t kFree = 0xffffffffu;
  std::vector<std::uint32_t> rank_on(topology.npus, kFree);
  std::vector<Issue> issues;
  std::vector<NpuId> npus;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const std::uint32_t n = spec.npus[r];
    if (n >= topology.npus) {
      issues.push_back(
          {"", 0, 0, pointer + "/" + std::to_string(r),
           "expected an NPU of 0 to " + std::to_string(topology.npus - 1) + ", found " + std::to_string(n)});
    } else if (rank_on[n] != kFree) {
      issues.push_back({"", 0, 0, pointer + "/" + std::to_string(r),
                        "NPU " + std::to_string(n) + " already has rank " + std::to_string(rank_on[n])});
    } else {
      rank_on[n] = r;
    }
    npus.push_back(NpuId{n});
  }
  if (!issues.empty()) throw ScenarioError(std::move(issues));
  return npus;
}

}  // namespace

std::vector<std::vector<NpuId>> groups(const ParallelismSpec& p, const Placement& placement, GroupKind kind) {
  std::vector<std::vector<NpuId>> result;
  const auto add = [&](std::uint32_t size, auto&& rank) {
    std::vector<NpuId> group;
    for (std::uint32_t i = 0; i < size; ++i) group.push_back(placement.npu_of_rank[rank(i)]);
    result.push_back(std::move(group));
  };
  const std::uint32_t outer_dp = kind == GroupKind::kDp ? 1 : p.dp;
  const std::uint32_t outer_pp = kind == GroupKind::kPp ? 1 : p.pp;
  const std::uint32_t outer_mp = kind == GroupKind::kMp ? 1 : p.mp;
  for (std::uint32_t dp = 0; dp < outer_dp; ++dp) {
    for (std::uint32_t pp = 0; pp < outer_pp; ++pp) {
      for (std::uint32_t mp = 0; mp < outer_mp; ++mp) {
        switch (kind) {
          case GroupKind::kMp:
            add(p.mp, [&](std::uint32_t i) { return rank_of(p, dp, pp, i); });
            break;
          case GroupKind::kPp:
            add(p.pp, [&](std::uint32_t i) { return rank_of(p, dp, i, mp); });
            break;
          case GroupKind::kDp:
            add(p.dp, [&](std::uint32_t i) { return rank_of(p, i, pp, mp); });
            break;
        }
      }
    }
  }
  return result;
}

std::vector<StageTransfer> stage_transfers(const ParallelismSpec& p, const Placement& placement) {
  std::vector<StageTransfer> transfers;
  const auto add = [&](std::uint32_t dp, std::uint32_t from, std::uint32_t to) {
    StageTransfer transfer{dp, from, to, {placement.npu_of_rank[rank_of(p, dp, from, 0)]}};
    for (std::uint32_t mp = 0; mp < p.mp; ++mp) {
      transfer.chain.push_back(placement.npu_of_rank[rank_of(p, dp, to, mp)]);
    }
    transfers.push_back(std::move(transfer));
  };
  for (std::uint32_t dp = 0; dp < p.dp; ++dp) {
    for (std::uint32_t pp = 0; pp + 1 < p.pp; ++pp) add(dp, pp, pp + 1);
  }
  for (std::uint32_t dp = 0; dp < p.dp; ++dp) {
    for (std::uint32_t pp = 0; pp + 1 < p.pp; ++pp) add(dp, pp + 1, pp);
  }
  return transfers;
}

Placement place(const Topology& topology, const ParallelismSpec& parallelism, const PlacementSpec& spec) {
  const std::uint64_t ranks = std::uint64_t{parallelism.mp} * parallelism.dp * parallelism.pp;
  if (ranks == 0 || parallelism.mp > topology.npus || parallelism.dp > topology.npus ||
      parallelism.pp > topology.npus || ranks > topology.npus) {
    throw ScenarioError({Issue{"", 0, 0, "/workload/parallelism",
                               "expected mp * dp * pp of 1 to " + std::to_string(topology.npus) +
                                   " (wafer.npus), found " + std::to_string(parallelism.mp) + " * " +
                                   std::to_string(parallelism.dp) + " * " + std::to_string(parallelism.pp)}});
  }
  Placement placement;
  placement.npu_of_rank = spec.kind == PlacementKind::kExplicit
                              ? explicit_npus(topology, spec, static_cast<std::uint32_t>(ranks))
                              : in_order(static_cast<std::uint32_t>(ranks));
  if (spec.kind == PlacementKind::kSearched && topology.kind == FabricKind::kMesh2d && topology.sites == 1) {
    placement.npu_of_rank = search_placement(topology, parallelism, spec.seed, spec.iterations);
  }
  placement.worst_link_rings = worst_link_rings(topology, parallelism, placement);
  return placement;
}

}  // namespace wafervp
