// SPDX-License-Identifier: Apache-2.0
#include "core/flow_table.h"

#include <stdexcept>
#include <string>

namespace wafervp {

namespace {

constexpr std::size_t kMaxHops = 60'000;  // a longer path is a routing loop

std::uint64_t key_of(std::uint32_t source, std::uint32_t target, std::uint8_t traffic_class, bool group) {
  return (static_cast<std::uint64_t>(source) << 35) | (static_cast<std::uint64_t>(target) << 3) |
         (static_cast<std::uint64_t>(traffic_class & 3u) << 1) | (group ? 1u : 0u);
}

}  // namespace

void FlowTable::set_entry(NpuId npu, FabricNode& entry, unsigned input) {
  if (entries_.size() <= npu.value) entries_.resize(npu.value + 1);
  entries_[npu.value] = {&entry, input};
}

Flow& FlowTable::create(NpuId source, NpuId destination, std::uint32_t group, std::uint8_t traffic_class) {
  Flow& flow = flows_.emplace_back();
  flow.id = FlowId(static_cast<std::uint32_t>(flows_.size() - 1));
  flow.source = source;
  flow.destination = destination;
  flow.group = group;
  flow.traffic_class = traffic_class;
  return flow;
}

Flow& FlowTable::unicast(NpuId source, NpuId destination, std::uint8_t traffic_class) {
  Flow*& slot = index_[key_of(source.value, destination.value, traffic_class, false)];
  if (slot == nullptr) {
    slot = &create(source, destination, 0, traffic_class);
    const Entry& entry = entries_.at(source.value);
    walk(*slot, *entry.node, entry.input);
  }
  return *slot;
}

Flow& FlowTable::into_group(NpuId source, std::uint32_t group, std::uint8_t traffic_class) {
  Flow*& slot = index_[key_of(source.value, group, traffic_class, true)];
  if (slot == nullptr) {
    slot = &create(source, NpuId(), group, traffic_class);
    if (const auto pace = paces_.find(group); pace != paces_.end()) slot->pace = &pace->second;
    const Entry& entry = entries_.at(source.value);
    walk(*slot, *entry.node, entry.input);
  }
  return *slot;
}

Flow& FlowTable::from_stage(FabricNode& node, unsigned output, unsigned input, std::uint32_t group,
                            std::uint8_t traffic_class) {
  Flow& flow = create(NpuId(), NpuId(), group, traffic_class);
  FabricLink& link = node.output_link(output);
  Lane* lane = link.open(flow, 0, input);
  flow.hops.push_back({&link, lane, static_cast<std::uint16_t>(output), static_cast<std::uint16_t>(input)});
  walk(flow, link.target(), link.target_input());
  return flow;
}

Flow& FlowTable::at_stage(std::uint32_t group, std::uint8_t traffic_class) {
  return create(NpuId(), NpuId(), group, traffic_class);
}

void FlowTable::walk(Flow& flow, FabricNode& start, unsigned start_input) {
  FabricNode* node = &start;
  unsigned input = start_input;
  for (;;) {
    const unsigned output = node->route(flow, input);
    if (output == FabricNode::kEndsHere) {
      flow.unlimited_sink = node->consumes(flow);
      break;
    }
    if (flow.hops.size() == kMaxHops) {
      throw std::runtime_error("routing loop: the flow from NPU " + std::to_string(flow.source.value) +
                               " to NPU " + std::to_string(flow.destination.value) + " does not arrive");
    }
    FabricLink& link = node->output_link(output);
    Lane* lane = link.open(flow, static_cast<std::uint16_t>(flow.hops.size()), input);
    flow.hops.push_back({&link, lane, static_cast<std::uint16_t>(output), static_cast<std::uint16_t>(input)});
    node = &link.target();
    input = link.target_input();
  }
}

}  // namespace wafervp
