// SPDX-License-Identifier: Apache-2.0
// Does the search find up ports where there are any, and is it right that there are none where it says so?
#include <gmock/gmock.h>

#include <functional>

#include "core/split_mix.h"
#include "topology/up_ports.h"

namespace wafervp::test {
namespace {

/// Up to four flows with random ends, of which no two flows have one in common.
std::vector<FredFlow> random_flows(SplitMix& random, unsigned ends) {
  std::vector<FredFlow> flows(1 + random.below(4));
  const bool all_reduces = random.below(2) == 0;
  for (unsigned end = 0; end < ends; ++end) {
    flows[random.below(static_cast<std::uint32_t>(flows.size()))].inputs.push_back(end);
    flows[random.below(static_cast<std::uint32_t>(flows.size()))].outputs.push_back(end);
  }
  std::vector<FredFlow> whole;
  for (FredFlow& flow : flows) {
    if (all_reduces) flow.outputs = flow.inputs;
    if (!flow.inputs.empty() && !flow.outputs.empty()) whole.push_back(std::move(flow));
  }
  return whole;
}

/// Tries each up port for each way up and each way down, and routes each assignment that has one L2 chip a
/// flow.
class TryingAll {
 public:
  TryingAll(const FredWafer& wafer, const std::vector<FredFlow>& flows)
      : wafer_(wafer), flows_(flows), crossings_(crossings(wafer, flows)) {
    const auto l1s = static_cast<unsigned>(wafer.l1s.size());
    ports_.up.assign(crossings_.size(), std::vector<unsigned>(l1s));
    ports_.down = ports_.up;
    for (std::size_t c = 0; c < crossings_.size(); ++c) {
      for (unsigned l1 = 0; l1 < l1s; ++l1) {
        if (crossings_[c].up[l1]) ways_.push_back({c, l1, true});
        if (crossings_[c].down[l1]) ways_.push_back({c, l1, false});
      }
    }
  }
  bool any() { return from(0); }

 private:
  struct Way {
    std::size_t crossing;
    unsigned l1;
    bool up;
  };
  unsigned& port(const Way& way) { return (way.up ? ports_.up : ports_.down)[way.crossing][way.l1]; }

  bool from(std::size_t next) {
    if (next == ways_.size()) return routable(wafer_, flows_, crossings_, ports_, {});
    const Way& way = ways_[next];
    for (unsigned candidate = 0; candidate < wafer_.up_ports; ++candidate) {
      bool free = true;
      for (std::size_t w = 0; w < next && free; ++w) {
        const unsigned each = wafer_.up_ports / wafer_.l2_chips;
        const bool same_lane = ways_[w].l1 == way.l1 && ways_[w].up == way.up && port(ways_[w]) == candidate;
        const bool other_chip =
            ways_[w].crossing == way.crossing && port(ways_[w]) / each != candidate / each;
        free = !same_lane && !other_chip;
      }
      port(way) = candidate;
      if (free && from(next + 1)) return true;
    }
    return false;
  }

  const FredWafer& wafer_;
  const std::vector<FredFlow>& flows_;
  std::vector<Crossing> crossings_;
  UpPorts ports_;
  std::vector<Way> ways_;
};

TEST(UpPortSearch, AgreesWithTryingAll) {
  SplitMix random(4);
  unsigned none = 0;
  for (unsigned run = 0; run < 1500; ++run) {
    // Some L1s with an I/O controller, so that ports 2k and 2k + 1 are not always up ports together.
    FredWafer wafer{{}, 2 + 2 * (run % 2), 1 + random.below(2), 2, 1, {}};
    for (unsigned l1 = 0; l1 < 3; ++l1) wafer.l1s.push_back({2, random.below(2)});
    const std::vector<FredFlow> flows = random_flows(random, 6);
    const std::vector<Crossing> crossing = crossings(wafer, flows);
    const UpPortChoice choice = make_up_port_policy("searched_apart")->choose(wafer, flows, crossing, {});
    const bool found = choice.ports && routable(wafer, flows, crossing, *choice.ports, {});
    ASSERT_EQ(found, TryingAll(wafer, flows).any()) << "run " << run;
    EXPECT_EQ(choice.proved, !found);
    none += found ? 0 : 1;
  }
  EXPECT_GT(none, 20u);
}

}  // namespace
}  // namespace wafervp::test
