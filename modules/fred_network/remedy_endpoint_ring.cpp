// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "fred_network/remedies.h"

namespace wafervp {
namespace {

using Ports = std::vector<unsigned>;

bool contains(const Ports& ports, unsigned port) {
  return std::find(ports.begin(), ports.end(), port) != ports.end();
}
Ports sorted(Ports ports) {
  std::sort(ports.begin(), ports.end());
  return ports;
}
Ports without(Ports ports, unsigned port) {
  ports.erase(std::remove(ports.begin(), ports.end(), port), ports.end());
  return ports;
}

/// The ports that the data pass one after the other when end points add and pass on instead of the
/// switch: a ring (first and last the same) for an all-reduce, a chain for a multicast or a reduce. Empty for
/// what cannot be taken apart: a unicast, and sums of some ports for others.
Ports way_between_end_points(const FredFlow& flow) {
  Ports inputs = sorted(flow.inputs), outputs = sorted(flow.outputs);
  if (inputs.size() > 1 && inputs == outputs) {
    inputs.push_back(inputs.front());
    return inputs;
  }
  if (inputs.size() == 1) {
    Ports chain = without(outputs, inputs.front());
    if (chain.size() < 2) return {};
    chain.insert(chain.begin(), inputs.front());
    return chain;
  }
  if (outputs.size() == 1) {
    Ports chain = without(inputs, outputs.front());
    if (chain.size() < 2) return {};
    chain.push_back(outputs.front());
    return chain;
  }
  return {};
}

/// The unicasts between end points that replace a flow; empty where it cannot be taken apart, or where an end
/// point that would have to pass on has its port in use by another flow.
std::vector<FredFlow> unicasts(const std::vector<FredFlow>& flows, std::size_t index) {
  const FredFlow& flow = flows[index];
  const Ports way = way_between_end_points(flow);
  std::vector<FredFlow> parts;
  for (std::size_t i = 0; i + 1 < way.size(); ++i) {
    const unsigned from = way[i], to = way[i + 1];
    for (std::size_t f = 0; f < flows.size(); ++f) {
      if (f != index && (contains(flows[f].inputs, from) || contains(flows[f].outputs, to))) return {};
    }
    parts.push_back({flow.name + " " + std::to_string(from) + "->" + std::to_string(to), {from}, {to}});
  }
  return parts;
}

/// Flows, some of them taken apart.
class PartialFlows {
 public:
  PartialFlows(const FredShape& shape, const std::vector<FredFlow>& flows, const RoutingOptions& options)
      : shape_(shape), options_(options), flows_(flows), apart_(flows.size(), false) {
    for (std::size_t f = 0; f < flows.size(); ++f) parts_.push_back(unicasts(flows, f));
    options_.name_conflicts = true;
  }

  /// Takes flows apart until all can be routed, and puts those together again that need not have been. Leaves
  /// all as they are where no flow of a conflict can be taken apart.
  void solve() {
    std::vector<std::size_t> taken;
    Routing routing = try_out();
    while (routing.status != RoutingStatus::kRouted) {
      const std::vector<std::size_t> candidates = whole_ones(routing.conflict->flows);
      if (candidates.empty()) {
        apart_.assign(flows_.size(), false);
        return;
      }
      // One that ends the conflict by itself; otherwise the smallest is a beginning.
      std::size_t chosen = candidates.front();
      for (const std::size_t flow : candidates) {
        if (!fits_with(flow, true)) continue;
        chosen = flow;
        break;
      }
      apart_[chosen] = true;
      taken.push_back(chosen);
      routing = try_out();
    }
    for (const std::size_t flow : taken) apart_[flow] = !fits_with(flow, false);
  }

  std::vector<FredFlow> current() const {
    std::vector<FredFlow> all;
    for (std::size_t f = 0; f < flows_.size(); ++f) {
      if (apart_[f]) {
        all.insert(all.end(), parts_[f].begin(), parts_[f].end());
      } else {
        all.push_back(flows_[f]);
      }
    }
    return all;
  }
  std::vector<std::string> notes() const {
    std::vector<std::string> notes;
    for (std::size_t f = 0; f < flows_.size(); ++f) {
      if (!apart_[f]) continue;
      notes.push_back(flows_[f].name + " goes between its end points, in " +
                      std::to_string(parts_[f].size()) + " unicasts");
    }
    return notes;
  }

 private:
  Routing try_out() const { return route(shape_, current(), options_); }

  bool fits_with(std::size_t flow, bool apart) {
    const bool before = apart_[flow];
    apart_[flow] = apart;
    const bool fits = try_out().status == RoutingStatus::kRouted;
    apart_[flow] = before;
    return fits;
  }

  /// Of flows by their place in current(): those that can still be taken apart, small ones first.
  std::vector<std::size_t> whole_ones(const std::vector<std::size_t>& places) const {
    std::vector<std::size_t> found;
    std::size_t place = 0;
    for (std::size_t f = 0; f < flows_.size(); ++f) {
      const bool named = std::find(places.begin(), places.end(), place) != places.end();
      if (named && !apart_[f] && !parts_[f].empty()) found.push_back(f);
      place += apart_[f] ? parts_[f].size() : 1;
    }
    std::stable_sort(found.begin(), found.end(),
                     [&](std::size_t a, std::size_t b) { return parts_[a].size() < parts_[b].size(); });
    return found;
  }

  FredShape shape_;
  RoutingOptions options_;
  const std::vector<FredFlow>& flows_;
  std::vector<std::vector<FredFlow>> parts_;  ///< by flow
  std::vector<bool> apart_;
};

}  // namespace

Remedied EndpointRingRemedy::apply(const FredShape& shape, const std::vector<FredFlow>& flows,
                                   const RoutingOptions& options) const {
  PartialFlows partial(shape, flows, options);
  partial.solve();
  Remedied result = SerialiseRemedy().apply(shape, partial.current(), options);
  const std::vector<std::string> notes = partial.notes();
  result.notes.insert(result.notes.begin(), notes.begin(), notes.end());
  return result;
}

}  // namespace wafervp
