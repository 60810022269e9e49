// SPDX-License-Identifier: Apache-2.0
// What is sent over many steps, and what is still owed, add up to the truth.
#include <gmock/gmock.h>

#include <cmath>

#include "messages.h"

namespace wafervp::compression {
namespace {

/// Sum of all differences between what was put in and what came out, by element, over `steps` messages.
std::vector<double> owed_after(const CodecConfig& config, int steps, std::uint64_t stream = 0) {
  const std::unique_ptr<Codec> codec = make_codec(config);
  std::vector<double> owed(6 * 20);
  for (int step = 0; step < steps; ++step) {
    Message message = random_message({6, 20, Element::kFp64}, static_cast<std::uint64_t>(100 + step));
    Context context;
    context.stream = stream;
    const std::vector<double> sent = values_of(message);
    const std::vector<double> back = round_trip(*codec, message, context);
    for (std::size_t i = 0; i < owed.size(); ++i) owed[i] += sent[i] - back[i];
  }
  return owed;
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

TEST(ErrorFeedback, KeepsTheDebtOfASelectionBounded) {
  // Without it the debt grows like a random walk of 400 steps (20 deviations); with it each element is sent
  // when its debt is among the 4 largest of a row of 20.
  const TopKConfig with{4, 0, IndexWidth::kPacked, true}, without{4, 0, IndexWidth::kPacked, false};
  EXPECT_LT(largest(owed_after(with, 400)), 15);
  EXPECT_GT(largest(owed_after(without, 400)), 25);
}

TEST(ErrorFeedback, PaysTheWholeDebtWhenEverythingIsSent) {
  // k covers the whole row at the end: what was owed comes with it.
  TopKConfig config{4, 0, IndexWidth::kPacked, true};
  const std::unique_ptr<Codec> codec = make_codec(config);
  const std::vector<double> row{8, 7, 6, 5, 4, 3, 2, 1};
  const Message message = message_of({1, 8, Element::kFp64}, row);
  const Message zeros = message_of({1, 8, Element::kFp64}, std::vector<double>(8, 0.0));
  std::vector<double> sum(8);
  for (const Message* each : {&message, &zeros}) {
    const std::vector<double> back = round_trip(*codec, *each, {});
    for (std::size_t i = 0; i < 8; ++i) sum[i] += back[i];
  }
  EXPECT_EQ(sum, row);
}

TEST(ErrorFeedback, ThresholdOwesLessThanItsThreshold) {
  ThresholdConfig config;
  config.density = 0.2;
  config.renew_every = 1000000;
  config.error_feedback = true;
  // tau stays that of the first message, and a debt of tau or more is paid at once.
  const Message first = random_message({6, 20, Element::kFp64}, 100);
  std::vector<double> sorted = values_of(first);
  for (double& value : sorted) value = std::abs(value);
  std::sort(sorted.rbegin(), sorted.rend());
  EXPECT_LT(largest(owed_after(config, 300)), sorted[23]);  // the 24th of 120
}

TEST(ErrorFeedback, KeepsStreamsApartAndForgetsNan) {
  const std::unique_ptr<Codec> codec = make_codec(TopKConfig{1, 0, IndexWidth::kPacked, true});
  const Message message = message_of({1, 2, Element::kFp32}, {2, 1});
  const Message zeros = message_of({1, 2, Element::kFp32}, {0, 0});
  Context other;
  other.stream = 1;
  EXPECT_EQ(round_trip(*codec, message, {}), (std::vector<double>{2, 0}));
  EXPECT_EQ(round_trip(*codec, zeros, other), (std::vector<double>{0, 0}));
  EXPECT_EQ(round_trip(*codec, zeros, {}), (std::vector<double>{0, 1}));
  const Message bad = message_of({1, 2, Element::kFp32}, {std::nan(""), std::nan("")});
  round_trip(*codec, bad, {});
  EXPECT_EQ(round_trip(*codec, zeros, {}), (std::vector<double>{0, 0}));
}

}  // namespace
}  // namespace wafervp::compression
