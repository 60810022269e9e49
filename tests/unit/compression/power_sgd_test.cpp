// SPDX-License-Identifier: Apache-2.0
#include "compression/power_sgd.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <memory>

#include "compression/gaussian.h"
#include "compression/product.h"
#include "messages.h"

namespace wafervp::compression {
namespace {

constexpr std::size_t kRows = 30, kColumns = 21;

/// A matrix of exactly rank r.
Matrix<double> of_rank(std::size_t r, std::uint64_t seed) {
  const Matrix<double> a = gaussian_matrix(kRows, r, seed), b = gaussian_matrix(r, kColumns, seed + 1000);
  Matrix<double> m(kRows, kColumns);
  multiply(kRows, r, kColumns, a.values.data(), b.values.data(), m.values.data());
  return m;
}

Matrix<double> sum(const std::vector<Matrix<double>>& parts) {
  Matrix<double> total(parts.front().rows, parts.front().columns);
  for (const Matrix<double>& part : parts) {
    for (std::size_t i = 0; i < total.values.size(); ++i) total.values[i] += part.values[i];
  }
  return total;
}

double distance(const Matrix<double>& a, const Matrix<double>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i)
    worst = std::max(worst, std::abs(a.values[i] - b.values[i]));
  return worst;
}

/// Replicas that all-reduce P and then Q.
struct Group {
  Group(std::size_t count, const PowerSgd<double>::Options& options) {
    for (std::size_t i = 0; i < count; ++i) {
      replicas.push_back(std::make_unique<PowerSgd<double>>(kRows, kColumns, options));
    }
  }
  /// The answer, which must be the same everywhere.
  Matrix<double> step(const std::vector<Matrix<double>>& gradients) {
    std::vector<Matrix<double>> p, q, answers;
    for (std::size_t i = 0; i < replicas.size(); ++i) {
      p.push_back(replicas[i]->begin(gradients[i].values.data(), gradients[i].values.size()));
    }
    for (const auto& replica : replicas) q.push_back(replica->middle(sum(p)));
    for (const auto& replica : replicas) answers.push_back(replica->end(sum(q)));
    const std::vector<double>& first = answers.front().values;
    for (const Matrix<double>& answer : answers) {
      EXPECT_EQ(std::memcmp(answer.values.data(), first.data(), first.size() * sizeof(double)), 0);
    }
    return answers.front();
  }
  std::vector<std::unique_ptr<PowerSgd<double>>> replicas;
};

PowerSgd<double>::Options rank(std::size_t r) {
  PowerSgd<double>::Options options;
  options.rank = r;
  return options;
}

TEST(PowerSgd, SumsExactlyWhatHasItsRank) {
  // Two gradients of rank 2 have a sum of rank 4 at most.
  Group group(2, rank(4));
  const std::vector<Matrix<double>> gradients{of_rank(2, 1), of_rank(2, 2)};
  EXPECT_LT(distance(group.step(gradients), sum(gradients)), 1e-12);
}

TEST(PowerSgd, AnswersAndDebtsAddUpToTheTruth) {
  Group group(3, rank(2));
  Matrix<double> given(kRows, kColumns), taken(kRows, kColumns);
  for (std::uint64_t step = 0; step < 30; ++step) {
    std::vector<Matrix<double>> gradients;
    for (std::uint64_t i = 0; i < 3; ++i)
      gradients.push_back(gaussian_matrix(kRows, kColumns, 10 * step + i));
    gradients.push_back(given);
    given = sum(gradients);
    gradients.pop_back();
    taken = sum({taken, group.step(gradients)});
    std::vector<Matrix<double>> owed{taken};
    for (const auto& replica : group.replicas) owed.push_back(replica->residual());
    EXPECT_LT(distance(sum(owed), given), 1e-10) << step;
  }
}

TEST(PowerSgd, WarmStartFindsTheStrongestDirections) {
  // With one matrix again and again, each step is a step of subspace iteration: the error falls to that of
  // the best approximation, here 1e-3 in the directions left out.
  Matrix<double> m = of_rank(3, 5);
  const Matrix<double> noise = gaussian_matrix(kRows, kColumns, 6);
  for (std::size_t i = 0; i < m.values.size(); ++i) m.values[i] += 1e-3 * noise.values[i];
  PowerSgd<double>::Options options = rank(3);
  options.error_feedback = false;
  Group warm(1, options);
  options.warm_start = false;
  Group cold(1, options);
  double warm_error = 0, cold_error = 0;
  for (int step = 0; step < 10; ++step) {
    warm_error = distance(warm.step({m}), m);
    cold_error = distance(cold.step({m}), m);
  }
  EXPECT_LT(warm_error, 5e-3);
  EXPECT_GE(cold_error, warm_error);
}

TEST(PowerSgd, RecoversFromZerosAndNan) {
  Group group(1, rank(3));
  const Matrix<double> zeros(kRows, kColumns);
  EXPECT_EQ(distance(group.step({zeros}), zeros), 0);
  Matrix<double> bad = of_rank(3, 7);
  bad.values[40] = std::nan("");
  for (const double value : group.step({bad}).values) EXPECT_TRUE(std::isnan(value));
  const Matrix<double> good = of_rank(3, 8);
  EXPECT_LT(distance(group.step({good}), good), 1e-12);
}

TEST(PowerSgd, RefusesMatricesOfAnotherSize) {
  PowerSgd<double> low_rank(kRows, kColumns, rank(3));
  const Matrix<double> other(kRows, kColumns + 1);
  expect_refusal(Refusal::kBadMessage, "630",
                 [&] { low_rank.begin(other.values.data(), other.values.size()); });
  expect_refusal(Refusal::kBadMessage, "P of 30 x 3", [&] { low_rank.middle(other); });
  expect_refusal(Refusal::kBadMessage, "Q of 21 x 3", [&] { low_rank.end(other); });
  expect_refusal(Refusal::kBadParameter, "rank", [&] {
    PowerSgd<float>(3, 3, {0, true, true, 1, Element::kFp32});
  });
}

TEST(PowerSgd, RoundsWhatTravels) {
  PowerSgd<double>::Options options = rank(2);
  options.wire = Element::kBf16;
  PowerSgd<double> low_rank(kRows, kColumns, options);
  const Matrix<double> m = of_rank(2, 3);
  const auto is_bf16 = [](double value) {
    return static_cast<double>(float_from_bf16(bf16_from_float(static_cast<float>(value)))) == value;
  };
  const Matrix<double> p = low_rank.begin(m.values.data(), m.values.size());
  EXPECT_THAT(p.values, testing::Each(testing::Truly(is_bf16)));
  EXPECT_THAT(low_rank.middle(p).values, testing::Each(testing::Truly(is_bf16)));
}

}  // namespace
}  // namespace wafervp::compression
