// SPDX-License-Identifier: Apache-2.0
#include "describe_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "scenario/text.h"
#include "scenario/words.h"
#include "table.h"
#include "topology/fred_built.h"
#include "topology/move_workers.h"
#include "wafer/fred_routing.h"

namespace wafervp::cli {
namespace {

std::string indented(const std::string& lines, const char* indent = "  ") {
  std::string text;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    text += indent + lines.substr(at, end - at) + '\n';
    at = end + 1;
  }
  return text;
}

std::string names(const std::vector<FredFlow>& flows, const FlowSet& set) {
  std::vector<std::string> words;
  for (const std::size_t flow : set) words.push_back(flows[flow].name);
  return join_words(words, 40);
}

/// Writes what one wafer's routing is.
class RouteText {
 public:
  RouteText(const Scenario& scenario, const Topology& topology, const Placement& placement,
            const FredRouting& routing)
      : scenario_(scenario),
        topology_(topology),
        placement_(placement),
        routing_(routing),
        built_(fred_wafer_of(scenario.wafer.fabric.fred, topology)),
        slice_(built_) {
    for (std::size_t rank = 0; rank < placement.npu_of_rank.size(); ++rank) {
      rank_of_[placement.npu_of_rank[rank].value] = rank;
    }
  }

  std::string text() {
    std::string all = fmt::format("\nFRED routes: {} slices, each of", built_.slices);
    for (const auto& [shape, count] : count_chips(routing_.plan.wafer)) {
      all += fmt::format(" {} {}", count / built_.slices, name_of(shape));
    }
    all += fmt::format("; remedy {}\n", to_word(scenario_.wafer.fabric.fred.remedy));
    if (routing_.plan.phases.empty())
      return all + "  no in-network flows: unicasts only, which need no routes\n";
    for (const PlannedPhase& phase : routing_.plan.phases) all += phase_text(phase);
    return all + store_text() + survey_text();
  }

 private:
  std::string phase_text(const PlannedPhase& phase) {
    const std::vector<FredFlow>& flows = phase.phase.flows;
    std::string text = fmt::format("\nphase {}: {} at the same time, {}\n", phase.phase.name,
                                   flows.size() == 1 ? "1 flow" : fmt::format("{} flows", flows.size()),
                                   phase.conflict ? "which cannot all be routed at once" : "routed");
    text += flow_table(phase);
    if (!phase.conflict)
      return text + indented(describe(routing_.plan.wafer, flows, phase.sets.front().routes));
    text += "  conflict:\n" + indented(describe_conflict(built_, flows, conflict_of(phase)), "    ");
    text += remedies_text(phase);
    for (const PlannedPhase::Set& set : phase.sets) {
      text += fmt::format("  routes of {}:\n", names(flows, set.flows));
      text += indented(describe(routing_.plan.wafer, pick(flows, set.flows), set.routes), "    ");
    }
    return text;
  }

  /// With the proof that no other up ports help, where it does not take long to find.
  FredRoutes conflict_of(const PlannedPhase& phase) const {
    constexpr std::uint32_t kMostNpus = 32;
    if (topology_.npus > kMostNpus) return phase.at_once;
    FredRouteOptions options;
    options.up_ports = "searched_apart";
    FredRoutes routes = route(built_, phase.phase.flows, options);
    return routes.status == RoutingStatus::kConflict ? routes : phase.at_once;
  }

  std::string end_name(unsigned end) const { return topology_.nodes[end].name; }

  std::string ranks_text(const std::vector<unsigned>& ends) const {
    std::vector<std::string> words;
    for (const unsigned end : ends) {
      const auto rank = rank_of_.find(end);
      words.push_back(rank == rank_of_.end() ? "-" : std::to_string(rank->second));
    }
    return join_words(words, 20);
  }
  std::string ends_text(const std::vector<unsigned>& ends) const {
    std::vector<std::string> words;
    for (const unsigned end : ends) words.push_back(end_name(end));
    return join_words(words, 20);
  }

