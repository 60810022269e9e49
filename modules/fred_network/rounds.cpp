// SPDX-License-Identifier: Apache-2.0
#include "fred_network/rounds.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
// smallest_last_ordering.hpp does not include all that it uses.
#include <boost/property_map/shared_array_property_map.hpp>

#include <boost/graph/smallest_last_ordering.hpp>
#include <map>
#include <numeric>
#include <optional>

namespace wafervp {
namespace {

using Graph = boost::adjacency_list<boost::setS, boost::vecS, boost::undirectedS>;
constexpr unsigned kNoRound = ~0u;

class RoundSearch {
 public:
  RoundSearch(std::size_t flows, const CanRun& can_run, const RoundBudget& budget)
      : flows_(flows), can_run_(can_run), budget_(budget), of_flow_(flows_) {}

  RoundChoice run() {
    FlowSet all(flows_);
    std::iota(all.begin(), all.end(), std::size_t{0});
    if (flows_ == 0 || runs(all)) return {{std::move(all)}, true};
    RoundChoice choice{first_fit(), false};
    for (unsigned count = 2; count < choice.rounds.size(); ++count) {
      std::optional<std::vector<FlowSet>> fewer = in_rounds(count);
      if (fewer) choice.rounds = std::move(*fewer);
      if (fewer || out_of_budget()) break;
    }
    choice.fewest = proved_ && !out_of_budget();
    return choice;
  }

 private:
  bool out_of_budget() const { return tried_ > budget_.tried || asked_ > budget_.asked; }

  bool runs(const FlowSet& set) {
    if (set.size() < 2) return true;
    const auto known = known_.find(set);
    if (known != known_.end()) return known->second;
    ++asked_;
    const RoutingStatus status = can_run_(set);
    if (status == RoutingStatus::kOutOfBudget) proved_ = false;
    return known_.emplace(set, status == RoutingStatus::kRouted).first->second;
  }

  std::vector<FlowSet> first_fit() {
    std::vector<FlowSet> rounds;
    for (std::size_t flow = 0; flow < flows_; ++flow) {
      const auto round = std::find_if(rounds.begin(), rounds.end(), [&](FlowSet& set) {
        set.push_back(flow);
        if (runs(set)) return true;
        set.pop_back();
        return false;
      });
      if (round == rounds.end()) rounds.push_back({flow});
    }
    return rounds;
  }

  /// All flows in `count` rounds; none where that cannot be, or the budget runs out.
  std::optional<std::vector<FlowSet>> in_rounds(unsigned count) {
    while (!out_of_budget()) {
      set_order();
      std::fill(of_flow_.begin(), of_flow_.end(), kNoRound);
      if (!colour(0, 0, count)) return std::nullopt;
      std::vector<FlowSet> rounds(count);
      for (std::size_t flow = 0; flow < flows_; ++flow) rounds[of_flow_[flow]].push_back(flow);
      const auto wrong =
          std::find_if(rounds.begin(), rounds.end(), [&](const FlowSet& set) { return !runs(set); });
      if (wrong == rounds.end()) {
        rounds.erase(std::remove_if(rounds.begin(), rounds.end(), [](const FlowSet& s) { return s.empty(); }),
                     rounds.end());
        return rounds;
      }
      apart_.push_back(least(*wrong));
    }
    return std::nullopt;
  }

  /// Flows that meet many others in the sets last, so that the search gives them rounds first.
  void set_order() {
    Graph graph(flows_);
    for (const FlowSet& set : apart_) {
      for (std::size_t i = 0; i < set.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) boost::add_edge(set[j], set[i], graph);
      }
    }
    const auto order = boost::smallest_last_vertex_ordering(graph);
    order_.clear();
    for (std::size_t i = 0; i < flows_; ++i) order_.push_back(order[i]);
  }

  bool colour(std::size_t done, unsigned used, unsigned count) {
    if (done == flows_) return true;
    const std::size_t flow = order_[done];
    for (unsigned round = 0; round < std::min(count, used + 1); ++round) {
      if (++tried_ > budget_.tried) return false;
      of_flow_[flow] = round;
      if (allowed(flow) && colour(done + 1, std::max(used, round + 1), count)) return true;
    }
    of_flow_[flow] = kNoRound;
    return false;
  }

  /// False when all of a set that is to be apart has the flow's round.
  bool allowed(std::size_t flow) const {
    return std::none_of(apart_.begin(), apart_.end(), [&](const FlowSet& set) {
      return std::binary_search(set.begin(), set.end(), flow) &&
             std::all_of(set.begin(), set.end(),
                         [&](std::size_t other) { return of_flow_[other] == of_flow_[flow]; });
    });
  }

  FlowSet least(FlowSet set) {
    for (std::size_t i = 0; i < set.size() && !out_of_budget();) {
      FlowSet fewer = set;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (runs(fewer)) {
        ++i;
      } else {
        set = std::move(fewer);
      }
    }
    return set;
  }

  std::size_t flows_;
  const CanRun& can_run_;
  RoundBudget budget_;
  std::uint64_t tried_ = 0, asked_ = 0;
  bool proved_ = true;
  std::map<FlowSet, bool> known_;
  std::vector<FlowSet> apart_;      ///< least sets that cannot run together
  std::vector<std::size_t> order_;  ///< in which flows get rounds
  std::vector<unsigned> of_flow_;   ///< round
};

}  // namespace

RoundChoice fewest_rounds(std::size_t flows, const CanRun& can_run, const RoundBudget& budget) {
  return RoundSearch(flows, can_run, budget).run();
}

}  // namespace wafervp
