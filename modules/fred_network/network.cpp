// SPDX-License-Identifier: Apache-2.0
#include "fred_network/network.h"

#include <algorithm>
#include <utility>

#include "fred_network/configuration.h"

namespace wafervp {

const char* name_of(MicroSwitchKind kind) {
  switch (kind) {
    case MicroSwitchKind::kReduce:
      return "R";
    case MicroSwitchKind::kDistribute:
      return "D";
    case MicroSwitchKind::kReduceDistribute:
      return "RD";
    case MicroSwitchKind::kDemux:
      return "demux";
    case MicroSwitchKind::kMux:
      return "mux";
  }
  return "";
}

FredNetwork::FredNetwork(const FredShape& shape) : shape_(shape) {
  check(shape);
  const std::vector<WireId> inputs = new_wires(shape.ports);
  const std::vector<WireId> outputs = new_wires(shape.ports);
  for (unsigned port = 0; port < shape.ports; ++port) {
    wires_[inputs[port].value].from.port = port;
    wires_[outputs[port].value].to.port = port;
  }
  build(shape.ports, {}, inputs, outputs);
}

std::vector<WireId> FredNetwork::new_wires(unsigned count) {
  std::vector<WireId> ids;
  for (unsigned i = 0; i < count; ++i) {
    ids.emplace_back(static_cast<std::uint32_t>(wires_.size()));
    wires_.push_back({{MicroSwitchId{}, 0}, {MicroSwitchId{}, 0}});
  }
  return ids;
}

MicroSwitchId FredNetwork::add(MicroSwitchKind kind, SubnetworkId network, unsigned index,
                               std::vector<WireId> inputs, std::vector<WireId> outputs) {
  const MicroSwitchId id{static_cast<std::uint32_t>(switches_.size())};
  for (unsigned port = 0; port < inputs.size(); ++port) wires_[inputs[port].value].to = {id, port};
  for (unsigned port = 0; port < outputs.size(); ++port) wires_[outputs[port].value].from = {id, port};
  const auto depth = static_cast<unsigned>(subnetworks_[network.value].path.size());
  const bool output_side = kind == MicroSwitchKind::kDistribute || kind == MicroSwitchKind::kMux;
  const unsigned stage = output_side ? stages() - 1 - depth : depth;
  const unsigned bits = field_bits(kind, shape_.middles);
  switches_.push_back(
      {kind, network, index, stage, std::move(inputs), std::move(outputs), configuration_bits_, bits});
  configuration_bits_ += bits;
  return id;
}

SubnetworkId FredNetwork::build(unsigned ports, std::vector<unsigned> path, const std::vector<WireId>& inputs,
                                const std::vector<WireId>& outputs) {
  const SubnetworkId id{static_cast<std::uint32_t>(subnetworks_.size())};
  subnetworks_.emplace_back();
  // What is built below moves the list: the entry is filled by copy at the end.
  Subnetwork network;
  network.ports = ports;
  network.path = path;
  network.inputs = inputs;
  network.outputs = outputs;
  subnetworks_.back() = network;
  if (ports == 2) {
    network.innermost = add(MicroSwitchKind::kReduceDistribute, id, 0, inputs, outputs);
    subnetworks_[id.value] = std::move(network);
    return id;
  }
  const unsigned pairs = ports / 2;
  const auto pair = [](const std::vector<WireId>& wires, unsigned k) {
    const std::size_t first = std::size_t{2} * k;
    return std::vector<WireId>{wires[first], wires[first + 1]};
  };
  // Wires to and from port k of middle network j: [j][k].
  std::vector<std::vector<WireId>> to_middle, from_middle;
  for (unsigned j = 0; j < shape_.middles; ++j) {
    to_middle.push_back(new_wires(middle_ports(ports)));
    from_middle.push_back(new_wires(middle_ports(ports)));
  }
  const auto across = [](const std::vector<std::vector<WireId>>& middles, unsigned port) {
    std::vector<WireId> wires;
    wires.reserve(middles.size());
    for (const auto& middle : middles) wires.push_back(middle[port]);
    return wires;
  };
  for (unsigned k = 0; k < pairs; ++k) {
    network.reduce.push_back(add(MicroSwitchKind::kReduce, id, k, pair(inputs, k), across(to_middle, k)));
  }
  const bool odd = ports % 2 == 1;
  if (odd) network.demux = add(MicroSwitchKind::kDemux, id, 0, {inputs.back()}, across(to_middle, pairs));
  for (unsigned j = 0; j < shape_.middles; ++j) {
    path.push_back(j);
    network.middles.push_back(build(middle_ports(ports), path, to_middle[j], from_middle[j]));
    path.pop_back();
  }
  for (unsigned k = 0; k < pairs; ++k) {
    network.distribute.push_back(
        add(MicroSwitchKind::kDistribute, id, k, across(from_middle, k), pair(outputs, k)));
  }
  if (odd) network.mux = add(MicroSwitchKind::kMux, id, 0, across(from_middle, pairs), {outputs.back()});
  subnetworks_[id.value] = std::move(network);
  return id;
}

unsigned FredNetwork::count(MicroSwitchKind kind) const {
  return static_cast<unsigned>(std::count_if(switches_.begin(), switches_.end(),
                                             [kind](const MicroSwitch& s) { return s.kind == kind; }));
}

unsigned FredNetwork::micro_switches() const {
  return count(MicroSwitchKind::kReduce) + count(MicroSwitchKind::kDistribute) +
         count(MicroSwitchKind::kReduceDistribute);
}

}  // namespace wafervp
