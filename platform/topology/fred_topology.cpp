// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "topology/fred_tree.h"
#include "topology/picoseconds.h"
#include "topology/topology_builder.h"

namespace wafervp {
namespace {

/// Switches of each level, from level 1, and their children.
std::vector<FredLevel> levels_of(const FredSpec& fred) {
  std::vector<FredLevel> levels{{0, fred.l1_switches, fred.npus_per_l1}};
  std::vector<std::uint32_t> children = fred.upper_children;
  if (children.empty()) children.push_back(fred.l1_switches);
  std::uint32_t below = fred.l1_switches;
  for (const std::uint32_t count : children) {
    const std::string pointer = "/wafer/fabric/fred/upper_children";
    require(count > 0 && below % count == 0, pointer,
            "expected numbers of children whose product is l1_switches (" + std::to_string(fred.l1_switches) +
                "); " + std::to_string(count) + " does not divide the " + std::to_string(below) +
                " switches of the level below");
    below /= count;
    levels.push_back({0, below, count});
  }
  require(below == 1, "/wafer/fabric/fred/upper_children",
          "expected numbers of children whose product is l1_switches (" + std::to_string(fred.l1_switches) +
              "), so that the last level is one switch; found " + std::to_string(below) + " switches there");
  return levels;
}

/// From a switch of `level` (from 1) up.
std::uint64_t uplink_rate(const FredSpec& fred, const std::vector<FredLevel>& levels, std::size_t level) {
  if (level == 1) return fred.uplink_bytes_per_s;
  if (level - 2 < fred.upper_uplink_bytes_per_s.size()) return fred.upper_uplink_bytes_per_s[level - 2];
  const std::uint64_t below = uplink_rate(fred, levels, level - 1);
  const std::uint64_t children = levels[level - 1].children;
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() / 2;
  return below > most / children ? most : below * children;
}

}  // namespace

Topology build_fred(const WaferSpec& wafer) {
  const FredSpec& fred = wafer.fabric.fred;
  require(std::uint64_t{fred.l1_switches} * fred.npus_per_l1 == wafer.npus, "/wafer/npus",
          "expected l1_switches * npus_per_l1 = " + std::to_string(fred.l1_switches) + " * " +
              std::to_string(fred.npus_per_l1) + " of the fabric, found " + std::to_string(wafer.npus));
  const Time latency = ps_of_ns(fred.link_latency_ns);
  TopologyBuilder builder(wafer);
  Topology& topology = builder.topology();
  topology.columns = fred.npus_per_l1;
  topology.rows = fred.l1_switches;
  topology.in_network = fred.in_network;
  topology.switch_latency_ps = ps_of_ns(fred.switch_latency_ns);
  builder.add_ends(fred.npus_per_l1);
  topology.fred_levels = levels_of(fred);
  for (std::size_t level = 1; level <= topology.fred_levels.size(); ++level) {
    FredLevel& here = topology.fred_levels[level - 1];
    here.first = static_cast<std::uint32_t>(topology.nodes.size());
    const std::string name = "l" + std::to_string(level);
    for (std::uint32_t s = 0; s < here.switches; ++s) {
      if (level == 1) {
        builder.add_node(NodeKind::kFredL1, name + "_" + std::to_string(s), 0, s);
      } else {
        builder.add_node(NodeKind::kFredUpper, here.switches == 1 ? name : name + "_" + std::to_string(s),
                         static_cast<std::uint32_t>(level), s);
      }
    }
  }
  const std::uint32_t first_l1 = topology.fred_levels.front().first;
  for (std::uint32_t i = 0; i < wafer.npus; ++i) {
    const std::uint32_t l1 = first_l1 + i / fred.npus_per_l1;
    builder.add_link(i, l1, fred.npu_bytes_per_s, latency);
    builder.add_link(l1, i, fred.npu_bytes_per_s, latency);
  }
  for (std::uint32_t k = 0; k < wafer.io.controllers; ++k) {
    builder.add_io(k, NodeId{first_l1 + io_place(wafer.io.controllers, fred.l1_switches, k).l1}, true);
  }
  for (std::size_t level = 1; level < topology.fred_levels.size(); ++level) {
    const FredLevel& here = topology.fred_levels[level - 1];
    const FredLevel& above = topology.fred_levels[level];
    const std::uint64_t rate = uplink_rate(fred, topology.fred_levels, level);
    for (std::uint32_t s = 0; s < here.switches; ++s) {
      builder.add_link(here.first + s, above.first + s / above.children, rate, latency);
      builder.add_link(above.first + s / above.children, here.first + s, rate, latency);
    }
  }
  return builder.finish();
}

}  // namespace wafervp
