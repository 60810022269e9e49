// SPDX-License-Identifier: Apache-2.0
// AdamW and its forms inside a subspace against their equations.
#include <gtest/gtest.h>

#include <cmath>

#include "compression/gaussian.h"
#include "training/parameter.h"

namespace wafervp::training {
namespace {

using compression::gaussian_matrix;
using compression::Subspace;

constexpr std::size_t kRows = 5, kColumns = 8, kRank = 3;

OptimizerConfig optimizer(Stay stay) {
  OptimizerConfig config;
  config.learning_rate = 0.01;
  config.warm_up_steps = 2;
  config.steps = 10;
  config.weight_decay = 0.1;
  config.stay = stay;
  return config;
}

/// One step of AdamW (Loshchilov, Hutter 2019) with bias correction; `square` is what the second moment
/// follows.
struct Adam {
  double first = 0, second = 0;
  double step(double weight, double gradient, double square, const OptimizerConfig& o, std::size_t t) {
    first = o.beta1 * first + (1 - o.beta1) * gradient;
    second = o.beta2 * second + (1 - o.beta2) * square;
    const double steps = static_cast<double>(t + 1);
    const double m = first / (1 - std::pow(o.beta1, steps)), v = second / (1 - std::pow(o.beta2, steps));
    return weight - o.rate_at(t) * (m / (std::sqrt(v) + o.epsilon) + o.weight_decay * weight);
  }
};

void step(Parameter<double>& parameter, const Matrix<double>& gradient, const OptimizerConfig& o,
          std::size_t t) {
  parameter.gradient = gradient;
  std::vector<double> flat(parameter.trained_size());
  parameter.finish_gradient(flat.data());
  parameter.step(flat.data(), o, t);
  EXPECT_EQ(parameter.gradient.values, std::vector<double>(gradient.values.size(), 0.0));
}

void expect_near(const Matrix<double>& found, const Matrix<double>& expected) {
  ASSERT_EQ(found.values.size(), expected.values.size());
  for (std::size_t i = 0; i < found.values.size(); ++i)
    EXPECT_NEAR(found.values[i], expected.values[i], 1e-13) << "element " << i;
}

TEST(Rate, WarmsUpAndDecaysLinearlyToZero) {
  OptimizerConfig o;
  o.learning_rate = 1;
  o.warm_up_steps = 4;
  o.steps = 12;
  EXPECT_EQ(o.rate_at(0), 0.25);
  EXPECT_EQ(o.rate_at(3), 1);
  EXPECT_EQ(o.rate_at(4), 1);
  EXPECT_EQ(o.rate_at(8), 0.5);
  EXPECT_EQ(o.rate_at(11), 0.125);
  EXPECT_EQ(o.rate_at(12), 0);
  o.warm_up_steps = 0;
  EXPECT_EQ(o.rate_at(0), 1);
  o.warm_up_steps = 20;  // longer than the training
  EXPECT_EQ(o.rate_at(11), 0.6);
  EXPECT_EQ(o.rate_at(12), 0.65);
}

TEST(Optimizer, IsPlainAdamWForFreeMatrices) {
  for (const Stay stay : {Stay::kRowWise, Stay::kProjected, Stay::kReparametrised}) {
    const OptimizerConfig o = optimizer(stay);
    Parameter<double> parameter(kRows, kColumns, stay, nullptr);
    Matrix<double> expected = gaussian_matrix(kRows, kColumns, 1);
    parameter.set_weights(expected);
    std::vector<Adam> adam(kRows * kColumns);
    for (std::size_t t = 0; t < 5; ++t) {
      const Matrix<double> g = gaussian_matrix(kRows, kColumns, 10 + t);
      step(parameter, g, o, t);
      for (std::size_t i = 0; i < adam.size(); ++i)
        expected.values[i] = adam[i].step(expected.values[i], g.values[i], g.values[i] * g.values[i], o, t);
      expect_near(parameter.weights, expected);
    }
  }
}

struct Constrained {
  std::shared_ptr<const Subspace> subspace = Subspace::random(kColumns, kRank, 5);
  Basis<double> basis{*subspace};
  Matrix<double> start = gaussian_matrix(kRows, kColumns, 1);

