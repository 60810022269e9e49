// SPDX-License-Identifier: Apache-2.0
#include "topology/fred_phases.h"

namespace wafervp {
namespace {

std::vector<unsigned> ports_of(const std::vector<NpuId>& npus) {
  std::vector<unsigned> ports;
  ports.reserve(npus.size());
  for (const NpuId npu : npus) ports.push_back(npu.value);
  return ports;
}

FredPhase all_reduces(const std::string& name, const std::vector<std::vector<NpuId>>& groups) {
  FredPhase phase{name, {}};
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::vector<unsigned> ports = ports_of(groups[g]);
    phase.flows.push_back({name + std::to_string(g), ports, ports});
  }
  return phase;
}

}  // namespace

std::vector<FredPhase> fred_phases(const ParallelismSpec& p, const Placement& placement) {
  std::vector<FredPhase> phases;
  if (p.mp > 1) phases.push_back(all_reduces("mp", groups(p, placement, GroupKind::kMp)));
  if (p.dp > 1) phases.push_back(all_reduces("dp", groups(p, placement, GroupKind::kDp)));
  if (p.pp < 2) return phases;
  FredPhase forward{"pp_forward", {}}, backward{"pp_backward", {}};
  for (const StageTransfer& transfer : stage_transfers(p, placement)) {
    std::vector<unsigned> outputs = ports_of(transfer.chain);
    outputs.erase(outputs.begin());
    FredPhase& phase = transfer.from_stage < transfer.to_stage ? forward : backward;
    phase.flows.push_back({"pp[dp=" + std::to_string(transfer.dp) + "," +
                               std::to_string(transfer.from_stage) + "->" +
                               std::to_string(transfer.to_stage) + "]",
                           {transfer.chain.front().value},
                           std::move(outputs)});
  }
  phases.push_back(std::move(forward));
  phases.push_back(std::move(backward));
  return phases;
}

Placement consecutive_placement(const ParallelismSpec& p) {
  Placement placement;
  for (std::uint32_t rank = 0; rank < p.mp * p.dp * p.pp; ++rank) placement.npu_of_rank.emplace_back(rank);
  return placement;
}

std::vector<ParallelismSpec> parallelisms(std::uint32_t fewest, std::uint32_t most) {
  std::vector<ParallelismSpec> all;
  for (std::uint32_t mp = 1; mp <= most; ++mp) {
    for (std::uint32_t dp = 1; mp * dp <= most; ++dp) {
      for (std::uint32_t pp = 1; mp * dp * pp <= most; ++pp) {
        if (mp * dp * pp >= fewest) all.push_back({mp, dp, pp});
      }
    }
  }
  return all;
}

}  // namespace wafervp
