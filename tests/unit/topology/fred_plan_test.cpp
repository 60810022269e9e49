// SPDX-License-Identifier: Apache-2.0
// Do the plans of a phase's flows keep apart what cannot be routed at once, and nothing else?
#include "topology/fred_plan.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <ctime>
#include <set>

#include "core/split_mix.h"
#include "topology/fred_configurations.h"
#include "topology/fred_slice.h"

namespace wafervp::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

PlannedPhase planned(const FredWafer& wafer, const FredPhase& phase, FredRemedy remedy) {
  return plan_phases(wafer, {phase}, remedy).phases.front();
}
FredPhase dp_of(const ParallelismSpec& p) {
  for (FredPhase& phase : fred_phases(p, consecutive_placement(p))) {
    if (phase.name == "dp") return std::move(phase);
  }
  return {};
}
/// The conflicts of the paper's wafer with two L2 chips, and of a flat one with two middle networks.
std::vector<PhaseConflict> conflicts() {
  std::vector<PhaseConflict> all = survey(paper_fred(3, 2), parallelisms(2, 20)).conflicts;
  for (PhaseConflict& conflict : survey(flat_fred(20, 2), parallelisms(2, 20)).conflicts)
    all.push_back(std::move(conflict));
  return all;
}
FredWafer wafer_of(const PhaseConflict& conflict) {
  return conflict.routes.parts.size() == 1 ? flat_fred(20, 2) : paper_fred(3, 2);
}

TEST(FredPlan, LetsAllGoWhereThereIsNoConflict) {
  const PlannedPhase phase = planned(paper_fred(3, 1), dp_of({3, 3, 2}), FredRemedy::kSerialise);
  EXPECT_FALSE(phase.conflict);
  EXPECT_THAT(phase.lanes, IsEmpty());
  ASSERT_THAT(phase.sets, SizeIs(1));
  EXPECT_THAT(phase.sets[0].flows, SizeIs(6));
}

TEST(FredPlan, KeepsTwoFlowsApartInEachConflictOfThePaper) {
  // Each of them takes two rounds, so that no flow shares with more than one other.
  const std::vector<PhaseConflict> all = conflicts();
  ASSERT_THAT(all, SizeIs(4 + 33));
  for (const PhaseConflict& conflict : all) {
    const FredWafer wafer = wafer_of(conflict);
    const PlannedPhase phase = planned(wafer, conflict.phase, FredRemedy::kSerialise);
    EXPECT_THAT(phase.rounds.rounds, SizeIs(2));
    ASSERT_THAT(phase.lanes, testing::Not(IsEmpty()));
    for (const FredLane& lane : phase.lanes) {
      EXPECT_THAT(lane.flows, SizeIs(2));
      EXPECT_EQ(lane.node, FredSlice(wafer).root());
    }
    // Whatever passes at once is routed.
    for (const PlannedPhase::Set& set : phase.sets) {
      EXPECT_EQ(route(wafer, pick(conflict.phase.flows, set.flows)).status, RoutingStatus::kRouted);
    }
  }
}

/// All-reduces of random ends of a flat switch of 20.
FredPhase random_phase(SplitMix& random) {
  FredPhase phase{"random", {}};
  std::vector<FredFlow> flows(3 + random.below(4));
  for (unsigned end = 0; end < 20; ++end) {
    FredFlow& flow = flows[random.below(static_cast<std::uint32_t>(flows.size()))];
    flow.inputs.push_back(end);
    flow.outputs.push_back(end);
  }
  for (FredFlow& flow : flows) {
    flow.name = "f" + std::to_string(phase.flows.size());
    if (!flow.inputs.empty()) phase.flows.push_back(flow);
  }
  return phase;
}