  Matrix<double> inside(Matrix<double> matrix) const {
    compression::project(*subspace, matrix);
    return matrix;
  }
};

TEST(Optimizer, RowWiseHasOneSecondMomentARow) {
  Constrained c;
  const OptimizerConfig o = optimizer(Stay::kRowWise);
  Parameter<double> parameter(kRows, kColumns, o.stay, &c.basis);
  parameter.set_weights(c.start);
  Matrix<double> expected = c.inside(c.start);
  std::vector<Adam> adam(kRows * kColumns);
  for (std::size_t t = 0; t < 5; ++t) {
    const Matrix<double> g = gaussian_matrix(kRows, kColumns, 10 + t);
    step(parameter, g, o, t);
    const Matrix<double> projected = c.inside(g);
    for (std::size_t row = 0; row < kRows; ++row) {
      double mean = 0;
      for (std::size_t j = 0; j < kColumns; ++j)
        mean += projected.row(row)[j] * projected.row(row)[j] / kColumns;
      for (std::size_t j = 0; j < kColumns; ++j)
        expected.row(row)[j] =
            adam[row * kColumns + j].step(expected.row(row)[j], projected.row(row)[j], mean, o, t);
    }
    expect_near(parameter.weights, expected);
    expect_near(parameter.weights, c.inside(parameter.weights));
  }
}

TEST(Optimizer, ProjectedIsAdamWAndThenAProjection) {
  Constrained c;
  const OptimizerConfig o = optimizer(Stay::kProjected);
  Parameter<double> parameter(kRows, kColumns, o.stay, &c.basis);
  parameter.set_weights(c.start);
  Matrix<double> expected = c.inside(c.start);
  std::vector<Adam> adam(kRows * kColumns);
  for (std::size_t t = 0; t < 5; ++t) {
    const Matrix<double> g = gaussian_matrix(kRows, kColumns, 10 + t);
    step(parameter, g, o, t);
    const Matrix<double> p = c.inside(g);
    for (std::size_t i = 0; i < adam.size(); ++i)
      expected.values[i] = adam[i].step(expected.values[i], p.values[i], p.values[i] * p.values[i], o, t);
    expected = c.inside(expected);
    expect_near(parameter.weights, expected);
  }
}

TEST(Optimizer, ReparametrisedIsAdamWOnTheCoefficients) {
  Constrained c;
  const OptimizerConfig o = optimizer(Stay::kReparametrised);
  Parameter<double> parameter(kRows, kColumns, o.stay, &c.basis);
  EXPECT_EQ(parameter.trained_size(), kRows * kRank);
  parameter.set_weights(c.start);
  Matrix<double> a = c.basis.coefficients(c.start);
  std::vector<Adam> adam(kRows * kRank);
  for (std::size_t t = 0; t < 5; ++t) {
    const Matrix<double> g = gaussian_matrix(kRows, kColumns, 10 + t);
    step(parameter, g, o, t);
    const Matrix<double> p = c.basis.coefficients(g);
    for (std::size_t i = 0; i < adam.size(); ++i)
      a.values[i] = adam[i].step(a.values[i], p.values[i], p.values[i] * p.values[i], o, t);
    expect_near(parameter.weights, c.basis.expand(a));
  }
}

TEST(Optimizer, ANewBasisProjectsWeightsAndMomentum) {
  const auto other = Subspace::random(kColumns, kRank, 6);
  for (const Stay stay : {Stay::kRowWise, Stay::kProjected, Stay::kReparametrised}) {
    Constrained c;
    OptimizerConfig o = optimizer(stay);
    Parameter<double> parameter(kRows, kColumns, stay, &c.basis);
    parameter.set_weights(c.start);
    for (std::size_t t = 0; t < 3; ++t) step(parameter, gaussian_matrix(kRows, kColumns, 10 + t), o, t);
    Matrix<double> expected = parameter.weights;
    compression::project(*other, expected);
    Basis<double> next(*other);
    parameter.change_basis(next);
    c.basis = next;
    expect_near(parameter.weights, expected);
    // With no gradient the momentum alone moves the weights: not out of the new S.
    o.weight_decay = 0;
    step(parameter, Matrix<double>(kRows, kColumns), o, 3);
    EXPECT_NE(parameter.weights.values, expected.values);
    Matrix<double> inside = parameter.weights;
    compression::project(*other, inside);
    expect_near(parameter.weights, inside);
  }
}

TEST(Optimizer, OtherCoordinatesOfTheSameSubspaceChangeNothing) {
  // Columns of U exchanged: the same S, so the same weights and the same moments, in another order.
  Constrained c;
  const OptimizerConfig o = optimizer(Stay::kReparametrised);
  Matrix<double> u = c.subspace->u();
  for (std::size_t row = 0; row < kColumns; ++row) std::swap(u.row(row)[0], u.row(row)[2]);
  const Basis<double> next(Subspace(u, 2));
  Parameter<double> kept(kRows, kColumns, o.stay, &c.basis), changed(kRows, kColumns, o.stay, &c.basis);
  kept.set_weights(c.start);
  changed.set_weights(c.start);
  for (std::size_t t = 0; t < 3; ++t) {
    step(kept, gaussian_matrix(kRows, kColumns, 10 + t), o, t);
    step(changed, gaussian_matrix(kRows, kColumns, 10 + t), o, t);
  }
  changed.change_basis(next);
  step(kept, gaussian_matrix(kRows, kColumns, 20), o, 3);
  c.basis = next;
  step(changed, gaussian_matrix(kRows, kColumns, 20), o, 3);
  expect_near(changed.weights, kept.weights);
}

}  // namespace
}  // namespace wafervp::training
