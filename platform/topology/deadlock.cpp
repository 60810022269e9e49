// SPDX-License-Identifier: Apache-2.0
#include "topology/deadlock.h"

#include "scenario/errors.h"

namespace wafervp {

std::string describe_cycles(const Topology& topology, IoChannels io_channels) {
  constexpr std::uint32_t kMostNpus = 4096;
  if (topology.npus > kMostNpus) {
    return "cycles are not looked for beyond " + std::to_string(kMostNpus) + " NPUs";
  }
  const std::vector<LinkChannel> cycle = dependencies_of(topology, io_channels).find_cycle();
  if (!cycle.empty()) {
    return "a cycle of " + std::to_string(cycle.size()) +
           " channels that wait for the next: " + cycle_text(topology, cycle);
  }
  const bool dateline = topology.kind == FabricKind::kRing && topology.npus_per_site() > 3;
  return dateline
             ? "free of cycles, with a second channel for what has passed between the last NPU and the first"
             : "free of cycles";
}

void refuse_deadlock(const Topology& topology, const WaferSpec& wafer) {
  if (wafer.io.channels != IoChannels::kOne || topology.kind != FabricKind::kMesh2d || topology.io.empty())
    return;
  const std::vector<LinkChannel> cycle = dependencies_of(topology, wafer.io.channels).find_cycle();
  if (cycle.empty()) return;
  throw ScenarioError(
      {Issue{"", 0, 0, "/wafer/io/channels",
             "one channel for all I/O trees can deadlock: " + std::to_string(cycle.size()) +
                 " links wait for each other in a circle, " + cycle_text(topology, cycle) +
                 "; per_class keeps row-first and column-first trees, loads and stores apart"}});
}

}  // namespace wafervp
