// SPDX-License-Identifier: Apache-2.0
#include "wafer/fred_flows.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace wafervp {

FredFlows::FredFlows(const Topology& topology, const std::vector<Communicator>& communicators)
    : topology_(topology), communicators_(communicators) {
  std::uint32_t next = 1;
  for (std::size_t c = 0; c < communicators.size(); ++c) {
    const auto n = static_cast<std::uint32_t>(communicators[c].members.size());
    const bool native = topology.kind == FabricKind::kFred && topology.in_network && n > 1;
    first_.push_back(native ? next : 0);
    shapes_.emplace_back();
    if (!native) continue;
    handles_.emplace_back(next, c);
    next += 1 + 2 * n;
    Shape& shape = shapes_.back();
    shape.members = communicators[c].members;
    std::sort(shape.members.begin(), shape.members.end());
    for (const NpuId npu : shape.members) {
      const std::uint32_t l1 = npu.value / topology.columns;
      if (shape.l1s.empty() || shape.l1s.back() != l1) shape.l1s.push_back(l1);
    }
  }
}

FredFlows::Place FredFlows::place_of(std::uint32_t group) const {
  const auto behind =
      std::upper_bound(handles_.begin(), handles_.end(), group,
                       [](std::uint32_t handle, const auto& entry) { return handle < entry.first; });
  if (behind != handles_.begin()) {
    const auto [first, communicator] = *std::prev(behind);
    const std::uint32_t offset = group - first;
    if (offset <= 2 * communicators_[communicator].members.size()) return {communicator, offset};
  }
  throw std::invalid_argument("there is no in-network flow " + std::to_string(group));
}

FredFlows::Ends FredFlows::ends(std::uint32_t group) const {
  const Place place = place_of(group);
  const std::vector<NpuId>& members = communicators_[place.communicator].members;
  const auto n = static_cast<std::uint32_t>(members.size());
  if (place.offset == 0) return {members, members};
  if (place.offset <= n) return {members, {members[place.offset - 1]}};
  const NpuId root = members[place.offset - 1 - n];
  std::vector<NpuId> others;
  for (NpuId member : members) {
    if (member != root) others.push_back(member);
  }
  return {{root}, others};
}

std::string FredFlows::describe(std::uint32_t group) const {
  const Place place = place_of(group);
  const Communicator& communicator = communicators_[place.communicator];
  const auto n = static_cast<std::uint32_t>(communicator.members.size());
  if (place.offset == 0) return "all_reduce of " + communicator.name;
  if (place.offset <= n) {
    return "reduce of " + communicator.name + " to NPU " +
           std::to_string(communicator.members[place.offset - 1].value);
  }
  return "multicast in " + communicator.name + " from NPU " +
         std::to_string(communicator.members[place.offset - 1 - n].value);
}

StageConfig FredFlows::find(NodeId node, std::uint32_t group, unsigned input) const {
  const Place place = place_of(group);
  const std::vector<NpuId>& members = communicators_[place.communicator].members;
  const Shape& shape = shapes_[place.communicator];
  const auto n = static_cast<std::uint32_t>(members.size());
  const bool reduce = place.offset >= 1 && place.offset <= n;
  const bool multicast = place.offset > n;
  // The member that gets the sum, or whose data are copied; not looked at for an all-reduce.
  const NpuId root = reduce      ? members[place.offset - 1]
                     : multicast ? members[place.offset - 1 - n]
                                 : members.front();
  const std::uint32_t per_l1 = topology_.columns;
  const std::uint32_t root_l1 = root.value / per_l1;

  StageConfig stage;
  stage.group = group;
  if (topology_.nodes[node.value].kind == NodeKind::kFredL2) {
    if (multicast) {
      // It does not come back to the L1 switch that it came from: that one has copied it already.
      stage.inputs = {root_l1};
      for (const std::uint32_t l1 : shape.l1s) {
        if (l1 != root_l1) stage.outputs.push_back(l1);
      }
    } else {
      stage.inputs.assign(shape.l1s.begin(), shape.l1s.end());
      stage.outputs = reduce ? std::vector<unsigned>{root_l1} : stage.inputs;
    }
    return stage;
  }
  const bool local = shape.l1s.size() == 1;
  const std::uint32_t here = node.value - topology_.npus;
  const unsigned uplink = per_l1;  // the ports of the NPUs come first, then the one of L2
  std::vector<unsigned> sources, sinks;
  const NpuId first(here * per_l1), end((here + 1) * per_l1);
  for (auto npu = std::lower_bound(shape.members.begin(), shape.members.end(), first);
       npu != shape.members.end() && *npu < end; ++npu) {
    const unsigned port = npu->value % per_l1;
    if (!multicast || *npu == root) sources.push_back(port);
    if (multicast ? *npu != root : !reduce || *npu == root) sinks.push_back(port);
  }
  if (input == uplink) {
    if (local || sinks.empty()) return {};
    stage.inputs = {uplink};
    stage.outputs = sinks;
    return stage;
  }
  if (std::find(sources.begin(), sources.end(), input) == sources.end()) return {};
  stage.inputs = sources;
  if (local) {
    stage.outputs = sinks;
  } else if (multicast) {
    stage.outputs = sinks;
    stage.outputs.push_back(uplink);
  } else {
    stage.outputs = {uplink};
  }
  return stage;
}

}  // namespace wafervp
