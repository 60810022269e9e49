// SPDX-License-Identifier: Apache-2.0
#include "describe_fred.h"

#include <fmt/format.h>

#include <map>

#include "table.h"

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

}  // namespace

std::string describe_fred(const Topology& topology, const Workload& workload) {
  if (topology.kind != FabricKind::kFred) return "";
  std::string text = fmt::format("\nFRED: {} L1 switches of {} NPUs, {}\n", topology.rows, topology.columns,
                                 topology.in_network ? "sums and copies in the switches"
                                                     : "switches forward only (in_network is false)");
  if (!topology.in_network) return text;
  Table table({"communicator", "members on", "levels", "all-reduce", "reduce", "multicast"});
  table.left(1);
  table.left(2);
  for (const Communicator& comm : workload.communicators) {
    if (comm.members.size() < 2) continue;
    std::map<std::uint32_t, unsigned> on;
    for (const NpuId npu : comm.members) ++on[npu.value / topology.columns];
    // One flow for the sum to all; one a member for the sum to it and for the copy from it.
    const std::string each = std::to_string(comm.members.size());
    table.add({comm.name, members_text(on), on.size() > 1 ? "L1 + L2" : "L1", "1", each, each});
  }
  return text + table.text("  ");
}

}  // namespace wafervp::cli
