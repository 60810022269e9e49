// SPDX-License-Identifier: Apache-2.0
#include "describe_fred.h"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "table.h"
#include "topology/fred_area.h"
#include "topology/fred_built.h"
#include "topology/fred_tree.h"

namespace wafervp::cli {
namespace {

/// Members on each L1 switch: "l1_0 x3, l1_2 x1".
std::string members_text(const std::map<std::uint32_t, unsigned>& members) {
  std::string text;
  for (const auto& [l1, count] : members) {
    text += fmt::format("{}l1_{} x{}", text.empty() ? "" : ", ", l1, count);
  }
  return text;
}

/// The levels that a group between two L1 switches goes through.
std::string levels_text(const Topology& topology, std::uint32_t first, std::uint32_t last) {
  std::size_t levels = 1;
  for (; first != last; ++levels) {
    first /= topology.fred_levels.at(levels).children;
    last /= topology.fred_levels.at(levels).children;
  }
  return levels == 1 ? "L1" : levels == 2 ? "L1 + L2" : fmt::format("L1 to L{}", levels);
}

std::string optional_text(const std::optional<double>& value, const char* format) {
  return value ? fmt::format(fmt::runtime(format), *value) : "not known";
}

std::string area_text(const FredSpec& fred, const Topology& topology) {
  const FredWafer wafer = fred_wafer_of(fred, topology);
  const FredArea area = area_of(wafer);
  Table table({"chip", "number", "area of one", "area", "power of one", "from"});
  table.left(5);
  for (const FredChipRow& row : area.rows) {
    const std::optional<double> all = row.area_mm2 ? std::optional(row.number * *row.area_mm2) : std::nullopt;
    table.add({name_of(row.shape), std::to_string(row.number), optional_text(row.area_mm2, "{:.0f} mm2"),
               optional_text(all, "{:.0f} mm2"), optional_text(row.power_w, "{:.2f} W"), row.source});
  }
  table.add({"all", std::to_string(area.chips), "", optional_text(area.area_mm2, "{:.0f} mm2"),
             area.power_w ? fmt::format("{:.2f} W in all", *area.power_w) : "not known",
             area.power_w ? "arXiv 2406.19580: both totals are those that it states" : ""});
  std::string text = fmt::format("\nFRED chips, in {} slices\n", fred.slices) + table.text("  ");
  FredWafer cut = wafer;
  cut.l2_chips = 2;
  if (wafer.l2_chips == 1 && wafer.between.empty() && wafer.up_ports % 2 == 0 && area_of(cut).power_w) {
    text +=
        "  the paper cuts each L2 switch of a slice into two chips: --set /wafer/fabric/fred/l2_chips=2\n";
  }
  return text;
}

}  // namespace

std::string describe_fred(const Scenario& scenario, const Topology& topology, const Workload& workload) {
  if (topology.kind != FabricKind::kFred) return "";
  std::string text = fmt::format("\nFRED: {} L1 switches of {} NPUs, {}\n", topology.rows, topology.columns,
                                 topology.in_network ? "sums and copies in the switches"
                                                     : "switches forward only (in_network is false)");
  const std::string chips = area_text(scenario.wafer.fabric.fred, topology);
  if (!topology.in_network) return text + chips;
  const FredTree tree(topology);
  Table table({"communicator", "members on", "levels", "all-reduce", "reduce", "multicast"});
  table.left(1);
  table.left(2);
  for (const Communicator& comm : workload.communicators) {
    if (comm.members.size() < 2) continue;
    std::map<std::uint32_t, unsigned> on;
    for (const NpuId member : comm.members) ++on[tree.l1_of(NodeId(member.value))];
    // One flow for the sum to all; one a member for the sum to it and for the copy from it.
    const std::string each = std::to_string(comm.members.size());
    table.add({comm.name, members_text(on), levels_text(topology, on.begin()->first, on.rbegin()->first), "1",
               each, each});
  }
  return text + table.text("  ") + chips;
}

}  // namespace wafervp::cli
