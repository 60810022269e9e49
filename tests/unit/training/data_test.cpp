// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "training/data_source.h"

namespace wafervp::training {
namespace {

ModelConfig long_sequences() {
  ModelConfig model;
  model.tokens = 4000;
  model.sequences = 20;
  return model;
}

TEST(Chain, HasTheEntropyOfItsOdds) {
  const auto chain = make_chain({}, 1);
  const double expected =
      -(0.6 * std::log(0.6) + 0.2 * std::log(0.2) + 0.15 * std::log(0.15) + 0.05 * std::log(0.05));
  EXPECT_NEAR(chain->entropy_floor(), expected, 1e-14);
  EXPECT_NEAR(expected, 1.0627, 1e-4);
  EXPECT_EQ(chain->vocabulary(), 64u);
}

TEST(Chain, GivesEachContextFourSuccessorsWithTheseOdds) {
  const auto chain = make_chain(long_sequences(), 1);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<std::uint32_t, int>> seen;
  std::size_t count = 0;
  for (std::size_t m = 0; m < 4; ++m) {
    const TokenBatch batch = chain->batch(0, 0, m);
    for (std::size_t i = 1; i < batch.ids.size(); ++i) {
      if (i % 4000 == 0) continue;  // the token before the first one is not in the batch
      ++seen[{batch.ids[i - 1] % kChainClasses, batch.ids[i]}][batch.targets[i]];
      ++count;
    }
  }
  EXPECT_GT(seen.size(), kChainClasses * 60);  // some tokens are no context's successor
  EXPECT_LE(seen.size(), kChainClasses * 64);
  // Sorted by frequency, the shares of the successors over all contexts are the odds.
  std::vector<double> shares(4);
  for (const auto& [context, successors] : seen) {
    ASSERT_LE(successors.size(), 4u);
    std::vector<int> sorted;
    for (const auto& [token, times] : successors) sorted.push_back(times);
    std::sort(sorted.rbegin(), sorted.rend());
    for (std::size_t i = 0; i < sorted.size(); ++i) shares[i] += sorted[i] / static_cast<double>(count);
  }
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(shares[i], kChainOdds[i], 0.01);
}

TEST(Chain, IsOfSecondOrder) {
  // The last token alone leaves more than four successors.
  const auto chain = make_chain(long_sequences(), 1);
  const TokenBatch batch = chain->batch(0, 0, 0);
  std::map<std::uint32_t, std::set<std::uint32_t>> successors;
  for (std::size_t i = 0; i < batch.ids.size(); ++i) successors[batch.ids[i]].insert(batch.targets[i]);
  std::size_t more = 0;
  for (const auto& [token, set] : successors) more += set.size() > 8;
  EXPECT_GT(more, 60u);
}

TEST(Data, FollowsFromSeedAndPlaceAlone) {
  for (const auto& make : {make_chain, make_text}) {
    const auto one = make({}, 1), again = make({}, 1), other = make({}, 2);
    const TokenBatch batch = one->batch(5, 1, 2);
    one->batch(3, 0, 0);
    EXPECT_EQ(one->batch(5, 1, 2).ids, batch.ids);
    EXPECT_EQ(again->batch(5, 1, 2).ids, batch.ids);
    EXPECT_EQ(again->batch(5, 1, 2).targets, batch.targets);
    for (const auto& different : {one->batch(6, 1, 2), one->batch(5, 2, 2), one->batch(5, 1, 3),
                                  one->batch(5, 2, 1), other->batch(5, 1, 2)})
      EXPECT_NE(different.ids, batch.ids);
  }
}

TEST(Data, TargetsAreTheTokensThatFollow) {
  const ModelConfig model;
  for (const auto& make : {make_chain, make_text}) {
    const auto data = make(model, 1);
    const TokenBatch batch = data->batch(0, 0, 0);
    ASSERT_EQ(batch.ids.size(), model.rows());
    ASSERT_EQ(batch.targets.size(), model.rows());
    for (std::size_t i = 0; i + 1 < batch.ids.size(); ++i) {
      if ((i + 1) % model.tokens) {
        EXPECT_EQ(batch.targets[i], batch.ids[i + 1]);
      }
      EXPECT_LT(batch.targets[i], data->vocabulary());
    }
  }
}

TEST(Text, IsReadAtThePlacesThatTheSeedPicks) {
  const ModelConfig model;
  const TokenBatch batch = make_text(model, 1)->batch(0, 0, 0);
  for (std::size_t sequence = 0; sequence < model.sequences; ++sequence) {
    std::string letters;
    for (std::size_t i = 0; i < model.tokens; ++i)
      letters += training_alphabet()[batch.ids[sequence * model.tokens + i]];
    EXPECT_THAT(training_text(), ::testing::HasSubstr(letters));
  }
  EXPECT_GT(training_text().size(), 3000u);
  EXPECT_LE(training_alphabet().size(), 32u);
}

TEST(Data, RefusesAVocabularyThatIsTooSmall) {
  ModelConfig model;
  model.vocabulary = 3;
  EXPECT_THROW(make_chain(model, 1), TrainingError);
  EXPECT_THROW(make_text(model, 1), TrainingError);
  model.vocabulary = 64;
  model.tokens = 5000;
  EXPECT_THROW(make_text(model, 1), TrainingError);
}

}  // namespace
}  // namespace wafervp::training