  /// The up ports of a flow: "l1_0 0, l1_1 2/3" (up/down where they differ).
  std::string up_text(const FredRoutes& routes, std::size_t flow) const {
    std::vector<std::string> words;
    for (std::size_t c = 0; c < routes.crossings.size() && routes.up_ports; ++c) {
      if (routes.crossings[c].flow != flow) continue;
      for (unsigned node = 0; node < slice_.root(); ++node) {
        const bool up = routes.crossings[c].up[node], down = routes.crossings[c].down[node];
        const unsigned up_port = routes.up_ports->up[c][node], down_port = routes.up_ports->down[c][node];
        if (!up && !down) continue;
        words.push_back(slice_[node].name + " " +
                        (up && down && up_port != down_port ? fmt::format("{}/{}", up_port, down_port)
                                                            : std::to_string(up ? up_port : down_port)));
      }
    }
    return join_words(words, 12);
  }

  std::string flow_table(const PlannedPhase& phase) const {
    Table table({"flow", "ranks", "from", "to", "up ports", ""});
    for (const std::size_t column : {1, 2, 3, 4, 5}) table.left(column);
    for (std::size_t f = 0; f < phase.phase.flows.size(); ++f) {
      const FredFlow& flow = phase.phase.flows[f];
      const PlannedPhase::Set& set = phase.sets[phase.set_of[f]];
      const auto at = std::find(set.flows.begin(), set.flows.end(), f);
      const bool out = at == set.flows.end();
      const auto lane = std::find_if(phase.lanes.begin(), phase.lanes.end(), [&](const FredLane& some) {
        return std::count(some.flows.begin(), some.flows.end(), f) != 0;
      });
      const std::string turn = lane == phase.lanes.end() ? ""
                               : lane->rounds == 1       ? "passes one at a time"
                                                   : fmt::format("passes in 1 of {} slots", lane->rounds);
      table.add({flow.name, ranks_text(flow.inputs), ends_text(flow.inputs),
                 flow.inputs == flow.outputs ? "the same" : ends_text(flow.outputs),
                 out ? "" : up_text(set.routes, static_cast<std::size_t>(at - set.flows.begin())),
                 out ? "goes between its end points" : turn});
    }
    return table.text("  ");
  }

  std::string remedies_text(const PlannedPhase& phase) {
    const std::vector<FredFlow>& flows = phase.phase.flows;
    Table table({"remedy", "what it does"});
    table.left(1);
    std::string rounds;
    for (const FlowSet& round : phase.rounds.rounds)
      rounds += (rounds.empty() ? "" : " | ") + names(flows, round);
    std::string serialise =
        fmt::format("{} rounds{}: {}", phase.rounds.rounds.size(),
                    phase.rounds.fewest ? ", the fewest" : " (fewer were not found)", rounds);
    for (const FredLane& lane : phase.lanes) {
      if (lane.rounds > 1) continue;
      serialise += fmt::format("; in a run {} pass {} one at a time", names(flows, lane.flows),
                               slice_[lane.node].name);
    }
    if (!phase.lanes.empty() && phase.lanes.front().rounds > 1)
      serialise += "; in a run the rounds take turns";
    table.add({"serialise", serialise});
    const auto middles = middles_needed(built_, flows);
    table.add({"more_middles", middles ? fmt::format("m = {} carries all at once", *middles)
                                       : "no number of middle networks carries all at once"});
    std::string rings;
    for (const std::size_t flow : flows_to_take_out(built_, flows)) rings += ring_text(flows[flow]);
    table.add({"endpoint_ring", rings});
    table.add({"move_workers", moved_text()});
    return table.text("  ");
  }

  static std::string ring_text(const FredFlow& flow) {
    if (flow.inputs == flow.outputs) {
      const auto n = static_cast<double>(flow.inputs.size());
      return fmt::format("{} as a ring of {:.0f}, each of which sends {:.2f} of its bytes instead of 1; ",
                         flow.name, n, 2 * (n - 1) / n);
    }
    const bool cast = flow.inputs.size() == 1;
    return fmt::format("{} as a chain of {} hops instead of one {}; ", flow.name,
                       cast ? flow.outputs.size() : flow.inputs.size(), cast ? "multicast" : "sum");
  }

