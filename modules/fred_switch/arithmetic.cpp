// SPDX-License-Identifier: Apache-2.0
#include "fred_switch/arithmetic.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "fred_network/evaluate.h"

namespace wafervp {
namespace {

/// The sum is made in place of the left one, which nobody else has.
auto add_in_place(Element element) {
  return [element](const Bytes& left, const Bytes& right) {
    add(element, left->data(), right->data(), left->size());
    return left;
  };
}

std::vector<std::optional<Bytes>> by_port(std::vector<Bytes> inputs, const std::vector<unsigned>& ports,
                                          std::size_t size) {
  std::vector<std::optional<Bytes>> values(size);
  for (std::size_t i = 0; i < inputs.size(); ++i) values[ports[i]] = std::move(inputs[i]);
  return values;
}

}  // namespace

std::vector<Bytes> TreeSum::outputs(std::vector<Bytes> inputs, Element element) const {
  return std::vector<Bytes>(stage_outputs_, port_tree_sum(ports_, std::move(inputs), element));
}

std::vector<Bytes> ConfiguredNetwork::outputs(std::vector<Bytes> inputs, Element element) const {
  const std::vector<std::optional<Bytes>> values =
      evaluate(*network_, bits_, by_port(std::move(inputs), ports_.inputs, network_->shape().ports),
               add_in_place(element));
  std::vector<Bytes> outputs;
  for (const unsigned port : ports_.outputs) {
    if (values[port]) outputs.push_back(*values[port]);
  }
  const auto sent = static_cast<std::size_t>(
      std::count_if(values.begin(), values.end(), [](const auto& value) { return value.has_value(); }));
  if (outputs.size() != ports_.outputs.size() || sent != outputs.size()) {
    throw std::logic_error(name_of(network_->shape()) +
                           ": a configuration brings a flow to other ports than its own");
  }
  // What a lane carries is what each of the ports would get.
  if (stage_outputs_ == 1) outputs.resize(1);
  return outputs;
}

}  // namespace wafervp
