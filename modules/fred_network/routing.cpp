// SPDX-License-Identifier: Apache-2.0
#include "fred_network/routing.h"

#include <numeric>
#include <stdexcept>

#include "fred_network/colouring.h"
#include "fred_network/conflict_search.h"
#include "fred_network/rounds.h"

namespace wafervp {

Routing route(const FredShape& shape, const std::vector<FredFlow>& flows, const RoutingOptions& options) {
  check(shape);
  check(flows, shape.ports);
  if (std::optional<Conflict> clash = find_shared_port(shape, flows)) {
    if (!options.name_conflicts) clash.reset();
    return {RoutingStatus::kConflict, {}, std::move(clash), 0};
  }
  FlowColouring colouring(shape, flows, options.budget);
  FlowSet all(flows.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (!colouring.colour(0, all)) {
    const bool proved = !colouring.out_of_budget();
    Routing failed{
        proved ? RoutingStatus::kConflict : RoutingStatus::kOutOfBudget, {}, std::nullopt, colouring.tried()};
    if (options.name_conflicts) {
      failed.conflict = proved ? explain(colouring, shape, flows, all)
                               : Conflict{Conflict::Kind::kUnproven, all, colouring.levels(), {}};
    }
    return failed;
  }
  Routing routing{RoutingStatus::kRouted, {}, std::nullopt, colouring.tried()};
  for (std::size_t f = 0; f < flows.size(); ++f) {
    FlowRoute way{{}, tree_depth(flows[f].inputs), tree_depth(flows[f].outputs)};
    for (unsigned level = 0; level < colouring.levels(); ++level) {
      way.middles.push_back(colouring.middle(level, f));
    }
    routing.flows.push_back(std::move(way));
  }
  return routing;
}

std::vector<FredFlow> pick(const std::vector<FredFlow>& flows, const std::vector<std::size_t>& indices) {
  std::vector<FredFlow> picked;
  picked.reserve(indices.size());
  for (const std::size_t index : indices) picked.push_back(flows.at(index));
  return picked;
}

std::vector<Round> serialise(const FredShape& shape, const std::vector<FredFlow>& flows,
                             const RoutingOptions& options) {
  RoutingOptions trial = options;
  trial.name_conflicts = false;
  const RoundChoice choice = fewest_rounds(
      flows.size(), [&](const FlowSet& set) { return route(shape, pick(flows, set), trial).status; });
  std::vector<Round> rounds;
  for (const FlowSet& set : choice.rounds) rounds.push_back({set, route(shape, pick(flows, set), trial)});
  return rounds;
}

}  // namespace wafervp
