// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fred_network/configuration.h"
#include "fred_network/network.h"

namespace wafervp {

/// Runs values through a configured switch, μswitch by μswitch, from the bits alone. `inputs` by port; an
/// empty one means that nothing comes there. `add(left, right)` gives the sum of two values, and is called
/// once an addition. Gives the values by output port. Throws std::invalid_argument when the number of inputs
/// or of bits is not that of the network, when a field is wrong, or when a μswitch is to add and something
/// comes to one of its inputs only (it would wait for ever). One that is to add and gets nothing serves a
/// flow that sends nothing now.
template <class Value, class Add>
std::vector<std::optional<Value>> evaluate(const FredNetwork& network, const ConfigurationBits& bits,
                                           std::vector<std::optional<Value>> inputs, Add add) {
  const FredShape& shape = network.shape();
  if (inputs.size() != shape.ports || bits.size() != network.configuration_bits()) {
    throw std::invalid_argument(name_of(shape) + ": values or configuration are those of another network");
  }
  std::vector<std::optional<Value>> wires(network.wires().size());
  for (unsigned port = 0; port < shape.ports; ++port) {
    wires[network.whole().inputs[port].value] = std::move(inputs[port]);
  }
  for (const MicroSwitch& part : network.switches()) {
    std::optional<Value> sum;  // a μswitch has one adder
    for (unsigned output = 0; output < part.outputs.size(); ++output) {
      const Drive drive = drive_of(part, shape.middles, bits, output);
      if (drive.count == 0) continue;
      std::optional<Value> value = wires[part.inputs[drive.left].value];
      if (drive.count == 2) {
        const std::optional<Value>& right = wires[part.inputs[drive.right].value];
        if (!value && !right) continue;
        if (!value || !right) {
          throw std::invalid_argument(std::string(name_of(part.kind)) + " " + std::to_string(part.index) +
                                      " in stage " + std::to_string(part.stage) +
                                      " is to add, and nothing comes to input " +
                                      std::to_string(value ? drive.right : drive.left));
        }
        if (!sum) sum = add(*value, *right);
        value = sum;
      }
      wires[part.outputs[output].value] = std::move(value);
    }
  }
  std::vector<std::optional<Value>> outputs;
  for (const WireId wire : network.whole().outputs) outputs.push_back(std::move(wires[wire.value]));
  return outputs;
}

}  // namespace wafervp
