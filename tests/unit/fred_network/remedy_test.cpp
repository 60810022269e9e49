// SPDX-License-Identifier: Apache-2.0
// Does each remedy end the conflict in its own way, and carry everything?
#include "fred_network/remedy.h"

#include <gmock/gmock.h>

#include <set>
#include <stdexcept>

#include "fred_network/evaluate.h"
#include "fred_network/report.h"
#include "random_flows.h"

namespace wafervp::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

FredFlow all_reduce(const char* name, std::vector<unsigned> ports) { return {name, ports, ports}; }

/// Three all-reduces in a circle, which two middle networks cannot carry, and one beside them.
std::vector<FredFlow> circle() {
  return {all_reduce("a", {0, 5, 6}), all_reduce("b", {1, 2}), all_reduce("c", {3, 4}),
          all_reduce("x", {8, 9})};
}
constexpr FredShape kTwo{10, 2};

Remedied apply(const char* name, const FredShape& shape, const std::vector<FredFlow>& flows) {
  return make_remedy(name)->apply(shape, flows, {});
}

TEST(Remedy, LeavesFlowsAloneThatFit) {
  for (const std::string& name : remedy_names()) {
    const Remedied result = apply(name.c_str(), {10, 3}, circle());
    EXPECT_THAT(result.rounds, SizeIs(1)) << name;
    EXPECT_THAT(result.flows, SizeIs(4)) << name;
    EXPECT_THAT(result.notes, IsEmpty()) << name;
    EXPECT_EQ(result.shape, (FredShape{10, 3})) << name;
  }
}

TEST(Remedy, SerialisesInRounds) {
  const Remedied result = apply("serialise", kTwo, circle());
  ASSERT_THAT(result.rounds, SizeIs(2));
  EXPECT_THAT(result.rounds[0].flows, ElementsAre(0, 1, 3));
  EXPECT_THAT(result.rounds[1].flows, ElementsAre(2));
  EXPECT_THAT(result.notes, ElementsAre("round 2 of 2 carries c"));
}

TEST(Remedy, TakesMoreMiddleNetworks) {
  const Remedied result = apply("more_middles", kTwo, circle());
  EXPECT_EQ(result.shape, (FredShape{10, 3}));
  EXPECT_THAT(result.rounds, SizeIs(1));
  EXPECT_THAT(result.notes, ElementsAre("Fred3(10) instead of Fred2(10) carries all flows at once"));
}

TEST(Remedy, LetsAFlowGoBetweenItsEndPointsThatEndsTheConflict) {
  // The ring of b has the hops 1->3, 3->4, 4->7, 7->1: two meet a only, two meet c only, and a meets c: no
  // circle of an odd number. A ring of a, or of c, has a hop that meets both others, which meet each other.
  const std::vector<FredFlow> flows = {all_reduce("a", {0, 9}), all_reduce("b", {1, 3, 4, 7}),
                                       all_reduce("c", {5, 8})};
  const Remedied result = apply("endpoint_ring", kTwo, flows);
  EXPECT_THAT(result.rounds, SizeIs(1));
  EXPECT_THAT(result.notes, ElementsAre("b goes between its end points, in 4 unicasts"));
  ASSERT_THAT(result.flows, SizeIs(6));
  EXPECT_EQ(result.flows[1].name, "b 1->3");
  EXPECT_EQ(result.flows[4].name, "b 7->1");
  EXPECT_THAT(result.flows[4].inputs, ElementsAre(7));
  EXPECT_THAT(result.flows[4].outputs, ElementsAre(1));
}

TEST(Remedy, TakesAllFlowsApartWhereFewerDoNotHelp) {
  // Each of the three has two ports that meet the others next to each other in its ring.
  EXPECT_THAT(apply("endpoint_ring", kTwo, circle()).notes, SizeIs(3));
}

/// The hops that replace flow `name` go from one of `inputs` past `ports` ports to one of `outputs`.
void expect_chain(const Remedied& result, const std::string& name, const FredFlow& flow, std::size_t ports) {
  std::vector<FredFlow> hops;
  for (const FredFlow& hop : result.flows) {
    if (hop.name.rfind(name + " ", 0) == 0) hops.push_back(hop);
  }
  ASSERT_THAT(hops, SizeIs(ports - 1));
  EXPECT_THAT(flow.inputs, testing::Contains(hops.front().inputs[0]));
  EXPECT_THAT(flow.outputs, testing::Contains(hops.back().outputs[0]));
  for (std::size_t i = 1; i < hops.size(); ++i) EXPECT_EQ(hops[i].inputs, hops[i - 1].outputs);
}

