// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace wafervp {

/// The unit of routing of a FRED switch (arXiv 2406.19580): data are summed over the input ports, and the sum
/// goes to all output ports. Unicast, multicast, reduce and all-reduce are one flow each.
struct FredFlow {
  std::string name;  ///< for reports
  std::vector<unsigned> inputs, outputs;
};

/// Throws std::invalid_argument, naming the flow, when one has no input or no output, or names a port twice
/// or one that is not there. Two flows with a port in common are no error here: they cannot run at the same
/// time.
void check(const std::vector<FredFlow>& flows, unsigned ports);

/// Additions, or copies, one after the other between one of `ports` and the far end of the tree: neighbouring
/// ports 2k and 2k + 1 first, then pairs of pairs.
unsigned tree_depth(std::vector<unsigned> ports);

/// Sum over the entries that are there in the order of the μswitch tree, which depends on the ports only:
/// entries 2k and 2k + 1 first, then pairs of pairs; an entry without a partner passes. `add(left, right)`
/// gives the sum of two values. Nothing where nothing is there.
template <class Value, class Add>
std::optional<Value> tree_sum(std::vector<std::optional<Value>> by_port, Add add) {
  if (by_port.empty()) return std::nullopt;
  for (; by_port.size() > 1; by_port.resize((by_port.size() + 1) / 2)) {
    for (std::size_t left = 0; left < by_port.size(); left += 2) {
      std::optional<Value> sum = std::move(by_port[left]);
      if (left + 1 < by_port.size() && by_port[left + 1]) {
        sum = sum ? std::optional<Value>(add(*sum, *by_port[left + 1])) : std::move(by_port[left + 1]);
      }
      by_port[left / 2] = std::move(sum);
    }
  }
  return std::move(by_port.front());
}

/// What flows mean, without a switch: the value at each of `inputs.size()` output ports, of the values at the
/// input ports. An input of a flow at which there is nothing is left out of its sum.
template <class Value, class Add>
std::vector<std::optional<Value>> defined_outputs(const std::vector<FredFlow>& flows,
                                                  const std::vector<std::optional<Value>>& inputs, Add add) {
  std::vector<std::optional<Value>> outputs(inputs.size());
  for (const FredFlow& flow : flows) {
    std::vector<std::optional<Value>> summed(inputs.size());
    for (const unsigned port : flow.inputs) summed.at(port) = inputs.at(port);
    const std::optional<Value> sum = tree_sum(std::move(summed), add);
    for (const unsigned port : flow.outputs) outputs.at(port) = sum;
  }
  return outputs;
}

}  // namespace wafervp