TEST(FredPlan, LetsEachChoiceOfOneALanePass) {
  SplitMix random(2);
  unsigned laned = 0, by_rounds = 0;
  for (unsigned run = 0; run < 200; ++run) {
    const FredPhase phase = random_phase(random);
    const PlannedPhase plan = planned(flat_fred(20, 2), phase, FredRemedy::kSerialise);
    if (!plan.lanes.empty() && plan.lanes.front().rounds > 1) {
      ++by_rounds;
      EXPECT_EQ(plan.sets.size(), plan.rounds.rounds.size());
      continue;
    }
    std::size_t expected = 1;
    FlowSet waiting;
    for (const FredLane& lane : plan.lanes) {
      EXPECT_LE(lane.flows.size(), plan.rounds.rounds.size());
      expected *= lane.flows.size();
      waiting.insert(waiting.end(), lane.flows.begin(), lane.flows.end());
    }
    laned += plan.lanes.empty() ? 0 : 1;
    EXPECT_THAT(plan.sets, SizeIs(expected));
    EXPECT_EQ(std::set<std::size_t>(waiting.begin(), waiting.end()).size(), waiting.size());
    std::set<FlowSet> different;
    for (const PlannedPhase::Set& set : plan.sets) {
      different.insert(set.flows);
      EXPECT_EQ(set.routes.status, RoutingStatus::kRouted);
      EXPECT_EQ(set.flows.size(), phase.flows.size() - waiting.size() + plan.lanes.size());
    }
    EXPECT_THAT(different, SizeIs(expected));
  }
  EXPECT_GT(laned, 10u);
  EXPECT_LT(by_rounds, laned);
}

TEST(FredPlan, TakesTurnsByRoundsWhereNoLanesAreFound) {
  // 15 groups of three under three levels with two middle networks: too many meet.
  FredWafer wafer;
  wafer.l1s.assign(12, FredL1{4, 0});
  wafer.up_ports = 4;
  wafer.between = {{4, 12}};
  wafer.middles = 2;
  const FredPhase dp = dp_of({5, 3, 3});
  const PlannedPhase plan = planned(wafer, dp, FredRemedy::kSerialise);
  ASSERT_TRUE(plan.conflict);
  ASSERT_THAT(plan.lanes, SizeIs(dp.flows.size()));
  ASSERT_EQ(plan.sets.size(), plan.rounds.rounds.size());
  std::vector<std::size_t> carried;
  for (const PlannedPhase::Set& set : plan.sets) {
    EXPECT_EQ(set.routes.status, RoutingStatus::kRouted);
    carried.insert(carried.end(), set.flows.begin(), set.flows.end());
  }
  std::sort(carried.begin(), carried.end());
  for (std::size_t flow = 0; flow < dp.flows.size(); ++flow) EXPECT_EQ(carried.at(flow), flow);
  for (const FredLane& lane : plan.lanes) EXPECT_EQ(lane.rounds, plan.rounds.rounds.size());
}

TEST(FredPlan, TakesMoreMiddleNetworksWhereTheyHelp) {
  const FredPlan plan = plan_phases(flat_fred(20, 2), {dp_of({3, 3, 2})}, FredRemedy::kMoreMiddles);
  EXPECT_EQ(plan.wafer.middles, 3u);
  EXPECT_FALSE(plan.phases[0].conflict);
  ASSERT_THAT(plan.warnings, SizeIs(1));
  EXPECT_THAT(plan.warnings[0], HasSubstr("all switches have 3 instead (remedy more_middles)"));
  // Two ports for each L1 on an L2 chip are too few whatever m is, and it waits.
  const FredPlan ports = plan_phases(paper_fred(3, 2), {dp_of({1, 3, 5})}, FredRemedy::kMoreMiddles);
  EXPECT_EQ(ports.wafer.middles, 3u);
  EXPECT_THAT(ports.phases[0].lanes, SizeIs(1));
  EXPECT_THAT(ports.warnings[0], HasSubstr("pass one at a time"));
}

TEST(FredPlan, TakesNoMoreGroupsOutOfTheNetworkThanItTakes) {
  for (const PhaseConflict& conflict : conflicts()) {
    const FredWafer wafer = wafer_of(conflict);
    const PlannedPhase phase = planned(wafer, conflict.phase, FredRemedy::kEndpointRing);
    EXPECT_THAT(phase.lanes, IsEmpty());
    ASSERT_THAT(phase.sets, SizeIs(1));
    const FlowSet& left = phase.sets[0].flows;
    EXPECT_EQ(left.size() + phase.out_of_network.size(), conflict.phase.flows.size());
    EXPECT_EQ(phase.sets[0].routes.status, RoutingStatus::kRouted);
    for (const std::size_t flow : phase.out_of_network) {
      FlowSet with = left;
      with.push_back(flow);
      EXPECT_NE(route(wafer, pick(conflict.phase.flows, with)).status, RoutingStatus::kRouted);
    }
  }
}

