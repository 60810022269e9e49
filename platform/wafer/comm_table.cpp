// SPDX-License-Identifier: Apache-2.0
#include "wafer/comm_table.h"

#include "workload/spanning_trees.h"

namespace wafervp {

CommTable::CommTable(const std::vector<Communicator>& communicators, const TreeFlows& trees)
    : communicators_(communicators), trees_(trees) {
  for (const Communicator& group : communicators) {
    auto& members = members_.emplace_back();
    for (const NpuId npu : group.members) members.push_back(npu.value);
    auto& links = tree_links_.emplace_back();
    const auto n = static_cast<std::uint32_t>(group.trees.parents.empty() ? 0 : group.members.size());
    for (std::uint32_t i = 0; i < n; ++i) links.push_back(tree_links(group.trees, i));
  }
}

wvp_comm CommTable::comm(std::size_t index, std::uint32_t member) const {
  const Communicator& group = communicators_[index];
  wvp_comm comm{};
  comm.size = static_cast<std::uint32_t>(group.members.size());
  comm.my_index = member;
  comm.members = members_[index].data();
  comm.io_controllers = group.io_controllers;
  comm.dim_x = group.dim_x;
  comm.dim_y = group.dim_y;
  comm.x_first_share = group.x_first_share;
  comm.flows = trees_.first_handle(index);
  comm.ring_rate = group.ring_rate;
  comm.x_rate = group.x_rate;
  comm.y_rate = group.y_rate;
  comm.flow_rate = group.flow_rate;
  comm.hop_latency_ps = group.hop_latency_ps;
  comm.both_rate = group.both_rate;
  comm.tree_rate = group.trees.rate;
  comm.trees = static_cast<std::uint32_t>(group.trees.parents.size());
  comm.tree_depth = group.trees.depth;
  if (comm.trees != 0) comm.tree_links = tree_links_[index][member].data();
  comm.tensor = group.tensor;
  comm.id = static_cast<std::uint16_t>(index);
  return comm;
}

}  // namespace wafervp
