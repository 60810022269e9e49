// SPDX-License-Identifier: Apache-2.0
// Are the rounds as few as trying all ways finds, and does the search say when it does not know?
#include "fred_network/rounds.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

namespace wafervp::test {
namespace {

using testing::SizeIs;

/// Sets that cannot run together; all others can.
using Apart = std::vector<FlowSet>;

RoutingStatus status(const Apart& apart, const FlowSet& set) {
  const bool meets = std::any_of(apart.begin(), apart.end(), [&](const FlowSet& some) {
    return std::includes(set.begin(), set.end(), some.begin(), some.end());
  });
  return meets ? RoutingStatus::kConflict : RoutingStatus::kRouted;
}
RoundChoice rounds_of(std::size_t flows, const Apart& apart, const RoundBudget& budget = {}) {
  return fewest_rounds(
      flows, [&](const FlowSet& set) { return status(apart, set); }, budget);
}

/// The least number of rounds, by trying each round for each flow.
unsigned by_trying_all(std::size_t flows, const Apart& apart) {
  for (unsigned count = 1;; ++count) {
    std::vector<unsigned> round(flows, 0);
    for (bool more = true; more;) {
      bool good = true;
      for (unsigned r = 0; r < count && good; ++r) {
        FlowSet set;
        for (std::size_t f = 0; f < flows; ++f) {
          if (round[f] == r) set.push_back(f);
        }
        good = status(apart, set) == RoutingStatus::kRouted;
      }
      if (good) return count;
      std::size_t f = 0;
      while (f < flows && ++round[f] == count) round[f++] = 0;
      more = f < flows;
    }
  }
}

TEST(Rounds, AreTheFewestOfAll) {
  std::mt19937 random(3);
  unsigned three = 0, better_than_first_fit = 0;
  for (unsigned run = 0; run < 300; ++run) {
    const std::size_t flows = 3 + random() % 5;
    Apart apart(1 + random() % 8);
    for (FlowSet& set : apart) {
      for (std::size_t f = 0; f < flows; ++f) {
        if (random() % 3 == 0) set.push_back(f);
      }
      while (set.size() < 2) {
        set = {random() % flows, random() % flows};
        std::sort(set.begin(), set.end());
        set.erase(std::unique(set.begin(), set.end()), set.end());
      }
    }
    const RoundChoice choice = rounds_of(flows, apart);
    ASSERT_EQ(choice.rounds.size(), by_trying_all(flows, apart)) << "run " << run;
    EXPECT_TRUE(choice.fewest);
    std::vector<unsigned> carried(flows);
    for (const FlowSet& round : choice.rounds) {
      EXPECT_EQ(status(apart, round), RoutingStatus::kRouted);
      for (const std::size_t flow : round) ++carried[flow];
    }
    EXPECT_EQ(carried, std::vector<unsigned>(flows, 1));
    three += choice.rounds.size() >= 3 ? 1 : 0;
    better_than_first_fit += rounds_of(flows, apart, {0, 0}).rounds.size() > choice.rounds.size() ? 1 : 0;
  }
  EXPECT_GT(three, 20u);
  EXPECT_GT(better_than_first_fit, 5u);
}

TEST(Rounds, AreFewerThanFirstFitFindsOnACrown) {
  // The classic: flows 2k and 2k + 1 are the sides of a crown graph without its rungs; first fit in this
  // order takes a round a pair, two are enough.
  Apart crown;
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < 5; ++j) {
      if (i != j) crown.push_back({std::min(2 * i, 2 * j + 1), std::max(2 * i, 2 * j + 1)});
    }
  }
  EXPECT_THAT(rounds_of(10, crown).rounds, SizeIs(2));
  const RoundChoice first_fit = rounds_of(10, crown, {0, 0});
  EXPECT_THAT(first_fit.rounds, SizeIs(5));
  EXPECT_FALSE(first_fit.fewest);
}

TEST(Rounds, AreNotProvedWhereTheAnswersAreNot) {
  const auto unknown = [](const FlowSet& set) {
    return set.size() > 2 ? RoutingStatus::kOutOfBudget : RoutingStatus::kRouted;
  };
  const RoundChoice choice = fewest_rounds(4, unknown);
  EXPECT_THAT(choice.rounds, SizeIs(2));
  EXPECT_FALSE(choice.fewest);
}

}  // namespace
}  // namespace wafervp::test
