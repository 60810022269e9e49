// SPDX-License-Identifier: Apache-2.0
#include "fred_network/conflict_search.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace wafervp {
namespace {

/// The μswitches of one side that two flows share on a level.
void add_shared(std::vector<SharedPart>& shared, const std::vector<FredFlow>& flows, std::size_t a,
                std::size_t b, unsigned level, MicroSwitchKind kind) {
  const auto side = kind == MicroSwitchKind::kReduce ? &FredFlow::inputs : &FredFlow::outputs;
  std::map<unsigned, std::set<unsigned>> mine, others;  // ports by μswitch
  for (const unsigned port : flows[a].*side) mine[port >> (level + 1)].insert(port);
  for (const unsigned port : flows[b].*side) others[port >> (level + 1)].insert(port);
  for (const auto& [part, ports] : mine) {
    const auto meets = others.find(part);
    if (meets == others.end()) continue;
    std::set<unsigned> both = ports;
    both.insert(meets->second.begin(), meets->second.end());
    shared.push_back({a, b, level, kind, part, {both.begin(), both.end()}});
  }
}

/// Levels, from the outside, that it takes to see that the flows cannot be routed. At most all.
unsigned levels_needed(const FredShape& shape, const std::vector<FredFlow>& flows, std::uint64_t budget) {
  const unsigned all = levels(shape);
  FlowSet set(flows.size());
  std::iota(set.begin(), set.end(), std::size_t{0});
  for (unsigned most = 1; most < all; ++most) {
    if (!FlowColouring(shape, flows, budget, most).colour(0, set)) return most;
  }
  return all;
}

unsigned neighbours(const FlowColouring& colouring, const FlowSet& set, std::size_t flow) {
  return static_cast<unsigned>(std::count_if(set.begin(), set.end(), [&](std::size_t other) {
    return other != flow && colouring.share(0, flow, other);
  }));
}

/// The flows of a cycle, from the first on towards its neighbour with the lower index.
FlowSet in_order(const FlowColouring& colouring, const FlowSet& cycle) {
  FlowSet walk{cycle.front()};
  while (walk.size() < cycle.size()) {
    const auto next = std::find_if(cycle.begin(), cycle.end(), [&](std::size_t flow) {
      return colouring.share(0, walk.back(), flow) && std::find(walk.begin(), walk.end(), flow) == walk.end();
    });
    if (next == cycle.end()) return cycle;
    walk.push_back(*next);
  }
  return walk;
}

}  // namespace

std::optional<Conflict> find_shared_port(const FredShape& shape, const std::vector<FredFlow>& flows) {
  constexpr auto kNobody = static_cast<std::size_t>(-1);
  for (const MicroSwitchKind kind : {MicroSwitchKind::kReduce, MicroSwitchKind::kDistribute}) {
    const auto side = kind == MicroSwitchKind::kReduce ? &FredFlow::inputs : &FredFlow::outputs;
    std::vector<std::size_t> owner(shape.ports, kNobody);
    for (std::size_t f = 0; f < flows.size(); ++f) {
      for (const unsigned port : flows[f].*side) {
        if (owner[port] != kNobody) {
          return Conflict{
              Conflict::Kind::kSharedPort, {owner[port], f}, 0, {{owner[port], f, 0, kind, port, {port}}}};
        }
        owner[port] = f;
      }
    }
  }
  return std::nullopt;
}

Conflict explain(FlowColouring& colouring, const FredShape& shape, const std::vector<FredFlow>& flows,
                 const FlowSet& all) {
  colouring.renew_budget();
  Conflict conflict{Conflict::Kind::kCritical, colouring.core(0, all), 0, {}};
  const FlowSet core = conflict.flows;
  conflict.levels = levels_needed(shape, pick(flows, core), colouring.budget());
  const auto all_have = [&](std::size_t degree) {
    return std::all_of(core.begin(), core.end(),
                       [&](std::size_t flow) { return neighbours(colouring, core, flow) == degree; });
  };
  if (conflict.levels > 1) {
    conflict.kind = Conflict::Kind::kDeeper;
  } else if (all_have(2)) {
    conflict.kind = Conflict::Kind::kOddCycle;
    conflict.flows = in_order(colouring, core);
  } else if (all_have(core.size() - 1)) {
    conflict.kind = Conflict::Kind::kClique;
  }
  for (std::size_t i = 0; i < core.size(); ++i) {
    for (std::size_t j = i + 1; j < core.size(); ++j) {
      unsigned level = 0;
      while (level < conflict.levels && !colouring.share(level, core[i], core[j])) ++level;
      if (level == conflict.levels) continue;
      add_shared(conflict.shared, flows, core[i], core[j], level, MicroSwitchKind::kReduce);
      add_shared(conflict.shared, flows, core[i], core[j], level, MicroSwitchKind::kDistribute);
    }
  }
  return conflict;
}

}  // namespace wafervp
