// SPDX-License-Identifier: Apache-2.0
#include "topology/fred_built.h"

#include <algorithm>
#include <stdexcept>

#include "scenario/errors.h"
#include "topology/move_workers.h"

namespace wafervp {
namespace {

/// Rate from a switch up, one direction.
std::uint64_t uplink_rate(const Topology& topology, std::uint32_t node) {
  return topology.link(topology.outputs[node].back()).bytes_per_s;
}

std::size_t waiting_flows(const FredWafer& wafer, const std::vector<FredPhase>& phases) {
  std::size_t waiting = 0;
  for (const FredPhase& phase : phases) {
    if (phase.flows.size() < 2) continue;
    const RoundChoice choice = serialise(wafer, phase.flows);
    waiting += phase.flows.size() - choice.rounds.front().size();
  }
  return waiting;
}

}  // namespace

FredWafer fred_wafer_of(const FredSpec& fred, const Topology& topology) {
  FredWafer wafer;
  wafer.middles = fred.middles;
  wafer.slices = fred.slices;
  wafer.l1s.assign(fred.l1_switches, FredL1{fred.npus_per_l1, 0});
  for (const IoSite& io : topology.io) ++wafer.l1s[io.at.value - topology.ends()].io_controllers;
  if (fred.l1_switches == 1) return wafer;
  wafer.l2_chips = fred.l2_chips;
  wafer.up_ports = fred.up_ports != 0 ? fred.up_ports : fred.npus_per_l1;
  // Above L1 as many as carry what goes up, each as fast as those below.
  unsigned up_ports = wafer.up_ports;
  for (std::size_t level = 1; level + 1 < topology.fred_levels.size(); ++level) {
    const auto& below = topology.fred_levels[level - 1];
    const auto& here = topology.fred_levels[level];
    const std::uint64_t port = std::max<std::uint64_t>(uplink_rate(topology, below.first) / up_ports, 1);
    const std::uint64_t needed = (uplink_rate(topology, here.first) + port - 1) / port;
    up_ports =
        static_cast<unsigned>(std::min<std::uint64_t>(needed, std::uint64_t{here.children} * up_ports));
    wafer.between.push_back({here.switches, up_ports});
  }
  if (up_ports % wafer.l2_chips != 0) {
    throw ScenarioError({Issue{"", 0, 0, "/wafer/fabric/fred/l2_chips",
                               "found " + std::to_string(wafer.l2_chips) + "; expected a divisor of the " +
                                   std::to_string(up_ports) + " up ports of each switch below"}});
  }
  check(wafer);
  return wafer;
}

Placement place_workers(const WaferSpec& spec, const Topology& topology, const WorkloadSpec& workload,
                        std::vector<std::string>& warnings) {
  Placement placement = place(topology, workload.parallelism, workload.placement);
  if (topology.kind != FabricKind::kFred || !topology.in_network ||
      spec.fabric.fred.remedy != FredRemedy::kMoveWorkers) {
    return placement;
  }
  const FredWafer wafer = fred_wafer_of(spec.fabric.fred, topology);
  const std::size_t before = waiting_flows(wafer, fred_phases(workload.parallelism, placement));
  if (before == 0) return placement;
  const MovedWorkers moved =
      move_workers(wafer, workload.parallelism, kPlacementsTried, workload.placement.seed);
  const bool better = moved.waiting < before;
  warnings.push_back(
      "/workload/placement: with this placement " + std::to_string(before) +
      " flows of the parallelism have to wait for others; " +
      (better ? "workers are moved to another one, with which " +
                    (moved.waiting == 0 ? std::string("none") : std::to_string(moved.waiting)) + " has to"
              : "none of " + std::to_string(moved.tried) + " others is better") +
      " (remedy move_workers)");
  if (better) placement.npu_of_rank = moved.placement.npu_of_rank;
  return placement;
}

}  // namespace wafervp
