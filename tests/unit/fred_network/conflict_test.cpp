// SPDX-License-Identifier: Apache-2.0
// Are the flows of a conflict named, none too few and none too many, and with what they share?
#include <gmock/gmock.h>

#include <algorithm>

#include "fred_network/routing.h"
#include "random_flows.h"

namespace wafervp::test {
namespace {

using testing::ElementsAre;
using testing::SizeIs;
using testing::UnorderedElementsAre;

Conflict conflict_of(const FredShape& shape, const std::vector<FredFlow>& flows) {
  const Routing routing = route(shape, flows);
  EXPECT_EQ(routing.status, RoutingStatus::kConflict);
  return routing.conflict.value_or(Conflict{Conflict::Kind::kUnproven, {}, 0, {}});
}
FredFlow all_reduce(const char* name, std::vector<unsigned> ports) { return {name, ports, ports}; }

TEST(ConflictOf, AnOddCycleIsNamedInItsOrder) {
  // a and b meet at μswitch 0, b and c at 1, c and d at 2, d and e at 3, e and a at 4; x meets none.
  const std::vector<FredFlow> flows = {all_reduce("x", {10, 11}), all_reduce("a", {0, 8}),
                                       all_reduce("b", {1, 2}),   all_reduce("c", {3, 4}),
                                       all_reduce("d", {5, 6}),   all_reduce("e", {7, 9})};
  const Conflict conflict = conflict_of({12, 2}, flows);
  EXPECT_EQ(conflict.kind, Conflict::Kind::kOddCycle);
  EXPECT_THAT(conflict.flows, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(conflict.shared, SizeIs(10));  // input and output side
  EXPECT_EQ(route({12, 3}, flows).status, RoutingStatus::kRouted);
}

TEST(ConflictOf, FlowsThatAllMeetIsNamedSo) {
  // Four flows, six pairs: three middle networks are not enough for any four that all meet.
  const std::vector<FredFlow> flows = {all_reduce("a", {0, 2, 4}), all_reduce("b", {1, 6, 8}),
                                       all_reduce("c", {3, 7, 10}), all_reduce("d", {5, 9, 11})};
  const Conflict conflict = conflict_of({12, 3}, flows);
  EXPECT_EQ(conflict.kind, Conflict::Kind::kClique);
  EXPECT_THAT(conflict.flows, UnorderedElementsAre(0, 1, 2, 3));
  ASSERT_THAT(conflict.shared, SizeIs(12));
  EXPECT_EQ(conflict.shared[0].first, 0u);
  EXPECT_EQ(conflict.shared[0].second, 1u);
  EXPECT_EQ(conflict.shared[0].kind, MicroSwitchKind::kReduce);
  EXPECT_EQ(conflict.shared[0].index, 0u);
  EXPECT_EQ(route({12, 4}, flows).status, RoutingStatus::kRouted);
}

TEST(ConflictOf, APortThatTwoFlowsWantIsNamed) {
  const Conflict conflict = conflict_of({8, 3}, {{"a", {0}, {5}}, {"b", {1}, {4, 6}}, {"c", {2}, {6}}});
  EXPECT_EQ(conflict.kind, Conflict::Kind::kSharedPort);
  EXPECT_THAT(conflict.flows, ElementsAre(1, 2));
  ASSERT_THAT(conflict.shared, SizeIs(1));
  EXPECT_EQ(conflict.shared[0].kind, MicroSwitchKind::kDistribute);
  EXPECT_EQ(conflict.shared[0].index, 6u);
}

TEST(ConflictOf, WhatMeetsOnlyFurtherInIsToldApart) {
  // d meets a and b on the outermost level, e meets b and c: with two colours a, b and c get the same one. In
  // their middle network each two of them meet.
  const std::vector<FredFlow> flows = {all_reduce("a", {0, 8}),  all_reduce("b", {2, 4}),
                                       all_reduce("c", {6, 10}), all_reduce("d", {1, 3}),
                                       all_reduce("e", {5, 7}),  all_reduce("x", {11})};
  const Conflict conflict = conflict_of({12, 2}, flows);
  EXPECT_EQ(conflict.kind, Conflict::Kind::kDeeper);
  EXPECT_THAT(conflict.flows, UnorderedElementsAre(0, 1, 2, 3, 4));
  const auto inner = [](const SharedPart& part) { return part.level == 1 && part.second <= 2; };
  EXPECT_EQ(std::count_if(conflict.shared.begin(), conflict.shared.end(), inner),
            6);  // three pairs, two sides
}

TEST(ConflictOf, IsALeastOne) {
  std::mt19937 random(5);
  unsigned found = 0, deeper = 0;
  for (unsigned run = 0; run < 600; ++run) {
    const FredShape shape{6 + static_cast<unsigned>(random() % 15), 2 + run % 2};
    const std::vector<FredFlow> flows = random_flows(random, shape.ports, 7);
    const Routing routing = route(shape, flows);
    if (routing.status == RoutingStatus::kRouted) continue;
    ASSERT_TRUE(routing.conflict);
    const std::vector<std::size_t>& named = routing.conflict->flows;
    ++found;
    EXPECT_FALSE(routable_by_trying_all(shape, pick(flows, named)));
    for (std::size_t without = 0; without < named.size(); ++without) {
      std::vector<std::size_t> fewer = named;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(without));
      EXPECT_TRUE(routable_by_trying_all(shape, pick(flows, fewer)));
    }
    switch (routing.conflict->kind) {
      case Conflict::Kind::kOddCycle:
        EXPECT_EQ(shape.middles, 2u);
        EXPECT_EQ(named.size() % 2, 1u);
        break;
      case Conflict::Kind::kClique:
        EXPECT_EQ(named.size(), shape.middles + 1);
        break;
      case Conflict::Kind::kDeeper:
        ++deeper;
        break;
      default:
        EXPECT_EQ(shape.middles, 3u);
    }
  }
  EXPECT_GT(found, 100u);
  EXPECT_GT(deeper, 0u);
}

}  // namespace
}  // namespace wafervp::test
