// SPDX-License-Identifier: Apache-2.0
#include "topology/fred_routes.h"

#include <algorithm>
#include <numeric>

#include "topology/fred_slice.h"

namespace wafervp {
namespace {

/// The worse of two: what is proved not to work outdoes what was not found.
RoutingStatus worse(RoutingStatus a, RoutingStatus b) {
  if (a == RoutingStatus::kConflict || b == RoutingStatus::kConflict) return RoutingStatus::kConflict;
  return a == RoutingStatus::kRouted ? b : a;
}

/// Takes flows away as long as the others still find no up ports that all chips can route.
std::vector<std::size_t> least_without_room(const FredWafer& wafer, const std::vector<FredFlow>& flows,
                                            const UpPortPolicy& policy, const RoutingOptions& options) {
  std::vector<std::size_t> left(flows.size());
  std::iota(left.begin(), left.end(), std::size_t{0});
  for (std::size_t i = 0; i < left.size();) {
    std::vector<std::size_t> fewer = left;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    const std::vector<FredFlow> some = pick(flows, fewer);
    const std::vector<Crossing> crossing = crossings(wafer, some);
    const UpPortChoice choice = policy.choose(wafer, some, crossing, options);
    if (choice.ports && routable(wafer, some, crossing, *choice.ports, options)) {
      ++i;
    } else {
      left = std::move(fewer);
    }
  }
  return left;
}

/// The flows that find no room, with the L1s that they go to and come from.
std::string room_text(const FredWafer& wafer, const std::vector<FredFlow>& flows, const FredRoutes& routes) {
  std::string text = routes.problem + "\n";
  if (routes.without_room.empty()) return text;
  const FredSlice tree(wafer);
  text += std::string(routes.no_up_ports_help ? "No up ports would do" : "No up ports were found") +
          " for all of these; an L2 chip has " +
          std::to_string(tree[tree.root() - 1].up_ports / tree.root_chips()) + " ports for each " +
          (wafer.between.empty() ? "L1" : "switch below") + ":\n";
  for (const Crossing& crossing : routes.crossings) {
    if (std::count(routes.without_room.begin(), routes.without_room.end(), crossing.flow) == 0) continue;
    text += "  " + flows[crossing.flow].name + ":";
    for (unsigned node = 0; node < tree.root(); ++node) {
      if (crossing.up[node] || crossing.down[node]) text += " " + tree[node].name;
    }
    text += "\n";
  }
  return text;
}

}  // namespace

FredRoutes route(const FredWafer& wafer, const std::vector<FredFlow>& flows,
                 const FredRouteOptions& options) {
  check(wafer);
  check(flows, wafer.npus() + wafer.io_controllers());
  FredRoutes routes{RoutingStatus::kRouted, crossings(wafer, flows), std::nullopt, "", {}, 0, false, {}, {}};
  const auto policy = make_up_port_policy(options.up_ports);
  UpPortChoice choice = policy->choose(wafer, flows, routes.crossings, options.routing);
  routes.up_ports = std::move(choice.ports);
  routes.problem = std::move(choice.problem);
  routes.no_up_ports_help = choice.proved;
  routes.tried = choice.tried;
  if (!routes.up_ports) {
    routes.status = RoutingStatus::kConflict;
    if (options.routing.name_conflicts && options.up_ports != "in_order") {
      routes.without_room = least_without_room(wafer, flows, *policy, options.routing);
    }
    return routes;
  }
  routes.parts = split(wafer, flows, routes.crossings, *routes.up_ports);
  const std::vector<FredChip> chips = chips_of_slice(wafer);
  for (std::size_t c = 0; c < chips.size(); ++c) {
    routes.routings.push_back(route(chips[c].shape, routes.parts[c].flows, options.routing));
    routes.status = worse(routes.status, routes.routings.back().status);
  }
  return routes;
}

RoutingStatus proved_status(const FredRoutes& routes) {
  const bool open =
      routes.status == RoutingStatus::kConflict && !routes.crossings.empty() && !routes.no_up_ports_help;
  return open ? RoutingStatus::kOutOfBudget : routes.status;
}

RoundBudget round_budget(const FredWafer& wafer) {
  RoundBudget budget;
  budget.asked = scaled(budget.asked, FredSlice(wafer));
  return budget;
}

RoundChoice serialise(const FredWafer& wafer, const std::vector<FredFlow>& flows,
                      const FredRouteOptions& options) {
  FredRouteOptions trial = options;
  trial.routing.name_conflicts = false;
  return fewest_rounds(
      flows.size(), [&](const FlowSet& set) { return proved_status(route(wafer, pick(flows, set), trial)); });
}

namespace {

enum class Shown { kAll, kConflicts };

std::string chips_text(const FredWafer& wafer, const std::vector<FredFlow>& flows, const FredRoutes& routes,
                       Shown shown) {
  if (!routes.up_ports) return room_text(wafer, flows, routes);
  std::string text;
  const std::vector<FredChip> chips = chips_of_slice(wafer);
  for (std::size_t c = 0; c < chips.size(); ++c) {
    const std::vector<FredFlow>& here = routes.parts[c].flows;
    const Routing& routing = routes.routings[c];
    if (here.empty() || (shown == Shown::kConflicts && !routing.conflict)) continue;
    text += chips[c].name + ", ";
    text += routing.conflict ? describe(chips[c].shape, here, *routing.conflict, chips[c].ports)
                             : name_of(chips[c].shape) + ":\n" + describe(here, routing, chips[c].ports);
  }
  if (!routes.crossings.empty() && routes.no_up_ports_help) text += "No other up ports help.\n";
  return text;
}

}  // namespace

std::string describe(const FredWafer& wafer, const std::vector<FredFlow>& flows, const FredRoutes& routes) {
  return chips_text(wafer, flows, routes, Shown::kAll);
}

std::string describe_conflict(const FredWafer& wafer, const std::vector<FredFlow>& flows,
                              const FredRoutes& routes) {
  return chips_text(wafer, flows, routes, Shown::kConflicts);
}

RouteSurvey survey(const FredWafer& wafer, const std::vector<ParallelismSpec>& parallelisms,
                   const FredRouteOptions& options) {
  RouteSurvey result;
  for (const ParallelismSpec& parallelism : parallelisms) {
    for (FredPhase& phase : fred_phases(parallelism, consecutive_placement(parallelism))) {
      ++result.phases;
      FredRoutes routes = route(wafer, phase.flows, options);
      if (routes.status == RoutingStatus::kRouted) continue;
      result.conflicts.push_back({parallelism, std::move(phase), std::move(routes)});
    }
  }
  return result;
}

}  // namespace wafervp
