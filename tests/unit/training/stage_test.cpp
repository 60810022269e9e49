// SPDX-License-Identifier: Apache-2.0
// Stages as a simulator drives them: order, cuts, replicas, and what they refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "cases.h"

namespace wafervp::training {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const TrainingError& error) {
    return error.what();
  }
  return "no error";
}

struct Stages {
  LocalConfig config = tiny_case();
  std::unique_ptr<DataSource> data = make_chain(config.model, kDataSeed);
  std::vector<std::unique_ptr<StageModel<double>>> models;

  Stages() {
    for (std::size_t stage = 0; stage < config.model.stages; ++stage)
      models.push_back(std::make_unique<StageModel<double>>(config.model, config.optimizer, stage,
                                                            make_tables(config.model, kTableSeed),
                                                            basis_for(config, 3)));
  }
  Matrix<double> forward(std::size_t stage, std::uint32_t microbatch, const Matrix<double>& x) {
    return models[stage]->forward(microbatch, x, data->batch(0, 0, microbatch));
  }
};

TEST(Stage, GradientsDoNotDependOnTheOrderOfForwardPasses) {
  Stages gpipe, one_by_one;
  Matrix<double> x[2][4], g[2];
  for (std::uint32_t m : {0u, 1u})
    for (std::size_t stage = 0; stage < 3; ++stage) x[m][stage + 1] = gpipe.forward(stage, m, x[m][stage]);
  for (std::uint32_t m : {0u, 1u})
    for (std::size_t stage = 3; stage-- > 0;) g[m] = gpipe.models[stage]->backward(m, g[m]);
  for (std::uint32_t m : {0u, 1u}) {
    Matrix<double> y, h;
    for (std::size_t stage = 0; stage < 3; ++stage) y = one_by_one.forward(stage, m, y);
    for (std::size_t stage = 3; stage-- > 0;) h = one_by_one.models[stage]->backward(m, h);
  }
  for (std::size_t stage = 0; stage < 3; ++stage) {
    gpipe.models[stage]->finish_gradients();
    one_by_one.models[stage]->finish_gradients();
    EXPECT_EQ(gpipe.models[stage]->gradients(), one_by_one.models[stage]->gradients());
  }
}

TEST(Stage, TheUnconstrainedModelIsTheSameHoweverItIsCut) {
  LocalConfig config = tiny_case();
  std::vector<std::vector<double>> curves;
  for (const std::size_t stages : {1, 2, 3, 5}) {
    config.model.stages = stages;
    curves.push_back(Training<double>(config, 0, false).trainer->run());
  }
  for (const auto& curve : curves) EXPECT_EQ(curve, curves.front());
}

TEST(Stage, BlocksAreSpreadEvenlyAndTheFirstStagesHaveOneMore) {
  ModelConfig model;
  model.blocks = 11;
  model.stages = 4;
  std::size_t next = 0;
  for (std::size_t stage = 0; stage < 4; ++stage) {
    EXPECT_EQ(model.first_block(stage), next);
    EXPECT_EQ(model.blocks_of(stage), stage < 3 ? 3u : 2u);
    next += model.blocks_of(stage);
  }
  EXPECT_EQ(next, 11u);
}

TEST(Stage, ConstrainsWhatWritesToTheStreamBeforeTheLastStage) {
  Stages stages;
  std::vector<std::string> names;
  for (const auto& model : stages.models)
    for (const ParameterInfo& info : model->parameters())
      if (info.constrained) names.push_back(info.name);
  EXPECT_THAT(names,
              ::testing::ElementsAre("embedding", "block0.w_o", "block0.w_2", "block1.w_o", "block1.w_2",
                                     "block2.w_o", "block2.w_2", "block3.w_o", "block3.w_2"));
}

