// SPDX-License-Identifier: Apache-2.0
#include "wafer/fred_flows.h"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace wafervp {

FredFlows::FredFlows(const Topology& topology, const std::vector<Communicator>& communicators)
    : topology_(topology), communicators_(communicators) {
  std::uint32_t next = 1;
  for (const Communicator& communicator : communicators) {
    const auto n = static_cast<std::uint32_t>(communicator.members.size());
    const bool native = topology.kind == FabricKind::kFred && topology.in_network && n > 1;
    first_.push_back(native ? next : 0);
    if (native) next += 1 + 2 * n;
  }
}

FredFlows::Place FredFlows::place_of(std::uint32_t group) const {
  for (std::size_t c = first_.size(); c-- > 0;) {
    if (first_[c] == 0 || group < first_[c]) continue;
    const std::uint32_t offset = group - first_[c];
    if (offset > 2 * communicators_[c].members.size()) break;
    return {c, offset};
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
  const Ends ends_of_group = ends(group);
  const std::uint32_t per_l1 = topology_.columns;
  const auto l1_of = [&](NpuId npu) { return npu.value / per_l1; };
  std::set<std::uint32_t> source_l1s, sink_l1s;
  for (NpuId npu : ends_of_group.sources) source_l1s.insert(l1_of(npu));
  for (NpuId npu : ends_of_group.sinks) sink_l1s.insert(l1_of(npu));
  const bool local = source_l1s.size() == 1 && source_l1s == sink_l1s;

  StageConfig stage;
  stage.group = group;
  const std::uint32_t first_l1 = topology_.npus;
  if (topology_.nodes[node.value].kind == NodeKind::kFredL2) {
    // A multicast does not come back to the L1 switch that it came from: that one has copied it already.
    const bool multicast = ends_of_group.sources.size() == 1;
    stage.inputs.assign(source_l1s.begin(), source_l1s.end());
    for (std::uint32_t l1 : sink_l1s) {
      if (!(multicast && source_l1s.count(l1) != 0)) stage.outputs.push_back(l1);
    }
    return stage;
  }
  const std::uint32_t here = node.value - first_l1;
  const unsigned uplink = per_l1;  // the ports of the NPUs come first, then the one of L2
  std::vector<unsigned> sources, sinks;
  for (NpuId npu : ends_of_group.sources) {
    if (l1_of(npu) == here) sources.push_back(npu.value % per_l1);
  }
  for (NpuId npu : ends_of_group.sinks) {
    if (l1_of(npu) == here) sinks.push_back(npu.value % per_l1);
  }
  std::sort(sources.begin(), sources.end());
  std::sort(sinks.begin(), sinks.end());
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
  } else if (ends_of_group.sources.size() == 1) {
    stage.outputs = sinks;
    stage.outputs.push_back(uplink);
  } else {
    stage.outputs = {uplink};
  }
  return stage;
}

}  // namespace wafervp
