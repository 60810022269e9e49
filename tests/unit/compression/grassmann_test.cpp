// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>

#include "compression/gaussian.h"
#include "compression/orthonormal.h"
#include "compression/product.h"
#include "messages.h"

namespace wafervp::compression {
namespace {

TEST(Subspace, IsTheSameForASeedAndRefusesWhatIsNotOrthonormal) {
  const auto subspace = Subspace::random(20, 4, 8);
  EXPECT_EQ(subspace->dimension(), 20u);
  EXPECT_EQ(subspace->rank(), 4u);
  EXPECT_EQ(subspace->version(), 1u);
  EXPECT_EQ(subspace->broadcast_bytes(4), 20u * 4 * 4);
  EXPECT_EQ(subspace->u().values, Subspace::random(20, 4, 8)->u().values);
  EXPECT_NE(subspace->u().values, Subspace::random(20, 4, 9)->u().values);
  expect_refusal(Refusal::kBadParameter, "orthonormal", [] { Subspace(gaussian_matrix(20, 4, 1), 1); });
  expect_refusal(Refusal::kBadParameter, "k <= d", [] { Subspace(Matrix<double>(3, 4), 1); });
  expect_refusal(Refusal::kBadParameter, "k <= d", [] { Subspace(Matrix<double>(3, 0), 1); });
}

TEST(Subspace, ProjectionIsIdempotentAndLeavesNothingOutside) {
  const auto subspace = Subspace::random(24, 5, 8);
  Matrix<double> w = gaussian_matrix(9, 24, 2);
  const Matrix<double> before = w;
  project(*subspace, w);
  GradientEnergy energy(24);
  energy.add(w);
  EXPECT_NEAR(energy.outside(*subspace), 0, 1e-14);
  Matrix<double> twice = w;
  project(*subspace, twice);
  double difference = 0, kept = 0, all = 0;
  for (std::size_t i = 0; i < w.values.size(); ++i) {
    difference = std::max(difference, std::abs(twice.values[i] - w.values[i]));
    kept += w.values[i] * w.values[i];
    all += before.values[i] * before.values[i];
  }
  EXPECT_LT(difference, 1e-14);
  EXPECT_LT(kept, all);
  GradientEnergy whole(24);
  whole.add(before);
  EXPECT_NEAR(whole.outside(*subspace), 1 - kept / all, 1e-13);
}

TEST(Grassmann, StepLowersTheEnergyOutside) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    GradientEnergy energy(16);
    // A few strong directions among weak ones.
    Matrix<double> gradient = gaussian_matrix(40, 16, seed);
    for (std::size_t i = 0; i < gradient.rows; ++i) {
      for (std::size_t j = 0; j < 4; ++j) gradient.row(i)[j] *= 5;
    }
    energy.add(gradient);
    auto subspace = Subspace::random(16, 4, seed + 100);
    double outside = energy.outside(*subspace);
    for (int step = 0; step < 20; ++step) {
      const auto next = grassmann_step(*subspace, energy, 0.1);
      EXPECT_EQ(next->version(), subspace->version() + 1);
      const double now = energy.outside(*next);
      // Near the optimum a step of fixed length overshoots.
      if (outside > 0.25) {
        EXPECT_LT(now, outside) << "seed " << seed << " step " << step;
      }
      subspace = next;
      outside = now;
    }
    EXPECT_LT(outside, 0.4);
  }
}

TEST(Grassmann, StaysWhereNothingIsOutside) {
  const auto subspace = Subspace::random(10, 3, 4);
  GradientEnergy energy(10);
  EXPECT_EQ(energy.outside(*subspace), 0);
  const auto next = grassmann_step(*subspace, energy, 0.3);
  EXPECT_EQ(next->u().values, subspace->u().values);
  EXPECT_EQ(next->version(), 2u);
}

TEST(Grassmann, FollowsItsEquationInTwoDimensions) {
  // U = e1, C = [[1, 1], [1, 1]]: (I - U U^T) C U = e2, so U goes to (1, step) / |(1, step)|.
  Matrix<double> u(2, 1);
  u.values = {1, 0};
  Matrix<double> gradient(1, 2);
  gradient.values = {1, 1};
  GradientEnergy energy(2);
  energy.add(gradient);
  const Subspace subspace(u, 5);
  EXPECT_NEAR(energy.outside(subspace), 0.5, 1e-15);
  const auto next = grassmann_step(subspace, energy, 0.5);
  EXPECT_NEAR(next->u().values[0], 1 / std::sqrt(1.25), 1e-15);
  EXPECT_NEAR(next->u().values[1], 0.5 / std::sqrt(1.25), 1e-15);
  EXPECT_NEAR(energy.outside(*next), 1 - 1.5 * 1.5 / 1.25 / 2, 1e-15);
}

}  // namespace
}  // namespace wafervp::compression
