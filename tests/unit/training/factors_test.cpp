// SPDX-License-Identifier: Apache-2.0
// Gradients of replicas as factors: which matrices, how many elements, what comes back, what it costs.
#include <gtest/gtest.h>

#include <cmath>

#include "cases.h"
#include "compression/gaussian.h"
#include "training/gradient_factors.h"

namespace wafervp::training {
namespace {

TEST(FactorLayout, HasTheMatricesOfTheStage) {
  for (const Stay stay : {Stay::kRowWise, Stay::kProjected, Stay::kReparametrised}) {
    for (const std::size_t k : {std::size_t{0}, std::size_t{4}}) {
      const Training<double> run(tiny_case(stay), k, false);
      for (std::size_t stage = 0; stage < run.config.model.stages; ++stage) {
        const StageModel<double>& model = run.trainer->stage(0, stage);
        const FactorLayout layout(parameter_sizes(run.config.model, stay, k, stage), 2);
        ASSERT_EQ(layout.parts().size(), model.parameters().size());
        EXPECT_EQ(layout.size(), model.gradients().size());
        for (std::size_t i = 0; i < layout.parts().size(); ++i) {
          EXPECT_EQ(layout.parts()[i].rows, model.parameters()[i].rows);
          EXPECT_EQ(layout.parts()[i].columns, model.parameters()[i].columns);
          EXPECT_EQ(layout.parts()[i].offset, model.parameters()[i].offset);
        }
      }
    }
  }
}

TEST(FactorLayout, LeavesWhatWouldNotShrink) {
  // 3 (32 + 96) < 32 * 96; 3 (6 + 6) = 6 * 6; 1 (1 + 100) > 100.
  const FactorLayout layout({{32, 96}, {6, 6}, {1, 100}}, 3);
  EXPECT_EQ(layout.parts()[0].rank, 3u);
  EXPECT_EQ(layout.parts()[1].rank, 0u);
  EXPECT_EQ(layout.parts()[2].rank, 0u);
  EXPECT_EQ(layout.size(), 32u * 96 + 36 + 100);
  EXPECT_EQ(layout.first_size(), 3u * 32 + 36 + 100);
  EXPECT_EQ(layout.second_size(), 3u * 96);
}

TEST(FactorCost, IsThatOfItsProducts) {
  const std::uint64_t m = 32, n = 96, r = 3, e = 4;
  const FactorLayout layout({{m, n}, {1, 100}}, r);
  const auto cost = [&](Kernel kernel, bool feedback) { return factor_cost(layout, feedback, kernel, e); };
  EXPECT_EQ(cost(Kernel::kFactorP, false).flops, 2 * m * n * r);
  EXPECT_EQ(cost(Kernel::kFactorP, true).flops, 2 * m * n * r + m * n);
  EXPECT_EQ(cost(Kernel::kFactorQ, true).flops, 2 * m * n * r + 4 * m * r * (r + 1));
  EXPECT_EQ(cost(Kernel::kExpandFactors, false).flops, 2 * m * n * r);
  EXPECT_EQ(cost(Kernel::kExpandFactors, true).flops, 4 * m * n * r + m * n);
  EXPECT_EQ(cost(Kernel::kFactorP, false).bytes, e * (m * n + r * (m + n) + 200));
  EXPECT_EQ(cost(Kernel::kFactorP, true).bytes, e * (3 * m * n + r * (m + n) + 200));
}

/// Sums what the replicas hand over, and gives each the sum.
std::vector<std::vector<double>> add(const FactorLayout& layout,
                                     std::vector<GradientFactors<double>>& replicas,
                                     const std::vector<std::vector<double>>& gradients) {
  std::vector<double> first(layout.first_size()), second(layout.second_size()), part;
  const auto sum = [&part](std::vector<double>& into) {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] += part[i];
  };
  part.resize(first.size());
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    replicas[i].factor_p(gradients[i].data(), part.data());
    sum(first);
  }
  part.resize(second.size());
  for (GradientFactors<double>& each : replicas) {
    each.factor_q(first.data(), part.data());
    sum(second);
  }
  std::vector<std::vector<double>> answers;
  for (GradientFactors<double>& each : replicas) {
    answers.emplace_back(layout.size());
    each.expand(first.data(), second.data(), answers.back().data());
  }
  return answers;
}

