// SPDX-License-Identifier: Apache-2.0
// Does the router find what can be routed, and only refuse what cannot?
#include "fred_network/routing.h"

#include <gmock/gmock.h>

#include <set>
#include <stdexcept>

#include "random_flows.h"

namespace wafervp::test {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

TEST(Routing, AgreesWithTryingAll) {
  unsigned conflicts = 0;
  for (const unsigned m : {2u, 3u}) {
    std::mt19937 random(m);
    for (unsigned run = 0; run < 400; ++run) {
      const FredShape shape{4 + static_cast<unsigned>(random() % 13), m};
      const std::vector<FredFlow> flows = random_flows(random, shape.ports, m == 2 ? 8 : 6);
      const Routing routing = route(shape, flows);
      const bool routable = routable_by_trying_all(shape, flows);
      ASSERT_EQ(routing.status, routable ? RoutingStatus::kRouted : RoutingStatus::kConflict)
          << name_of(shape) << ", run " << run;
      conflicts += routable ? 0 : 1;
    }
  }
  EXPECT_GT(conflicts, 50u);
}

TEST(Routing, WithTwoMiddleNetworksTakesEachPermutation) {
  // Unicast only: Fred_2(P) is rearrangeably non-blocking.
  std::mt19937 random(1);
  for (unsigned ports = 2; ports <= 24; ++ports) {
    for (unsigned run = 0; run < 40; ++run) {
      EXPECT_EQ(route({ports, 2}, random_permutation(random, ports)).status, RoutingStatus::kRouted);
    }
  }
}

TEST(Routing, WithThreeMiddleNetworksNeverMovesAUnicast) {
  // Unicast only: Fred_3(P) is strict-sense non-blocking, so that each flow keeps the first colour that it is
  // given.
  std::mt19937 random(2);
  for (unsigned ports = 2; ports <= 24; ++ports) {
    for (unsigned run = 0; run < 40; ++run) {
      const Routing routing = route({ports, 3}, random_permutation(random, ports));
      ASSERT_EQ(routing.status, RoutingStatus::kRouted);
      EXPECT_LE(routing.tried, std::uint64_t{2} * ports * levels({ports, 3}));
    }
  }
}

TEST(Routing, GivesEachFlowAMiddleNetworkALevelAndItsTree) {
  // The paper's example: an all-reduce of ports 3, 4 and 5 of an 8-port switch.
  const Routing routing = route({8, 2}, {{"f", {3, 4, 5}, {3, 4, 5}}, {"g", {0}, {0, 1, 2, 6, 7}}});
  ASSERT_EQ(routing.status, RoutingStatus::kRouted);
  ASSERT_THAT(routing.flows, SizeIs(2));
  EXPECT_THAT(routing.flows[0].middles, SizeIs(2));
  EXPECT_NE(routing.flows[0].middles[0], routing.flows[1].middles[0]);  // both have a port at D 1
  EXPECT_EQ(routing.flows[0].adds, 2u);
  EXPECT_EQ(routing.flows[0].copies, 2u);
  EXPECT_EQ(routing.flows[1].adds, 0u);
  EXPECT_EQ(routing.flows[1].copies, 3u);
}

TEST(Routing, IsTheSameEachTime) {
  std::mt19937 random(3);
  const std::vector<FredFlow> flows = random_permutation(random, 24);
  const Routing a = route({24, 2}, flows), b = route({24, 2}, flows);
  ASSERT_EQ(a.status, RoutingStatus::kRouted);
  for (std::size_t f = 0; f < flows.size(); ++f) EXPECT_EQ(a.flows[f].middles, b.flows[f].middles);
  EXPECT_EQ(a.tried, b.tried);
}

TEST(Routing, StopsAtItsBudget) {
  std::mt19937 random(3);
  const Routing routing = route({24, 2}, random_permutation(random, 24), {10});
  EXPECT_EQ(routing.status, RoutingStatus::kOutOfBudget);
  ASSERT_TRUE(routing.conflict);
  EXPECT_EQ(routing.conflict->kind, Conflict::Kind::kUnproven);
  EXPECT_LE(routing.tried, 11u);
}

TEST(Routing, OfNothingIsRouted) {
  const Routing routing = route({8, 3}, {});
  EXPECT_EQ(routing.status, RoutingStatus::kRouted);
  EXPECT_EQ(configure(FredNetwork({8, 3}), {}, routing),
            ConfigurationBits(FredNetwork({8, 3}).configuration_bits()));
}

TEST(Routing, RefusesWhatIsNoFlow) {
  EXPECT_THROW(route({8, 3}, {{"f", {8}, {0}}}), std::invalid_argument);
  EXPECT_THROW(route({1, 3}, {}), std::invalid_argument);
  const Routing routing = route({8, 3}, {{"f", {0}, {0}}});
  EXPECT_THROW(configure(FredNetwork({8, 3}), {}, routing), std::invalid_argument);
}

/// n flows, each of which has a port at an input μswitch with each other one.
std::vector<FredFlow> all_meet(unsigned n) {
  std::vector<FredFlow> flows(n);
  unsigned port = 0;
  for (unsigned a = 0; a < n; ++a) {
    flows[a].name = "f" + std::to_string(a);
    for (unsigned b = a + 1; b < n; ++b) {
      flows[a].inputs.push_back(port++);
      flows[b].inputs.push_back(port++);
    }
  }
  for (FredFlow& flow : flows) flow.outputs = flow.inputs;
  return flows;
}

TEST(Serialise, PutsAsManyIntoARoundAsThereAreMiddleNetworks) {
  for (const unsigned m : {2u, 3u, 4u}) {
    for (const unsigned n : {3u, 4u, 5u, 6u}) {
      const std::vector<Round> rounds = serialise({n * (n - 1), m}, all_meet(n));
      EXPECT_THAT(rounds, SizeIs((n + m - 1) / m)) << n << " flows, m = " << m;
      std::multiset<std::size_t> carried;
      for (const Round& round : rounds) carried.insert(round.flows.begin(), round.flows.end());
      EXPECT_THAT(carried, SizeIs(n));
      EXPECT_EQ(carried.count(0), 1u);
    }
  }
}

TEST(Serialise, LetsFlowsThatShareAPortTakeTurns) {
  // 18 multicasts to the same ports can only come one after the other.
  std::vector<FredFlow> flows;
  for (unsigned source = 0; source < 18; ++source) flows.push_back({"io", {4 + source}, {0, 1, 2, 3}});
  EXPECT_THAT(serialise({22, 3}, flows), SizeIs(18));
  flows = {{"a", {0}, {1}}, {"b", {2}, {1}}, {"c", {3}, {2}}};
  const std::vector<Round> rounds = serialise({4, 2}, flows);
  ASSERT_THAT(rounds, SizeIs(2));
  EXPECT_THAT(rounds[0].flows, ElementsAre(0, 2));
  EXPECT_THAT(rounds[1].flows, ElementsAre(1));
}

}  // namespace
}  // namespace wafervp::test
