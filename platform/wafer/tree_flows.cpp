// SPDX-License-Identifier: Apache-2.0
#include "wafer/tree_flows.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace wafervp {

namespace {

std::vector<NpuId> npus_of(const std::vector<NodeId>& nodes) {
  std::vector<NpuId> npus;
  for (const NodeId node : nodes) npus.emplace_back(node.value);
  return npus;
}

}  // namespace

TreeFlows::TreeFlows(const Topology& topology, const std::vector<Communicator>& communicators)
    : topology_(topology), communicators_(communicators) {
  std::uint32_t next = 1;
  for (std::size_t c = 0; c < communicators.size(); ++c) {
    const auto n = static_cast<std::uint32_t>(communicators[c].members.size());
    const bool native =
        n > 1 && communicators[c].in_network && (topology.in_network || communicators[c].io_controllers > 0);
    first_.push_back(native ? next : 0);
    trees_.emplace_back(topology, communicators[c].members);
    if (!native) continue;
    handles_.emplace_back(next, c);
    next += 1 + 2 * n;
  }
}

TreeFlows::Place TreeFlows::place_of(std::uint32_t group) const {
  const auto behind =
      std::upper_bound(handles_.begin(), handles_.end(), group,
                       [](std::uint32_t handle, const auto& entry) { return handle < entry.first; });
  if (behind != handles_.begin()) {
    const auto [first, communicator] = *std::prev(behind);
    const std::vector<NpuId>& members = communicators_[communicator].members;
    const std::uint32_t offset = group - first;
    const auto n = static_cast<std::uint32_t>(members.size());
    const auto member = [&](std::uint32_t index) { return NodeId(members[index].value); };
    if (offset == 0) return {communicator, {TreeKind::kAllReduce, NodeId()}};
    if (offset <= n) return {communicator, {TreeKind::kReduce, member(offset - 1)}};
    if (offset <= 2 * n) return {communicator, {TreeKind::kMulticast, member(offset - 1 - n)}};
  }
  throw std::invalid_argument("there is no in-network flow " + std::to_string(group));
}

TreeFlows::Ends TreeFlows::ends(std::uint32_t group) const {
  const Place place = place_of(group);
  const GroupTrees& trees = trees_[place.communicator];
  return {npus_of(trees.sources(place.tree)), npus_of(trees.sinks(place.tree))};
}

std::string TreeFlows::describe(std::uint32_t group) const {
  const Place place = place_of(group);
  const std::string& name = communicators_[place.communicator].name;
  if (place.tree.kind == TreeKind::kAllReduce) return "all_reduce of " + name;
  const std::string& root = topology_.nodes[place.tree.root.value].name;
  return place.tree.kind == TreeKind::kReduce ? "reduce of " + name + " to " + root
                                              : "multicast in " + name + " from " + root;
}

StageConfig TreeFlows::find(NodeId node, std::uint32_t group, unsigned input) const {
  const Place place = place_of(group);
  // Port 0 of an NPU's router is its accelerator.
  const unsigned shift = node.value < topology_.npus ? 1 : 0;
  const auto& inputs = topology_.inputs[node.value];
  const auto& outputs = topology_.outputs[node.value];
  const bool from_here = shift == 1 && input == 0;
  const TreePart part = trees_[place.communicator].part(
      place.tree, node, from_here ? std::optional<LinkId>() : inputs.at(input - shift));
  const auto port = [&](const std::vector<LinkId>& links, LinkId link) {
    return static_cast<unsigned>(std::find(links.begin(), links.end(), link) - links.begin()) + shift;
  };
  StageConfig stage;
  stage.group = group;
  if (part.from_here) stage.inputs.push_back(0);
  if (part.to_here) stage.outputs.push_back(0);
  for (const LinkId link : part.inputs) stage.inputs.push_back(port(inputs, link));
  for (const LinkId link : part.outputs) stage.outputs.push_back(port(outputs, link));
  return stage;
}

}  // namespace wafervp