TEST(Remedy, MakesChainsOfMulticastsAndReductions) {
  const std::vector<FredFlow> reduces = {
      {"a", {0, 5, 6}, {11}}, {"b", {1, 2, 7}, {8}}, {"c", {3, 4, 9}, {4}}};
  const Remedied reduced = apply("endpoint_ring", {12, 2}, reduces);
  EXPECT_THAT(reduced.rounds, SizeIs(1));
  EXPECT_THAT(reduced.notes, testing::Not(IsEmpty()));
  for (const FredFlow& flow : reduces) {
    if (reduced.notes.front().rfind(flow.name, 0) != 0) continue;
    expect_chain(reduced, flow.name, flow, flow.name == "c" ? 3 : 4);
  }
  std::vector<FredFlow> multicasts = reduces;
  for (FredFlow& flow : multicasts) std::swap(flow.inputs, flow.outputs);
  const Remedied copied = apply("endpoint_ring", {12, 2}, multicasts);
  EXPECT_THAT(copied.rounds, SizeIs(1));
  EXPECT_THAT(copied.notes, testing::Not(IsEmpty()));
  for (const FredFlow& flow : multicasts) {
    if (copied.notes.front().rfind(flow.name, 0) != 0) continue;
    expect_chain(copied, flow.name, flow, flow.name == "c" ? 3 : 4);
  }
}

TEST(Remedy, SerialisesWhatCannotBeHelpedOtherwise) {
  // Two multicasts to the same ports: neither more middle networks nor chains change that.
  const std::vector<FredFlow> flows = {{"a", {0}, {4, 5}}, {"b", {1}, {4, 5}}};
  for (const std::string& name : remedy_names()) {
    const Remedied result = apply(name.c_str(), kTwo, flows);
    EXPECT_THAT(result.rounds, SizeIs(2)) << name;
    EXPECT_EQ(result.shape, kTwo) << name;
  }
}

TEST(Remedy, EndsEachConflictOfAllReduces) {
  // Unicasts can always be routed, and each flow has a middle network of its own when there are enough.
  std::mt19937 random(11);
  unsigned conflicts = 0;
  for (unsigned run = 0; run < 800; ++run) {
    const FredShape shape{6 + static_cast<unsigned>(random() % 19), 2};
    std::vector<FredFlow> flows = random_flows(random, shape.ports, 12);
    for (FredFlow& flow : flows) flow.outputs = flow.inputs;
    if (route(shape, flows).status == RoutingStatus::kRouted) continue;
    ++conflicts;
    EXPECT_THAT(apply("endpoint_ring", shape, flows).rounds, SizeIs(1));
    const Remedied wider = apply("more_middles", shape, flows);
    EXPECT_THAT(wider.rounds, SizeIs(1));
    EXPECT_GT(wider.shape.middles, 2u);
    std::set<std::size_t> carried;
    for (const Round& round : apply("serialise", shape, flows).rounds) {
      carried.insert(round.flows.begin(), round.flows.end());
    }
    EXPECT_THAT(carried, SizeIs(flows.size()));
  }
  EXPECT_GT(conflicts, 100u);
}

TEST(Remedy, OfAnotherNameIsRefused) { EXPECT_THROW(make_remedy("pray"), std::invalid_argument); }

TEST(Report, TellsWhoMeetsWhere) {
  const std::vector<FredFlow> flows = circle();
  const Routing failed = route(kTwo, flows);
  ASSERT_TRUE(failed.conflict);
  const std::string text = describe(kTwo, flows, *failed.conflict);
  EXPECT_THAT(text,
              HasSubstr("Fred2(10): 3 flows in a circle, an odd number, need 3 middle networks, and there "
                        "are 2\n"));
  EXPECT_THAT(text, HasSubstr("  b: 1, 2 -> 1, 2\n"));
  EXPECT_THAT(text, HasSubstr("  a and b meet at R and D 0 (0, 1)\n"));
  EXPECT_THAT(text, HasSubstr("  a and c meet at R and D 2 (4, 5)\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("x")));
  const Routing routed = route({10, 3}, flows);
  EXPECT_THAT(describe(flows, routed, {"npu0"}),
              HasSubstr("  a: npu0, 5, 6 -> npu0, 5, 6; middle networks "));
  EXPECT_THAT(describe(flows, routed), HasSubstr("; adds 2 deep; copies 2 deep\n"));
}

TEST(Report, TellsWhichPortTwoFlowsWant) {
  const std::vector<FredFlow> flows = {{"a", {0}, {4, 5}}, {"b", {1}, {5}}};
  EXPECT_EQ(describe(kTwo, flows, *route(kTwo, flows).conflict, {"n0", "n1", "n2", "n3", "n4", "n5"}),
            "Fred2(10): 2 flows want one port\n"
            "  a: n0 -> n4, n5\n"
            "  b: n1 -> n5\n"
            "  a and b meet at output port n5\n");
}

}  // namespace
}  // namespace wafervp::test
