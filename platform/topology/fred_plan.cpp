// SPDX-License-Identifier: Apache-2.0
#include "topology/fred_plan.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "topology/fred_slice.h"

namespace wafervp {
namespace {

FlowSet all_of(std::size_t flows) {
  FlowSet all(flows);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

/// Assignments of up ports that all questions about one phase may try, on a wafer of six switches; after that
/// only ports in order are asked about.
constexpr std::uint64_t kMostTries = 100'000;

/// Choices of lanes that a search looks at, likewise.
constexpr std::uint64_t kMostLaneChecks = 500;

/// Answers whether flows can be routed at once, each question once.
class Router {
 public:
  Router(const FredWafer& wafer, const std::vector<FredFlow>& flows, const FredRouteOptions& options)
      : wafer_(wafer), flows_(flows), options_(options), tries_(scaled(kMostTries, FredSlice(wafer))) {
    options_.routing.name_conflicts = false;
  }
  RoutingStatus status(const FlowSet& set) {
    const auto known = known_.find(set);
    if (known != known_.end()) return known->second.first;
    if (tries_ == 0) options_.up_ports = "in_order";
    const FredRoutes found = route(wafer_, pick(flows_, set), options_);
    tries_ -= std::min(tries_, found.tried);
    return known_.emplace(set, std::pair(proved_status(found), options_.up_ports)).first->second.first;
  }
  bool runs(const FlowSet& set) { return status(set) == RoutingStatus::kRouted; }
  CanRun as_question() {
    return [this](const FlowSet& set) { return status(set); };
  }
  /// As they were when it was asked.
  FredRoutes routes(const FlowSet& set) {
    status(set);
    FredRouteOptions options = options_;
    options.up_ports = known_.at(set).second;
    return route(wafer_, pick(flows_, set), options);
  }

 private:
  const FredWafer& wafer_;
  const std::vector<FredFlow>& flows_;
  FredRouteOptions options_;
  std::uint64_t tries_;
  std::map<FlowSet, std::pair<RoutingStatus, std::string>> known_;
};

/// The switches that a flow passes, ascending.
std::vector<unsigned> path_of(const FredSlice& tree, const FredFlow& flow) {
  std::vector<unsigned> ends(tree.nodes().size());
  for (const auto& side : {flow.inputs, flow.outputs}) {
    for (const unsigned end : side) ++ends[tree.place_of(end).l1];
  }
  const auto all = static_cast<unsigned>(flow.inputs.size() + flow.outputs.size());
  std::vector<unsigned> path;
  for (unsigned node = 0; node < tree.nodes().size(); ++node) {
    if (ends[node] == 0) continue;
    path.push_back(node);
    if (ends[node] == all) break;  // here they turn round
    ends[tree[node].parent] += ends[node];
  }
  return path;
}

std::vector<unsigned> common(const std::vector<unsigned>& a, const std::vector<unsigned>& b) {
  std::vector<unsigned> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

/// A lane stands at the uppermost switch that all its flows pass; there is one, since each two of them meet.
std::vector<FredLane> place_lanes(const std::vector<FlowSet>& lanes,
                                  const std::vector<std::vector<unsigned>>& paths) {
  std::vector<FredLane> placed;
  for (const FlowSet& lane : lanes) {
    std::vector<unsigned> shared = paths[lane.front()];
    for (const std::size_t flow : lane) shared = common(shared, paths[flow]);
    placed.push_back({shared.back(), lane, 1});
  }
  return placed;
}

class PhasePlanner {
 public:
  PhasePlanner(const FredWafer& wafer, FredPhase phase, const FredRouteOptions& options)
      : wafer_(wafer), options_(options), result_{} {
    result_.phase = std::move(phase);
    result_.set_of.assign(flows().size(), 0);
  }

  PlannedPhase plan(FredRemedy remedy) {
    Router router(wafer_, flows(), options_);
    const FlowSet all = all_of(flows().size());
    if (flows().size() > 1) {
      result_.at_once = route(wafer_, flows(), options_);
      result_.conflict = result_.at_once.status != RoutingStatus::kRouted;
    }
    if (!result_.conflict) {
      result_.rounds = {{all}, true};
      result_.sets.push_back({all, flows().size() > 1 ? result_.at_once : router.routes(all)});
      return std::move(result_);
    }
    result_.rounds = fewest_rounds(flows().size(), router.as_question(), round_budget(wafer_));
    if (remedy == FredRemedy::kEndpointRing) {
      result_.out_of_network = flows_to_take_out(wafer_, flows(), options_);
      FlowSet others;
      std::set_difference(all.begin(), all.end(), result_.out_of_network.begin(),
                          result_.out_of_network.end(), std::back_inserter(others));
      result_.sets.push_back({others, router.routes(others)});
      return std::move(result_);
    }
    make_lanes(router);
    return std::move(result_);
  }

 private:
  const std::vector<FredFlow>& flows() const { return result_.phase.flows; }

  void make_lanes(Router& router) {
    const FredSlice tree(wafer_);
    std::vector<std::vector<unsigned>> paths;
    for (const FredFlow& flow : flows()) paths.push_back(path_of(tree, flow));
    const std::vector<FlowSet>& rounds = result_.rounds.rounds;
    std::optional<LaneChoice> choice =
        choose_lanes(flows().size(), rounds.size(), scaled(kMostLaneChecks, tree), router.as_question(),
                     [&](std::size_t a, std::size_t b) { return !common(paths[a], paths[b]).empty(); });
    if (choice) {
      result_.lanes = place_lanes(choice->lanes, paths);
    } else {
      // Too many flows meet to find pairs or triples of them: each passes in the slots of its round.
      for (std::size_t f = 0; f < flows().size(); ++f) {
        result_.lanes.push_back({paths[f].back(), {f}, static_cast<unsigned>(rounds.size())});
      }
    }
    for (const FlowSet& set : choice ? choice->sets : rounds)
      result_.sets.push_back({set, router.routes(set)});
    for (std::size_t s = result_.sets.size(); s-- > 0;) {
      for (const std::size_t flow : result_.sets[s].flows) result_.set_of[flow] = s;
    }
  }

  const FredWafer& wafer_;
  FredRouteOptions options_;
  PlannedPhase result_;
};

std::string names(const std::vector<FredFlow>& flows, const FlowSet& set) {
  std::string text;
  for (const std::size_t flow : set) text += (text.empty() ? "" : ", ") + flows[flow].name;
  return text;
}

std::string turns_text(const PlannedPhase& phase) {
  const std::size_t rounds = phase.rounds.rounds.size();
  if (phase.lanes.front().rounds > 1)
    return "they pass in " + std::to_string(rounds) + " rounds, which take turns";
  std::string text;
  for (const FredLane& lane : phase.lanes) {
    text += (text.empty() ? "" : ", and ") + names(phase.phase.flows, lane.flows);
  }
  return text + " pass one at a time";
}

std::string warning_of(const PlannedPhase& phase, const FredWafer& wafer, unsigned middles_before) {
  const std::vector<FredFlow>& flows = phase.phase.flows;
  std::string text = "/wafer/fabric/fred: phase " + phase.phase.name + ": its " +
                     std::to_string(flows.size()) + " flows cannot all be routed at once with " +
                     std::to_string(middles_before) + " middle networks; ";
  if (wafer.middles != middles_before && phase.lanes.empty() && phase.out_of_network.empty()) {
    text += "all switches have " + std::to_string(wafer.middles) + " instead (remedy more_middles)";
  } else if (!phase.out_of_network.empty()) {
    text += names(flows, phase.out_of_network) + " goes between its end points (remedy endpoint_ring)";
  } else {
    text += turns_text(phase);
  }
  return text + "; wafervp describe --routes explains it";
}

}  // namespace

FlowSet flows_to_take_out(const FredWafer& wafer, const std::vector<FredFlow>& flows,
                          const FredRouteOptions& options) {
  Router router(wafer, flows, options);
  FlowSet left = all_of(flows.size()), out;
  const auto without = [&](std::size_t flow) {
    FlowSet fewer = left;
    fewer.erase(std::remove(fewer.begin(), fewer.end(), flow), fewer.end());
    return fewer;
  };
  const auto smaller = [&](std::size_t a, std::size_t b) {
    return flows[a].inputs.size() + flows[a].outputs.size() <
           flows[b].inputs.size() + flows[b].outputs.size();
  };
  while (!router.runs(left)) {
    // One that ends the conflict by itself; else the smallest of a least set, as a beginning.
    FlowSet core = left;
    for (std::size_t i = 0; i < core.size();) {
      FlowSet fewer = core;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (router.runs(fewer)) {
        ++i;
      } else {
        core = std::move(fewer);
      }
    }
    std::stable_sort(core.begin(), core.end(), smaller);
    const auto ends =
        std::find_if(core.begin(), core.end(), [&](std::size_t flow) { return router.runs(without(flow)); });
    const std::size_t flow = ends == core.end() ? core.front() : *ends;
    left = without(flow);
    out.push_back(flow);
  }
  // Some may have been a beginning only.
  for (std::size_t i = 0; i < out.size();) {
    FlowSet more = left;
    more.insert(std::upper_bound(more.begin(), more.end(), out[i]), out[i]);
    if (!router.runs(more)) {
      ++i;
      continue;
    }
    left = std::move(more);
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(i));
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::optional<unsigned> middles_needed(const FredWafer& wafer, const std::vector<FredFlow>& flows,
                                       const FredRouteOptions& options) {
  FredWafer larger = wafer;
  // With a middle network for each flow there is nothing left to share but ports.
  for (; larger.middles <= std::max<std::size_t>(flows.size(), wafer.middles); ++larger.middles) {
    if (Router(larger, flows, options).runs(all_of(flows.size()))) return larger.middles;
  }
  return std::nullopt;
}

FredPlan plan_phases(const FredWafer& wafer, const std::vector<FredPhase>& phases, FredRemedy remedy,
                     const FredRouteOptions& options) {
  FredPlan plan{wafer, {}, {}};
  if (remedy == FredRemedy::kMoreMiddles) {
    for (const FredPhase& phase : phases) {
      if (phase.flows.size() < 2) continue;
      const std::optional<unsigned> needed = middles_needed(wafer, phase.flows, options);
      if (needed) plan.wafer.middles = std::max(plan.wafer.middles, *needed);
    }
  }
  for (const FredPhase& phase : phases) {
    PlannedPhase planned = PhasePlanner(plan.wafer, phase, options).plan(remedy);
    bool conflict = planned.conflict;
    if (plan.wafer.middles != wafer.middles && phase.flows.size() > 1 && !conflict) {
      conflict = !Router(wafer, phase.flows, options).runs(all_of(phase.flows.size()));
    }
    if (conflict) plan.warnings.push_back(warning_of(planned, plan.wafer, wafer.middles));
    plan.phases.push_back(std::move(planned));
  }
  return plan;
}

}  // namespace wafervp
