// SPDX-License-Identifier: Apache-2.0
#include "topology/fred_lanes.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace wafervp {
namespace {

constexpr std::size_t kMostSets = 256;  ///< of a choice that is looked at

class LaneSearch {
 public:
  LaneSearch(std::size_t flows, std::uint64_t most_checks, const CanRun& can_run,
             const std::function<bool(std::size_t, std::size_t)>& meet)
      : most_checks_(most_checks), can_run_(can_run), meet_(meet) {
    for (std::size_t flow = 0; flow < flows; ++flow) lanes_.push_back({flow});
  }

  /// Lanes of at most `size` flows, with `merges` flows less than all free.
  bool find(std::size_t size, std::size_t merges) {
    if (++checks_ > most_checks_) return false;
    const std::optional<FlowSet> wrong = first_wrong();
    if (!wrong) return true;
    if (merges == 0) return false;
    const FlowSet core = least(*wrong);
    for (std::size_t i = 0; i < core.size(); ++i) {
      for (std::size_t j = i + 1; j < core.size(); ++j) {
        const std::vector<FlowSet> before = lanes_;
        if (merge(core[i], core[j], size) && find(size, merges - 1)) return true;
        lanes_ = before;
      }
    }
    return false;
  }
  bool gave_up() const { return checks_ > most_checks_; }

  LaneChoice choice() const {
    LaneChoice result;
    for (const FlowSet& lane : lanes_) {
      if (lane.size() > 1) result.lanes.push_back(lane);
    }
    std::vector<std::size_t> at(lanes_.size(), 0);
    do {
      result.sets.push_back(set_of(at));
    } while (next(at));
    return result;
  }

 private:
  std::size_t sets() const {
    std::size_t product = 1;
    for (const FlowSet& lane : lanes_) product = std::min(kMostSets + 1, product * lane.size());
    return product;
  }
  FlowSet set_of(const std::vector<std::size_t>& at) const {
    FlowSet set;
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) set.push_back(lanes_[lane][at[lane]]);
    std::sort(set.begin(), set.end());
    return set;
  }
  bool next(std::vector<std::size_t>& at) const {
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      if (++at[lane] < lanes_[lane].size()) return true;
      at[lane] = 0;
    }
    return false;
  }
  bool runs(const FlowSet& set) const { return can_run_(set) == RoutingStatus::kRouted; }

  std::optional<FlowSet> first_wrong() const {
    std::vector<std::size_t> at(lanes_.size(), 0);
    if (sets() > kMostSets) return set_of(at);
    do {
      FlowSet set = set_of(at);
      if (!runs(set)) return set;
    } while (next(at));
    return std::nullopt;
  }
  FlowSet least(FlowSet set) const {
    for (std::size_t i = 0; i < set.size();) {
      FlowSet fewer = set;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (fewer.size() < 2 || runs(fewer)) {
        ++i;
      } else {
        set = std::move(fewer);
      }
    }
    return set;
  }

  /// Joins the lanes of two flows; false where they do not all meet, or would be more than `size`.
  bool merge(std::size_t a, std::size_t b, std::size_t size) {
    const auto lane_of = [&](std::size_t flow) {
      return std::find_if(lanes_.begin(), lanes_.end(), [&](const FlowSet& lane) {
        return std::find(lane.begin(), lane.end(), flow) != lane.end();
      });
    };
    const auto first = lane_of(a), second = lane_of(b);
    if (first == second || first->size() + second->size() > size) return false;
    for (const std::size_t one : *first) {
      for (const std::size_t other : *second) {
        if (!meet_(one, other)) return false;
      }
    }
    first->insert(first->end(), second->begin(), second->end());
    std::sort(first->begin(), first->end());
    lanes_.erase(second);
    return true;
  }

  std::uint64_t most_checks_;
  const CanRun& can_run_;
  const std::function<bool(std::size_t, std::size_t)>& meet_;
  std::vector<FlowSet> lanes_;
  std::uint64_t checks_ = 0;
};

}  // namespace

std::optional<LaneChoice> choose_lanes(std::size_t flows, std::size_t rounds, std::uint64_t most_checks,
                                       const CanRun& can_run,
                                       const std::function<bool(std::size_t, std::size_t)>& meet) {
  LaneSearch search(flows, most_checks, can_run, meet);
  for (std::size_t merges = 0; merges < flows && !search.gave_up(); ++merges) {
    if (search.find(rounds, merges)) return search.choice();
  }
  return std::nullopt;
}

}  // namespace wafervp
