// SPDX-License-Identifier: Apache-2.0
// The backward pass by hand against central differences of the loss, and against itself with compressed
// boundaries.
#include <gtest/gtest.h>

#include "cases.h"
#include "compression/gaussian.h"

namespace wafervp::training {
namespace {

/// Loss with `size` times `direction` added to one matrix.
double loss_beside(const LocalConfig& config, std::size_t rank, std::size_t stage, std::size_t parameter,
                   const Matrix<double>& direction, double size) {
  Training<double> run(config, rank, false);
  StageModel<double>& model = run.trainer->stage(0, stage);
  Matrix<double> weights = model.weights(parameter);
  for (std::size_t i = 0; i < weights.values.size(); ++i) weights.values[i] += size * direction.values[i];
  model.set_weights(parameter, weights);
  return run.trainer->pass();
}

/// What a direction of W is for the trained numbers: itself, or its coefficients where W = A U^T.
std::vector<double> trained_direction(const StageModel<double>& model, const ParameterInfo& info,
                                      const Matrix<double>& direction) {
  if (info.columns == direction.columns) return direction.values;
  return Basis<double>(*model.subspace()).coefficients(direction).values;
}

void compare_with_differences(const LocalConfig& config, std::size_t rank) {
  Training<double> run(config, rank, false);
  run.trainer->pass();
  std::size_t checked = 0;
  for (std::size_t stage = 0; stage < config.model.stages; ++stage) {
    const StageModel<double>& model = run.trainer->stage(0, stage);
    for (std::size_t index = 0; index < model.parameters().size(); ++index) {
      const ParameterInfo& info = model.parameters()[index];
      const Matrix<double>& weights = model.weights(index);
      const std::vector<double> gradient(
          model.gradients().begin() + static_cast<std::ptrdiff_t>(info.offset),
          model.gradients().begin() + static_cast<std::ptrdiff_t>(info.offset + info.rows * info.columns));
      ASSERT_GT(norm(gradient), 0) << info.name;
      for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        // A constrained matrix moves along the part of the direction that lies in S.
        const Matrix<double> direction = compression::gaussian_matrix(weights.rows, weights.columns, seed);
        const double h = 1e-5;
        const double slope = (loss_beside(config, rank, stage, index, direction, h) -
                              loss_beside(config, rank, stage, index, direction, -h)) /
                             (2 * h);
        const std::vector<double> along = trained_direction(model, info, direction);
        double expected = 0;
        for (std::size_t i = 0; i < gradient.size(); ++i) expected += gradient[i] * along[i];
        // The slope along a random direction is about as large as |gradient|.
        EXPECT_NEAR(slope, expected, 1e-5 * std::max(std::abs(slope), norm(gradient))) << info.name;
        ++checked;
      }
    }
  }
  EXPECT_EQ(checked, 2 * (4 * config.model.blocks + 2));
}

TEST(Gradient, IsTheSlopeOfTheLossInTheUnconstrainedModel) { compare_with_differences(tiny_case(), 0); }
TEST(Gradient, IsTheSlopeOfTheLossInTheSubspace) { compare_with_differences(tiny_case(), 3); }
TEST(Gradient, IsTheSlopeOfTheLossByCoefficients) {
  compare_with_differences(tiny_case(Stay::kReparametrised), 3);
}

TEST(Gradient, ByInputIsTheSlopeOfTheLoss) {
  const LocalConfig config = tiny_case();
  const auto data = make_chain(config.model, kDataSeed);
  const TokenBatch batch = data->batch(0, 0, 0);
  const Matrix<double> x = compression::gaussian_matrix(config.model.rows(), config.model.dimension, 3);
  const Matrix<double> direction = compression::gaussian_matrix(x.rows, x.columns, 4);
  const auto loss_and_gradient = [&](double size, Matrix<double>* gradient) {
    StageModel<double> model(config.model, config.optimizer, config.model.stages - 1,
                             make_tables(config.model, kTableSeed), nullptr);
    Matrix<double> moved = x;
    for (std::size_t i = 0; i < x.values.size(); ++i) moved.values[i] += size * direction.values[i];
    model.forward(0, moved, batch);
    if (gradient) *gradient = model.backward(0, {});
    return model.loss(0);
  };
  Matrix<double> gradient;
  loss_and_gradient(0, &gradient);
  double expected = 0;
  for (std::size_t i = 0; i < x.values.size(); ++i) expected += gradient.values[i] * direction.values[i];
  const double slope = (loss_and_gradient(1e-5, nullptr) - loss_and_gradient(-1e-5, nullptr)) / 2e-5;
  // Gradients are those of the mean over the microbatches of a step.
  EXPECT_NEAR(slope / static_cast<double>(config.model.microbatches), expected, 1e-5 * std::abs(expected));
}

/// One step's gradients with compressed boundaries against those without.
template <class T>
double worst_distance(const LocalConfig& config, std::size_t rank) {
  Training<T> plain(config, rank, false), compressed(config, rank, true);
  for (int step = 0; step < 2; ++step) {  // away from the first weights
    plain.trainer->step();
  }
  for (std::size_t stage = 0; stage < config.model.stages; ++stage)
    for (std::size_t index = 0; index < plain.trainer->stage(0, stage).parameters().size(); ++index)
      compressed.trainer->stage(0, stage).set_weights(index, plain.trainer->stage(0, stage).weights(index));
  // The same weights to the last bit on both sides, and the same tokens.
  Training<T> again(config, rank, false);
  for (std::size_t stage = 0; stage < config.model.stages; ++stage)
    for (std::size_t index = 0; index < plain.trainer->stage(0, stage).parameters().size(); ++index)
      again.trainer->stage(0, stage).set_weights(index, plain.trainer->stage(0, stage).weights(index));
  again.trainer->pass();
  compressed.trainer->pass();
  double worst = 0;
  for (std::size_t stage = 0; stage < config.model.stages; ++stage) {
    const StageModel<T>& expected = again.trainer->stage(0, stage);
    const StageModel<T>& found = compressed.trainer->stage(0, stage);
    for (const ParameterInfo& info : expected.parameters()) {
      const auto part = [&info](const std::vector<T>& flat) {
        const auto first = flat.begin() + static_cast<std::ptrdiff_t>(info.offset);
        return std::vector<T>(first, first + static_cast<std::ptrdiff_t>(info.rows * info.columns));
      };
      worst = std::max(worst, distance(part(found.gradients()), part(expected.gradients())));
    }
  }
  EXPECT_GT(compressed.boundary->worst_error(), 0);  // it was there, and it rounds
  return worst;
}

TEST(Gradient, IsTheSameBehindACompressedBoundary) {
  for (const std::size_t rank : {1, 2, 4, 8, 16, 32}) {
    EXPECT_LE(worst_distance<double>(small_case(10), rank), 1e-12) << "k " << rank;
    EXPECT_LE(worst_distance<float>(small_case(10), rank), 1e-5) << "k " << rank;
  }
}

TEST(Gradient, OfTheUnconstrainedModelIsNotTheSameBehindACompressedBoundary) {
  // What the equalities above could not tell apart, were the boundary or the constraint of no effect.
  const LocalConfig config = small_case(10);
  Training<double> plain(config, 0, false);
  SubspaceBoundary<double> hook(plain.tables, basis_for(config, 4));
  LocalTrainer<double> compressed(
      config, *plain.data, plain.tables, nullptr,
      [&hook](const Crossing& at, const Matrix<double>& x) { return hook(at, x); });
  plain.trainer->pass();
  compressed.pass();
  EXPECT_GT(distance(compressed.stage(0, 0).gradients(), plain.trainer->stage(0, 0).gradients()), 0.1);
}

}  // namespace
}  // namespace wafervp::training
