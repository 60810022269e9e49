// SPDX-License-Identifier: Apache-2.0
#include "wafer/fred_stages.h"

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "fred_switch/arithmetic.h"

namespace wafervp {

FredStages::FredStages(const Topology& topology, const TreeFlows& trees, const FredUse& use,
                       const FredPlan& plan, const FredConfigurations* configurations)
    : topology_(topology), trees_(trees), plan_(plan), configurations_(configurations), slice_(plan.wafer) {
  for (std::size_t p = 0; p < plan.phases.size(); ++p) {
    const PlannedPhase& phase = plan.phases[p];
    for (std::size_t f = 0; f < phase.phase.flows.size(); ++f) {
      Flow flow{p, f, phase.set_of[f], 0, std::nullopt, std::nullopt, 0};
      const PlannedPhase::Set& set = phase.sets[flow.set];
      const auto at = std::lower_bound(set.flows.begin(), set.flows.end(), f);
      if (at == set.flows.end() || *at != f) continue;  // goes between its end points
      flow.in_set = static_cast<std::size_t>(at - set.flows.begin());
      for (std::size_t c = 0; c < set.routes.crossings.size(); ++c) {
        if (set.routes.crossings[c].flow == flow.in_set) flow.crossing = c;
      }
      flows_.emplace(use.handles[p][f], flow);
    }
    for (const FredLane& lane : phase.lanes) {
      std::vector<unsigned>& here = lanes_[lane.node];
      const auto number = static_cast<unsigned>(here.size());
      here.push_back(lane.rounds);
      for (const std::size_t f : lane.flows) {
        Flow& flow = flows_.at(use.handles[p][f]);
        flow.lane_node = lane.node;
        flow.lane = number;
      }
    }
  }
}

unsigned FredStages::ports(NodeId node) const {
  return static_cast<unsigned>(topology_.inputs[node.value].size());
}

const std::vector<unsigned>& FredStages::lanes(NodeId node) const {
  static const std::vector<unsigned> none;
  const auto found = lanes_.find(node.value - topology_.ends());
  return found == lanes_.end() ? none : found->second;
}

/// A flow passes its lane once: on its way up, or where it turns round; where it only comes down, there.
bool FredStages::waits(const Flow& flow, unsigned at, NodeId node, std::uint32_t group,
                       const StageConfig& stage) const {
  if (flow.lane_node != at) return false;
  for (unsigned input = 0; input < ports(node); ++input) {
    const StageConfig first = trees_.find(node, group, input);
    if (!first.inputs.empty()) return first.inputs == stage.inputs;
  }
  return false;
}

unsigned FredStages::network_port(const Flow& flow, unsigned at, unsigned port, bool input,
                                  std::size_t& chip) const {
  const FredNode& here = slice_[at];
  const PlannedPhase::Set& set = plan_.phases[flow.phase].sets[flow.set];
  const auto up_port = [&](unsigned node, bool upwards) {
    const UpPorts& ports = *set.routes.up_ports;
    return (upwards ? ports.up : ports.down)[flow.crossing.value()][node];
  };
  const unsigned below = here.level == 1 ? here.ends : here.children;
  if (port == below) return slice_.own_up_port(at, up_port(at, !input));
  if (here.level == 1) return port;
  const unsigned child = here.first_child + port;
  const unsigned up = up_port(child, input);
  chip = at + slice_.chip_at_parent(child, up);
  return slice_.port_at_parent(child, up);
}

FredStages::Ports FredStages::network_ports(const Flow& flow, unsigned at, const StageConfig& stage) const {
  Ports ports{at, {}, {}};
  for (const unsigned port : stage.inputs)
    ports.inputs.push_back(network_port(flow, at, port, true, ports.chip));
  for (const unsigned port : stage.outputs)
    ports.outputs.push_back(network_port(flow, at, port, false, ports.chip));
  return ports;
}

StageConfig FredStages::find(NodeId node, std::uint32_t group, unsigned input) const {
  const auto found = flows_.find(group);
  if (found == flows_.end()) {
    throw std::logic_error(trees_.describe(group) + " is used and has not been planned");
  }
  const Flow& flow = found->second;
  const unsigned at = node.value - topology_.ends();
  const unsigned lane_port = ports(node) + flow.lane;
  if (input >= ports(node)) {
    // Out of the lane, to where the flow goes.
    for (unsigned real = 0; real < ports(node); ++real) {
      StageConfig stage = trees_.find(node, group, real);
      if (stage.inputs.empty()) continue;
      stage.inputs = {lane_port};
      stage.takes_latency = false;  // has been taken on the way in
      return stage;
    }
    return {};
  }
  StageConfig stage = trees_.find(node, group, input);
  if (stage.inputs.empty()) return stage;
  Ports ports = network_ports(flow, at, stage);
  if (waits(flow, at, node, group, stage)) stage.outputs = {lane_port};
  NetworkPorts places{std::move(ports.inputs), std::move(ports.outputs)};
  if (configurations_ == nullptr) {
    if (stage.inputs.size() > 1)
      stage.arithmetic = std::make_shared<const TreeSum>(std::move(places.inputs), stage.outputs.size());
    return stage;
  }
  const std::optional<std::size_t>& entry = configurations_->phases[flow.phase].entries[flow.set][ports.chip];
  const FredShape& shape = configurations_->chips[ports.chip].shape;
  stage.arithmetic = std::make_shared<const ConfiguredNetwork>(
      configurations_->networks.at(shape), configurations_->stores[ports.chip][entry.value()],
      std::move(places), stage.outputs.size());
  return stage;
}

}  // namespace wafervp
