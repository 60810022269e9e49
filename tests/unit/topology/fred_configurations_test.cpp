// SPDX-License-Identifier: Apache-2.0
// Do the chips' stores hold what a training step needs, and is a full one named?
#include "topology/fred_configurations.h"

#include <gmock/gmock.h>

#include <set>

namespace wafervp::test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

std::vector<FredPhase> phases_of(const ParallelismSpec& p) {
  return fred_phases(p, consecutive_placement(p));
}

TEST(FredConfigurations, OfTransformer17BFitIntoThePapersStore) {
  const FredConfigurations configurations = compile(paper_fred(3, 1), phases_of({3, 3, 2}));
  ASSERT_THAT(configurations.phases, SizeIs(4));
  ASSERT_THAT(configurations.stores, SizeIs(6));
  for (const CompiledPhase& phase : configurations.phases) EXPECT_THAT(phase.rounds, SizeIs(1)) << phase.name;
  for (std::size_t chip = 0; chip < 6; ++chip) {
    // 1536 bytes over entries of 39 bytes (309 or 305 bits) in L1 and 119 bytes (947 bits) in a 20-port L2.
    EXPECT_EQ(configurations.stores[chip].capacity(), chip < 5 ? 39u : 12u);
    EXPECT_LE(configurations.stores[chip].size(), 4u);
  }
  // (3, 3, 2) on L1s of four: groups of MP, DP and PP all have members on two L1s somewhere.
  EXPECT_EQ(configurations.stores[5].size(), 4u);
}

TEST(FredConfigurations, AreNotThereForChipsWithoutWork) {
  // MP(4) stays inside the L1s.
  const FredConfigurations configurations = compile(paper_fred(3, 2), phases_of({4, 1, 1}));
  const CompiledRound& round = configurations.phases.front().rounds.front();
  EXPECT_TRUE(round.entries[0]);
  for (std::size_t chip = 1; chip < 7; ++chip) EXPECT_FALSE(round.entries[chip]);
}

TEST(FredConfigurations, TakeAnEntryARound) {
  // With two middle networks DP takes two rounds, which carry each group once.
  const FredConfigurations configurations = compile(flat_fred(20, 2), phases_of({3, 3, 2}));
  const CompiledPhase& dp = configurations.phases[1];
  ASSERT_THAT(dp.rounds, SizeIs(2));
  std::multiset<std::size_t> carried;
  for (const CompiledRound& round : dp.rounds) carried.insert(round.flows.begin(), round.flows.end());
  EXPECT_THAT(carried, testing::ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(configurations.stores[0].size(), 5u);
}

TEST(FredConfigurations, ThatFindNoRoomNameTheChip) {
  try {
    compile(flat_fred(20, 3), phases_of({3, 3, 2}), {}, 300);  // two of 947 bits
    FAIL() << "the store took three configurations";
  } catch (const ConfigurationStoreFull& full) {
    EXPECT_STREQ(
        full.what(),
        "l1_0, Fred3(20): the configuration store is full: 300 bytes hold 2 configurations of 119 bytes");
  }
}

}  // namespace
}  // namespace wafervp::test
