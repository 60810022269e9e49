// SPDX-License-Identifier: Apache-2.0
// Whole trainings of the small case.
#include <gtest/gtest.h>

#include <cstring>

#include "cases.h"

namespace wafervp::training {
namespace {

constexpr std::size_t kRank = 4;

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  return worst;
}

double mean_of_last(const std::vector<double>& losses, std::size_t count) {
  double sum = 0;
  for (std::size_t i = losses.size() - count; i < losses.size(); ++i) sum += losses[i];
  return sum / static_cast<double>(count);
}

/// Largest |W - W U U^T| / |W| of the constrained matrices.
template <class T>
double distance_from_subspace(const Training<T>& run) {
  double worst = 0;
  for (std::size_t stage = 0; stage < run.config.model.stages; ++stage) {
    const StageModel<T>& model = run.trainer->stage(0, stage);
    for (std::size_t index = 0; index < model.parameters().size(); ++index)
      if (model.parameters()[index].constrained) {
        Matrix<T> inside = model.weights(index);
        compression::project(*model.subspace(), inside);
        worst = std::max(worst, distance(inside.values, model.weights(index).values));
      }
  }
  return worst;
}

TEST(Curve, FallsTheSameWithAndWithoutCompressionInFp64) {
  Training<double> plain(small_case(300), kRank, false), compressed(small_case(300), kRank, true);
  const std::vector<double> expected = plain.trainer->run();
  EXPECT_LE(largest_difference(compressed.trainer->run(), expected), 1e-9);
  EXPECT_LE(compressed.boundary->worst_error(), 1e-12);
  EXPECT_NEAR(expected.front(), std::log(32), 0.05);
  EXPECT_LT(mean_of_last(expected, 20), 2.5);
  EXPECT_GT(mean_of_last(expected, 20), plain.data->entropy_floor());
  EXPECT_LE(distance_from_subspace(plain), 1e-12);
  EXPECT_LE(distance_from_subspace(compressed), 1e-12);
}

TEST(Curve, FallsTheSameWithAndWithoutCompressionInFp32) {
  Training<float> plain(small_case(300), kRank, false), compressed(small_case(300), kRank, true);
  std::vector<double> expected, found;
  for (int step = 0; step < 50; ++step) {
    expected.push_back(plain.trainer->step());
    found.push_back(compressed.trainer->step());
  }
  EXPECT_LE(largest_difference(found, expected), 1e-5);
  EXPECT_LE(distance_from_subspace(compressed), 1e-5);
}

TEST(Curve, TheOtherWaysToStayInTheSubspaceAreTheSameWithAndWithoutCompressionToo) {
  for (const Stay stay : {Stay::kProjected, Stay::kReparametrised}) {
    Training<double> plain(small_case(60, stay), kRank, false), compressed(small_case(60, stay), kRank, true);
    const std::vector<double> expected = plain.trainer->run();
    EXPECT_LE(largest_difference(compressed.trainer->run(), expected), 1e-9);
    EXPECT_LT(mean_of_last(expected, 5), expected.front() - 0.3);
    EXPECT_LE(distance_from_subspace(plain), 1e-12);
  }
}

TEST(Curve, StaysTheSameThroughUpdatesOfU) {
  for (const Stay stay : {Stay::kRowWise, Stay::kProjected, Stay::kReparametrised}) {
    LocalConfig config = small_case(60, stay);
    config.update_every = 20;
    Training<double> plain(config, kRank, false), compressed(config, kRank, true);
    const std::vector<double> expected = plain.trainer->run();
    EXPECT_LE(largest_difference(compressed.trainer->run(), expected), 1e-9);
    EXPECT_EQ(plain.trainer->stage(0, 0).subspace()->version(), 1u + 3u);
    EXPECT_LE(distance_from_subspace(compressed), 1e-12);
    Training<double> fixed(small_case(60, stay), kRank, false);
    const std::vector<double> without = fixed.trainer->run();
    EXPECT_EQ(largest_difference({without.begin(), without.begin() + 20},
                                 {expected.begin(), expected.begin() + 20}),
              0);
    EXPECT_GT(largest_difference(without, expected), 1e-6);
  }
}

TEST(Curve, RowsLeaveTheSubspaceByRoundingAloneAndComeBackWhenProjected) {
  LocalConfig config = small_case(100);
  Training<float> drifting(config, kRank, false);
  config.optimizer.project_every = 10;
  Training<float> projected(config, kRank, false);
  drifting.trainer->run();
  projected.trainer->run();
  EXPECT_LE(distance_from_subspace(drifting), 1e-5);
  EXPECT_LT(distance_from_subspace(projected), distance_from_subspace(drifting));
}

TEST(Curve, OfOneSeedHasTheSameBytesAndOfAnotherHasNot) {
  LocalConfig config = small_case(20);
  const auto bytes = [&config] {
    Training<float> run(config, kRank, true);
    std::vector<double> result = run.trainer->run();
    for (const ParameterInfo& info : run.trainer->stage(0, 1).parameters()) {
      const std::size_t index =
          static_cast<std::size_t>(&info - run.trainer->stage(0, 1).parameters().data());
      for (const float value : run.trainer->stage(0, 1).weights(index).values) result.push_back(value);
    }
    return result;
  };
  const std::vector<double> first = bytes(), second = bytes();
  ASSERT_EQ(first.size(), second.size());
  EXPECT_EQ(std::memcmp(first.data(), second.data(), first.size() * sizeof first[0]), 0);
  config.model.seed = 2;
  EXPECT_NE(first, bytes());
}

TEST(Curve, OfTheUnconstrainedModelFalls) {
  Training<float> run(small_case(100), 0, false);
  const std::vector<double> losses = run.trainer->run();
  EXPECT_NEAR(losses.front(), std::log(32), 0.05);
  EXPECT_LT(mean_of_last(losses, 10), 2.8);
}

TEST(Curve, OfTheTextFalls) {
  const LocalConfig config = small_case(100);
  const auto data = make_text(config.model, 1);
  LocalTrainer<float> trainer(config, *data, make_tables(config.model, kTableSeed), basis_for(config, kRank));
  const std::vector<double> losses = trainer.run();
  EXPECT_NEAR(losses.front(), std::log(32), 0.05);
  EXPECT_LT(mean_of_last(losses, 10), 2.6);
}

}  // namespace
}  // namespace wafervp::training
