// SPDX-License-Identifier: Apache-2.0
// Does the store of configurations hold what its bytes allow, and no more?
#include "fred_network/store.h"

#include <gmock/gmock.h>

#include "fred_network/network.h"

namespace wafervp::test {
namespace {

TEST(Store, HoldsWhatItsBytesAllow) {
  ConfigurationStore store(20, 10);  // 3 bytes each
  EXPECT_EQ(store.entry_bytes(), 3u);
  EXPECT_EQ(store.capacity(), 3u);
  for (unsigned i = 0; i < 3; ++i) {
    ConfigurationBits bits(20);
    bits.set(17, 3, i);
    EXPECT_EQ(store.add(bits), i);
    EXPECT_EQ(store.add(bits), i);  // the same again
  }
  EXPECT_EQ(store.size(), 3u);
  EXPECT_EQ(store[2].get(17, 3), 2u);
  ConfigurationBits further(20);
  further.set(0, 1, 1);
  EXPECT_THROW(store.add(further), ConfigurationStoreFull);
  EXPECT_THROW(store.add(ConfigurationBits(19)), std::invalid_argument);
}

TEST(Store, OfThePapersSwitchesHoldsADozenPhasesOfATrainingStep) {
  // An R or D with m = 3 has (m + 1)^2 = 16 states, an RD 8, a (de)multiplexer 4. Fred3(12): 12 + 18 + 18 R
  // and D, 27 RD, 9 pairs of (de)multiplexers.
  const FredNetwork l1({12, 3});
  EXPECT_EQ(l1.configuration_bits(), 48u * 4 + 27u * 3 + 18u * 2);
  const ConfigurationStore store(l1.configuration_bits());
  EXPECT_EQ(store.entry_bytes(), 39u);
  EXPECT_EQ(store.capacity(), 39u);
  // With the three bits a μswitch that six modes of a 2 x 2 switch need, and no (de)multiplexers: 28 to 29
  // bytes and about 50 phases, as derived from the prototype.
  const ConfigurationStore estimate(std::size_t{3} * l1.micro_switches());
  EXPECT_EQ(estimate.entry_bytes(), 29u);
  EXPECT_EQ(estimate.capacity(), 52u);
}

}  // namespace
}  // namespace wafervp::test
