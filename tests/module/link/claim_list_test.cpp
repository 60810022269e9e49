// SPDX-License-Identifier: Apache-2.0
// The claims of one input port.
#include "link/claim_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>
#include <vector>

#include "link/lane.h"

namespace wafervp::test {
namespace {

/// Claims of `lanes`, and what a plain sort makes of them.
class Port {
 public:
  explicit Port(std::size_t lanes) : lanes_(lanes), ages_(lanes, kNever), places_(lanes, 0) {}

  void put(std::size_t k, Time age, bool forget_place) {
    const Claim claim{age, age, &lanes_[k], FlowId(static_cast<std::uint32_t>(k)), 1};
    if (forget_place) places_[k] = 1000;  // a place is a hint only
    places_[k] = ages_[k] == kNever ? list_.insert(claim, arena_)
                                    : list_.move(claim, list_.find(lanes_[k], places_[k]));
    ages_[k] = age;
    EXPECT_EQ(list_[places_[k]].lane, &lanes_[k]);
  }
  void erase(std::size_t k) {
    if (ages_[k] == kNever) return;
    list_.erase(list_.find(lanes_[k], places_[k]));
    ages_[k] = kNever;
  }
  void expect_sorted() const {
    std::vector<std::tuple<Time, std::uint32_t>> expected, found;
    for (std::uint32_t k = 0; k < ages_.size(); ++k) {
      if (ages_[k] != kNever) expected.emplace_back(ages_[k], k);
    }
    std::sort(expected.begin(), expected.end());
    for (const Claim& claim : list_) found.emplace_back(claim.age, claim.id.value);
    ASSERT_EQ(found, expected);
  }

 private:
  Arena arena_;
  ClaimList list_;
  std::vector<Lane> lanes_;
  std::vector<Time> ages_;  ///< kNever: no claim
  std::vector<std::uint32_t> places_;
};

TEST(ClaimList, KeepsTheOldestInFrontAndOfTwoTheLowerFlow) {
  Port port(100);
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t k = random() % 100;
    if (random() % 4 == 0) {
      port.erase(k);
    } else {
      port.put(k, random() % 50, random() % 8 == 0);
    }
    port.expect_sorted();
  }
}

}  // namespace
}  // namespace wafervp::test