TEST(Stage, TheLargeCaseHasTheParametersOfThePrototype) {
  const ModelConfig model;
  std::size_t sum = 0;
  for (std::size_t stage = 0; stage < model.stages; ++stage)
    sum += StageModel<float>(model, {}, stage, make_tables(model, 1), nullptr).gradients().size();
  EXPECT_EQ(sum, 204800u);
}

TEST(Stage, TheFlatGradientIsShorterWhereMatricesAreReparametrised) {
  const LocalConfig config = tiny_case(Stay::kReparametrised);
  const StageModel<float> stage(config.model, config.optimizer, 0, make_tables(config.model, 1),
                                basis_for(config, 3));
  const std::size_t d = 12, f = 20, v = 10, k = 3, blocks = 2;
  EXPECT_EQ(stage.gradients().size(), v * k + blocks * (3 * d * d + d * k + d * f + f * k));
}

TEST(Stage, ReplicasStayTheSameAndTakeTheSumOfTheirGradients) {
  LocalConfig config = tiny_case();
  config.model.replicas = 3;
  Training<double> run(config, 3, true);
  run.trainer->pass();
  std::vector<double> sum(run.trainer->stage(0, 1).gradients().size());
  for (std::size_t replica = 0; replica < 3; ++replica)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += run.trainer->stage(replica, 1).gradients()[i];
  EXPECT_NE(run.trainer->stage(0, 1).gradients(), run.trainer->stage(1, 1).gradients());

  Training<double> stepped(config, 3, true);
  stepped.trainer->step();
  for (std::size_t replica = 0; replica < 3; ++replica) {
    EXPECT_LE(distance(stepped.trainer->stage(replica, 1).gradients(), sum), 1e-14);  // projected once more
    for (std::size_t index = 0; index < 4; ++index)
      EXPECT_EQ(stepped.trainer->stage(replica, 1).weights(index).values,
                stepped.trainer->stage(0, 1).weights(index).values);
  }
}

TEST(Stage, ALossySumOfGradientsDoesNotLeadOutOfTheSubspace) {
  for (const Stay stay : {Stay::kRowWise, Stay::kProjected}) {
    LocalConfig config = tiny_case(stay);
    config.model.replicas = 2;
    Training<double> run(config, 3, false);
    run.trainer->pass();
    StageModel<double>& stage = run.trainer->stage(0, 1);
    for (double& value : stage.gradients()) value = std::round(value * 1000) / 1000;
    stage.step();
    for (std::size_t index = 0; index < stage.parameters().size(); ++index) {
      if (!stage.parameters()[index].constrained) continue;
      Matrix<double> inside = stage.weights(index);
      compression::project(*stage.subspace(), inside);
      EXPECT_LE(distance(inside.values, stage.weights(index).values), 1e-14);
    }
  }
}

TEST(Stage, WhatIsNotANumberGoesThroughToTheLoss) {
  for (const double value :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Training<double> run(tiny_case(), 3, false);
    StageModel<double>& stage = run.trainer->stage(0, 1);
    Matrix<double> weights = stage.weights(0);
    weights.row(0)[0] = value;
    stage.set_weights(0, weights);
    EXPECT_TRUE(std::isnan(run.trainer->step()));
    EXPECT_TRUE(std::isnan(run.trainer->step()));
  }
}