TEST(GradientFactors, GiveASumOfLowRankBack) {
  // A (20 x 3) common to all, times B_i (3 x 30): the sum has rank 3, and a vector goes as it is.
  const std::size_t m = 20, n = 30, r = 3;
  const FactorLayout layout({{m, n}, {1, 7}}, r);
  const compression::Matrix<double> a = compression::gaussian_matrix(m, r, 1);
  std::vector<GradientFactors<double>> replicas;
  std::vector<std::vector<double>> gradients;
  std::vector<double> sum(layout.size());
  for (std::uint64_t i = 0; i < 3; ++i) {
    const compression::Matrix<double> b = compression::gaussian_matrix(r, n, 10 + i);
    std::vector<double> gradient(layout.size());
    for (std::size_t row = 0; row < m; ++row)
      for (std::size_t column = 0; column < n; ++column)
        for (std::size_t k = 0; k < r; ++k) gradient[row * n + column] += a.row(row)[k] * b.row(k)[column];
    for (std::size_t j = 0; j < 7; ++j) gradient[m * n + j] = static_cast<double>(i + j);
    for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += gradient[j];
    gradients.push_back(std::move(gradient));
    FactorConfig config;
    config.rank = r;
    replicas.emplace_back(layout, config);
  }
  const auto answers = add(layout, replicas, gradients);
  for (const std::vector<double>& answer : answers) {
    EXPECT_LE(distance(answer, sum), 1e-13);
    EXPECT_EQ(answer, answers[0]);
  }
}

TEST(GradientFactors, OweWhatTheyMissed) {
  // With error feedback the answers of many steps add up to all gradients but for what is still owed, which
  // does not grow with the steps; without it, what is outside of the factors is lost each time.
  const std::size_t m = 24, n = 16, steps = 60;
  const FactorLayout layout({{m, n}}, 2);
  const auto missing = [&](bool feedback) {
    FactorConfig config;
    config.rank = 2;
    config.error_feedback = feedback;
    std::vector<GradientFactors<double>> replicas;
    for (int i = 0; i < 2; ++i) replicas.emplace_back(layout, config);
    const std::vector<std::vector<double>> gradients = {compression::gaussian_matrix(m, n, 3).values,
                                                        compression::gaussian_matrix(m, n, 4).values};
    std::vector<double> all(layout.size()), got(layout.size());
    for (std::size_t step = 0; step < steps; ++step) {
      const auto answers = add(layout, replicas, gradients);
      for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] += gradients[0][i] + gradients[1][i];
        got[i] += answers[0][i];
      }
    }
    return distance(got, all);
  };
  EXPECT_LT(missing(true), 0.3);
  EXPECT_GT(missing(false), 0.7);
}

LocalConfig replicas_of(std::size_t steps) {
  LocalConfig config = small_case(steps);
  config.model.stages = 2;
  config.model.replicas = 3;
  config.model.microbatches = 2;
  return config;
}

TEST(LocalTrainer, AddsFactorsOfFullRankAsTheyAre) {
  LocalConfig config = replicas_of(5);
  Training<double> plain(config, 0, false);
  config.power_sgd = FactorConfig{1000, true, true, 1};  // no matrix would shrink
  Training<double> factored(config, 0, false);
  EXPECT_EQ(plain.trainer->run(), factored.trainer->run());
}

TEST(LocalTrainer, LearnsFromFactors) {
  LocalConfig config = replicas_of(150);
  Training<double> plain(config, 0, false);
  config.power_sgd = FactorConfig{4, true, true, 1};
  Training<double> factored(config, 0, false);
  const std::vector<double> expected = plain.trainer->run(), found = factored.trainer->run();
  EXPECT_EQ(found[0], expected[0]);
  EXPECT_NE(found.back(), expected.back());
  EXPECT_LT(found.back(), expected.front() - 0.5 * (expected.front() - expected.back()));
  for (std::size_t stage = 0; stage < 2; ++stage)
    for (std::size_t i = 0; i < factored.trainer->stage(0, stage).parameters().size(); ++i)
      for (std::size_t replica = 1; replica < 3; ++replica)
        EXPECT_EQ(factored.trainer->stage(0, stage).weights(i).values,
                  factored.trainer->stage(replica, stage).weights(i).values);
}

}  // namespace
}  // namespace wafervp::training