  /// Searched once: it is about all phases of the parallelism.
  const std::string& moved_text() {
    if (moved_) return *moved_;
    const ParallelismSpec& p = scenario_.workload.parallelism;
    if (std::uint64_t{p.mp} * p.dp * p.pp < 2) return moved_.emplace("the workload has no parallelism");
    const std::uint32_t placements = topology_.npus <= 64 ? kPlacementsTried : 10;
    const MovedWorkers moved = move_workers(built_, p, placements, scenario_.workload.placement.seed);
    if (moved.waiting != 0) {
      return moved_.emplace(
          fmt::format("none of {} placements carries all phases of mp {}, dp {}, pp {} at once", moved.tried,
                      p.mp, p.dp, p.pp));
    }
    std::string npus;
    for (const NpuId npu : moved.placement.npu_of_rank) {
      npus += fmt::format("{}{}", npus.empty() ? "" : ",", npu.value);
    }
    return moved_.emplace(
        fmt::format("all phases of mp {}, dp {}, pp {} at once with --set "
                    "'/workload/placement={{\"kind\":\"explicit\",\"npus\":[{}]}}'",
                    p.mp, p.dp, p.pp, npus));
  }

  std::string store_text() const {
    const FredConfigurations configurations = compile(routing_.plan, scenario_.wafer.fabric.fred.store_bytes);
    Table table({"switch", "network", "configurations", "bytes of each", "bytes", "room for"});
    table.left(1);
    for (std::size_t c = 0; c < configurations.chips.size(); ++c) {
      const ConfigurationStore& store = configurations.stores[c];
      const std::size_t room = configurations.store_bytes / store.entry_bytes();
      table.add({configurations.chips[c].name, name_of(configurations.chips[c].shape),
                 std::to_string(store.size()), std::to_string(store.entry_bytes()),
                 std::to_string(configurations.bytes[c]),
                 store.size() > room ? fmt::format("{}: too small", room) : std::to_string(room)});
    }
    return fmt::format("\nconfigurations, in {} bytes a switch\n", configurations.store_bytes) +
           table.text("  ");
  }

  /// What other parallelisms would find on this wafer.
  std::string survey_text() const {
    constexpr std::uint32_t kMostNpus = 32;  // so that it takes no more than a second or two
    if (topology_.npus > kMostNpus) return "";
    const std::vector<ParallelismSpec> all = parallelisms(2, topology_.npus);
    std::string text;
    for (const char* policy : {"in_order", "searched"}) {
      FredRouteOptions options;
      options.up_ports = policy;
      options.routing.name_conflicts = false;
      const RouteSurvey found = survey(built_, all, options);
      if (text.empty()) {
        text = fmt::format(
            "\nall {} (MP, DP, PP) of 2 to {} ranks in consecutive placement, {} phases, of which cannot be "
            "routed at once\n",
            all.size(), topology_.npus, found.phases);
      }
      std::vector<std::string> conflicts;
      for (const PhaseConflict& c : found.conflicts) {
        conflicts.push_back(fmt::format("{} of ({},{},{})", c.phase.name, c.parallelism.mp, c.parallelism.dp,
                                        c.parallelism.pp));
      }
      text += fmt::format("  up ports {}: {}{}{}\n", policy, conflicts.size(), conflicts.empty() ? "" : ": ",
                          join_words(conflicts, 8));
    }
    return text;
  }

  const Scenario& scenario_;
  const Topology& topology_;
  const Placement& placement_;
  const FredRouting& routing_;
  FredWafer built_;  ///< without more middle networks
  FredSlice slice_;
  std::map<std::uint32_t, std::size_t> rank_of_;
  std::optional<std::string> moved_;
};

}  // namespace

std::string describe_fred_routes(const Scenario& scenario, const Topology& topology,
                                 const Placement& placement, const Workload& workload) {
  if (topology.kind != FabricKind::kFred) return "";
  const TreeFlows trees(topology, workload.communicators);
  Scenario plain = scenario;
  plain.detail.fred_switch = "behavioural";  // a store that is too small is told here, and is no error
  const FredRouting routing(plain, topology, workload, trees);
  return RouteText(scenario, topology, placement, routing).text();
}

}  // namespace wafervp::cli