TEST(Stage, RefusesWhatDoesNotFit) {
  Stages stages;
  const ModelConfig& model = stages.config.model;
  const TokenBatch tokens = stages.data->batch(0, 0, 0);
  const Matrix<double> x = stages.models[0]->forward(0, {}, tokens);
  EXPECT_THAT(error_of([&] { stages.models[0]->forward(0, {}, tokens); }),
              HasSubstr("microbatch 0 has been here"));
  EXPECT_THAT(error_of([&] { stages.models[1]->forward(0, Matrix<double>(3, 4), tokens); }),
              HasSubstr("input: expected 10 x 12, found 3 x 4"));
  TokenBatch wrong = tokens;
  wrong.ids[3] = 10;
  EXPECT_THAT(error_of([&] { stages.models[0]->forward(1, {}, wrong); }),
              HasSubstr("ids: expected tokens below 10, found 10"));
  wrong.targets.pop_back();
  EXPECT_THAT(error_of([&] { stages.models[2]->forward(0, x, wrong); }),
              HasSubstr("targets: expected 10 tokens, found 9"));
  EXPECT_THAT(error_of([&] { stages.models[1]->backward(0, x); }), HasSubstr("found none"));
  EXPECT_THAT(error_of([&] { stages.models[0]->backward(0, Matrix<double>()); }),
              HasSubstr("output_gradient: expected 10 x 12, found 0 x 0"));
  stages.models[0]->backward(0, x);
  EXPECT_THAT(error_of([&] { stages.models[0]->backward(0, x); }),
              HasSubstr("found a backward pass already"));
  EXPECT_THAT(error_of([&] { stages.models[0]->finish_gradients(); }),
              HasSubstr("expected 2 microbatches, found 1"));
  stages.models[0]->forward(1, {}, tokens);
  EXPECT_THAT(error_of([&] { stages.models[0]->finish_gradients(); }),
              HasSubstr("microbatch 1 has had no backward pass"));
  EXPECT_THAT(error_of([&] { stages.models[0]->step(); }), HasSubstr("expected finish_gradients()"));
  EXPECT_THAT(error_of([&] { stages.models[0]->set_subspace(basis_for(stages.config, 3)); }),
              HasSubstr("between two steps"));
  EXPECT_THAT(error_of([&] { stages.models[1]->set_subspace(basis_for(stages.config, 4)); }),
              HasSubstr("another version of the U"));
  EXPECT_THAT(error_of([&] { stages.models[0]->loss(0); }), HasSubstr("only the last stage"));
  EXPECT_THAT(error_of([&] { stages.models[2]->loss(5); }), HasSubstr("microbatch 5"));
  EXPECT_THAT(error_of([&] { stages.models[0]->collect_energy(); }), HasSubstr("last of several stages"));
  EXPECT_THAT(error_of([&] { stages.models[0]->set_weights(0, Matrix<double>(1, 1)); }),
              HasSubstr("embedding is 10 x 12, found 1 x 1"));
  EXPECT_THAT(error_of([&] {
                StageModel<double>(model, stages.config.optimizer, 3, make_tables(model, 1), nullptr);
              }),
              HasSubstr("stage: expected below 3, found 3"));
  ModelConfig other = model;
  other.vocabulary = 11;
  EXPECT_THAT(error_of([&] {
                StageModel<double>(model, stages.config.optimizer, 0, make_tables(other, 1), nullptr);
              }),
              HasSubstr("rows of F: expected 10, found 11"));
  EXPECT_THAT(error_of([&] { StageModel<double>(model, stages.config.optimizer, 0, nullptr, nullptr); }),
              HasSubstr("expected F and PE"));
}

TEST(Config, NamesTheFieldThatIsOutOfItsRange) {
  ModelConfig model;
  model.heads = 5;
  EXPECT_THAT(error_of([&] { check(model); }),
              HasSubstr("heads: expected a divisor of dimension 64, found 5"));
  model = {};
  model.blocks = 3;
  EXPECT_THAT(error_of([&] { check(model); }), HasSubstr("blocks: expected 4 to 4096, found 3"));
  OptimizerConfig optimizer;
  optimizer.learning_rate = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(error_of([&] { check(optimizer); }), HasSubstr("learning_rate: expected above 0"));
  optimizer = {};
  optimizer.beta2 = 1;
  EXPECT_THAT(error_of([&] { check(optimizer); }),
              HasSubstr("beta2: expected 0 or more and below 1, found 1"));
  optimizer = {};
  optimizer.weight_decay = -1;
  EXPECT_THAT(error_of([&] { check(optimizer); }), HasSubstr("weight_decay: expected 0 to 10, found -1"));
}

}  // namespace
}  // namespace wafervp::training
