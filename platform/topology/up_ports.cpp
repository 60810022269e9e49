// SPDX-License-Identifier: Apache-2.0
#include "topology/up_ports.h"

#include <stdexcept>

#include "topology/fred_slice.h"
#include "topology/up_port_policies.h"

namespace wafervp {
std::vector<std::string> up_port_policy_names() { return {"in_order", "searched", "searched_apart"}; }

std::unique_ptr<UpPortPolicy> make_up_port_policy(const std::string& name) {
  if (name == "in_order") return std::make_unique<InOrderUpPorts>();
  if (name == "searched") return std::make_unique<SearchedUpPorts>(Directions::kTogether);
  if (name == "searched_apart") return std::make_unique<SearchedUpPorts>(Directions::kApart);
  throw std::invalid_argument("expected up ports in_order, searched or searched_apart, found " + name);
}

bool routable(const FredWafer& wafer, const std::vector<FredFlow>& flows,
              const std::vector<Crossing>& crossings, const UpPorts& ports, const RoutingOptions& options) {
  RoutingOptions trial = options;
  trial.name_conflicts = false;
  const std::vector<FredChip> chips = chips_of_slice(wafer);
  const std::vector<ChipFlows> parts = split(wafer, flows, crossings, ports);
  for (std::size_t c = 0; c < chips.size(); ++c) {
    if (route(chips[c].shape, parts[c].flows, trial).status != RoutingStatus::kRouted) return false;
  }
  return true;
}

UpPortChoice InOrderUpPorts::choose(const FredWafer& wafer, const std::vector<FredFlow>& flows,
                                    const std::vector<Crossing>& crossings, const RoutingOptions&) const {
  const FredSlice tree(wafer);
  const std::vector<std::vector<unsigned>> none(crossings.size(), std::vector<unsigned>(tree.root()));
  UpPorts ports{none, none};
  UpPortChoice choice;
  std::vector<unsigned> next_up(tree.root()), next_down(tree.root());
  for (std::size_t c = 0; c < crossings.size(); ++c) {
    std::optional<unsigned> chip;  // of the root
    for (unsigned node = 0; node < tree.root(); ++node) {
      for (const bool up : {true, false}) {
        if (!(up ? crossings[c].up : crossings[c].down)[node]) continue;
        const unsigned port = (up ? next_up : next_down)[node]++;
        (up ? ports.up : ports.down)[c][node] = port;
        const std::string& name = flows[crossings[c].flow].name;
        if (port >= tree[node].up_ports) {
          choice.problem = name + " is one flow more than " + tree[node].name + " has up ports, which are " +
                           std::to_string(tree[node].up_ports);
          return choice;
        }
        if (tree[node].parent != tree.root()) continue;
        const unsigned leads_to = tree.chip_at_parent(node, port);
        if (chip.value_or(leads_to) != leads_to) {
          choice.problem = "the up ports of " + name + " lead to different L2 chips";
          return choice;
        }
        chip = leads_to;
      }
    }
  }
  choice.ports = std::move(ports);
  return choice;
}

}  // namespace wafervp
