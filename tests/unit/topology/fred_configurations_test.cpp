// SPDX-License-Identifier: Apache-2.0
// Do the chips' stores hold what a training step needs, and is a full one named?
#include "topology/fred_configurations.h"

#include <gmock/gmock.h>

namespace wafervp::test {
namespace {

using testing::SizeIs;

FredConfigurations compiled(const FredWafer& wafer, const ParallelismSpec& p,
                            std::size_t bytes = ConfigurationStore::kPaperBytes) {
  return compile(plan_phases(wafer, fred_phases(p, consecutive_placement(p)), FredRemedy::kSerialise), bytes);
}

TEST(FredConfigurations, OfTransformer17BFitIntoThePapersStore) {
  const FredConfigurations configurations = compiled(paper_fred(3, 1), {3, 3, 2});
  ASSERT_THAT(configurations.phases, SizeIs(4));
  ASSERT_THAT(configurations.stores, SizeIs(6));
  for (const CompiledPhase& phase : configurations.phases)
    EXPECT_THAT(phase.entries, SizeIs(1)) << phase.name;
  for (std::size_t chip = 0; chip < 6; ++chip) {
    // Entries of 39 bytes (309 or 305 bits) in L1 and 119 bytes (947 bits) in a 20-port L2.
    EXPECT_EQ(configurations.stores[chip].entry_bytes(), chip < 5 ? 39u : 119u);
    EXPECT_LE(configurations.stores[chip].size(), 4u);
  }
  // (3, 3, 2) on L1s of four: groups of MP, DP and PP all have members on two L1s somewhere.
  EXPECT_EQ(configurations.stores[5].size(), 4u);
  EXPECT_EQ(configurations.bytes[5], 4 * 119u);
  EXPECT_NO_THROW(check_stores(configurations));
}

TEST(FredConfigurations, AreNotThereForChipsWithoutWork) {
  // MP(4) stays inside the L1s.
  const FredConfigurations configurations = compiled(paper_fred(3, 2), {4, 1, 1});
  const auto& entries = configurations.phases.front().entries.front();
  EXPECT_TRUE(entries[0]);
  for (std::size_t chip = 1; chip < 7; ++chip) EXPECT_FALSE(entries[chip]);
}

TEST(FredConfigurations, TakeAnEntryASet) {
  // With two middle networks two pairs of groups of DP pass one at a time: a configuration for each choice.
  const FredConfigurations configurations = compiled(flat_fred(20, 2), {3, 3, 2});
  const auto& entries = configurations.phases[1].entries;
  ASSERT_THAT(entries, SizeIs(4));
  for (std::size_t set = 1; set < 4; ++set) EXPECT_NE(entries[0][0], entries[set][0]);
  EXPECT_EQ(configurations.stores[0].size(), 3 + 4u);
}

TEST(FredConfigurations, ThatFindNoRoomNameChipPhaseAndBytes) {
  try {
    check_stores(compiled(flat_fred(20, 3), {3, 3, 2}, 300));  // two of 947 bits
    FAIL() << "the store took four configurations";
  } catch (const ConfigurationStoreFull& full) {
    EXPECT_STREQ(
        full.what(),
        "switch l1_0, Fred3(20): no room for phase pp_forward: expected at most 300 bytes, which hold 2 "
        "configurations of 119 bytes, found 4 of them, 476 bytes");
  }
}

}  // namespace
}  // namespace wafervp::test
