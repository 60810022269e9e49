// SPDX-License-Identifier: Apache-2.0
#include "topology/up_ports.h"

#include <algorithm>
#include <stdexcept>

#include "topology/up_port_policies.h"

namespace wafervp {
namespace {

/// Gives the next free port in one direction, and says when there is none left.
bool take(std::vector<unsigned>& next, unsigned l1, unsigned ports, unsigned& port) {
  port = next[l1]++;
  return port < ports;
}

}  // namespace

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
  const auto l1s = static_cast<unsigned>(wafer.l1s.size());
  const std::vector<std::vector<unsigned>> none(crossings.size(), std::vector<unsigned>(l1s));
  UpPorts ports{none, none};
  UpPortChoice choice;
  std::vector<unsigned> next_up(l1s), next_down(l1s);
  for (std::size_t c = 0; c < crossings.size(); ++c) {
    std::optional<unsigned> chip;
    for (unsigned l1 = 0; l1 < l1s; ++l1) {
      for (const bool up : {true, false}) {
        if (!(up ? crossings[c].up : crossings[c].down)[l1]) continue;
        unsigned& port = (up ? ports.up : ports.down)[c][l1];
        const std::string& name = flows[crossings[c].flow].name;
        if (!take(up ? next_up : next_down, l1, wafer.up_ports, port)) {
          choice.problem = name + " is one flow more than l1_" + std::to_string(l1) +
                           " has up ports, which are " + std::to_string(wafer.up_ports);
          return choice;
        }
        const unsigned leads_to = port / (wafer.up_ports / wafer.l2_chips);
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