TEST(FredPlan, OfThePapersPhasesTakesLessThanTheBudget) {
  // Each run makes one: less than 200 ms for the phases of a step, here of the four with conflicts.
  for (const ParallelismSpec p : {ParallelismSpec{1, 3, 5}, {1, 4, 5}, {5, 3, 1}, {5, 4, 1}}) {
    const std::clock_t start = std::clock();
    const FredPlan plan =
        plan_phases(paper_fred(3, 2), fred_phases(p, consecutive_placement(p)), FredRemedy::kSerialise);
    EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 0.2);
    EXPECT_THAT(plan.warnings, SizeIs(1));
  }
}

/// 1024 NPUs: 128 L1s of 8, 16 L2s of 8 L1s, and the root.
FredWafer three_levels() {
  FredWafer wafer;
  wafer.l1s.assign(128, FredL1{8, 0});
  wafer.up_ports = 8;
  wafer.between = {{16, 64}};
  wafer.slices = 5;
  return wafer;
}

TEST(FredSlice, OfThreeLevelsHasItsSwitchesAndPorts) {
  const FredSlice tree(three_levels());
  EXPECT_THAT(tree.nodes(), SizeIs(128 + 16 + 1));
  EXPECT_EQ(tree[127].name, "l1_127");
  EXPECT_EQ(tree[tree[127].parent].name, "l2_15");
  EXPECT_EQ(tree[tree.root()].name, "l3");
  const auto chips = count_chips(three_levels());
  EXPECT_EQ(chips.at({16, 3}), 5 * 128u);
  EXPECT_EQ(chips.at({128, 3}), 5 * 16u);
  EXPECT_EQ(chips.at({1024, 3}), 5u);
}

TEST(FredSlice, AFlowTurnsRoundAtTheLowestSwitchOfAllItsEnds) {
  const FredSlice tree(three_levels());
  // NPUs 3 and 9 hang on the first two L1s of the first L2; NPU 1000 on another L2.
  const std::vector<FredFlow> flows = {{"low", {3, 9}, {3, 9}}, {"high", {2}, {4, 10, 1000}}};
  const std::vector<Crossing> crossing = crossings(tree, flows);
  ASSERT_THAT(crossing, SizeIs(2));
  EXPECT_TRUE(crossing[0].up[0] && crossing[0].down[0] && crossing[0].up[1]);
  EXPECT_FALSE(crossing[0].up[128] || crossing[0].down[128]);  // the first L2
  EXPECT_TRUE(crossing[1].up[0] && crossing[1].up[128]);
  EXPECT_FALSE(crossing[1].down[0] || crossing[1].down[128]);
  EXPECT_TRUE(crossing[1].down[1] && crossing[1].down[143] && crossing[1].down[125]);
  const FredRoutes routes = route(three_levels(), flows);
  ASSERT_EQ(routes.status, RoutingStatus::kRouted);
  EXPECT_THAT(routes.parts[128].flows[1].inputs, ElementsAre(1));       // from l1_0, its second up port
  EXPECT_THAT(routes.parts[128].flows[1].outputs, ElementsAre(9, 64));  // to l1_1, and up
}

class ThousandNpus : public testing::TestWithParam<ParallelismSpec> {};
TEST_P(ThousandNpus, AreRoutedWithinSeconds) {
  const std::clock_t start = std::clock();
  const FredPlan plan = plan_phases(
      three_levels(), fred_phases(GetParam(), consecutive_placement(GetParam())), FredRemedy::kSerialise);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  RecordProperty("milliseconds", static_cast<int>(1000 * seconds));
  EXPECT_LT(seconds, 5.0);
  EXPECT_THAT(plan.warnings, IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(Parallelisms, ThousandNpus,
                         testing::Values(ParallelismSpec{1, 1024, 1}, ParallelismSpec{8, 128, 1},
                                         ParallelismSpec{8, 16, 8}, ParallelismSpec{64, 8, 2}));

}  // namespace
}  // namespace wafervp::test
