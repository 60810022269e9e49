// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>

#include "messages.h"

namespace wafervp::compression {
namespace {

TEST(LowRank, HasTheBytesOfItsDefinition) {
  const auto bytes = [](std::uint64_t rank, Shape shape) {
    return make_codec(LowRankConfig{rank, true, true, 1})->wire_bytes(shape, Direction::kBackward);
  };
  EXPECT_EQ(bytes(4, {100, 60, Element::kFp32}), 4 * (100 + 60) * 4);
  EXPECT_EQ(bytes(64, {4096, 4096, Element::kBf16}), 64 * 8192 * 2);
  EXPECT_EQ(bytes(4, {2, 60, Element::kFp64}), 2 * 62 * 8);  // the rank of a matrix is at most its extents
  EXPECT_EQ(bytes(4, {0, 60, Element::kFp64}), 0);
}

TEST(LowRank, BringsMatricesOfItsRankBack) {
  for (const Element element : kElements) {
    const std::uint64_t rows = 12, width = 9;
    std::vector<double> values(rows * width);
    for (std::uint64_t i = 0; i < rows; ++i) {
      for (std::uint64_t j = 0; j < width; ++j) {
        values[i * width + j] = std::sin(1.0 + static_cast<double>(i)) * std::cos(static_cast<double>(j)) +
                                (i % 2 == 0 ? 0.5 : -0.5) * static_cast<double>(j);
      }
    }
    const Message message = message_of({rows, width, element}, values);
    const std::unique_ptr<Codec> codec = make_codec(LowRankConfig{2, false, true, 1});
    const std::vector<double> sent = values_of(message);
    const std::vector<double> back = round_trip(*codec, message, backward_context());
    // Rounding of the message itself (which then has a full rank), of P, Q and the answer; magnitudes up
    // to 5.
    for (std::size_t i = 0; i < sent.size(); ++i) EXPECT_NEAR(back[i], sent[i], 100 * roundoff(element)) << i;
  }
}

TEST(LowRank, MissesNoMoreThanTheMatrixHas) {
  // P Q^T is a projection of the message: what it misses is no larger than the message itself.
  const Message message = random_message({40, 30, Element::kFp64}, 5);
  const std::unique_ptr<Codec> codec = make_codec(LowRankConfig{5, false, true, 1});
  const std::vector<double> sent = values_of(message);
  const std::vector<double> back = round_trip(*codec, message, backward_context());
  double missed = 0, all = 0, got = 0;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    missed += (sent[i] - back[i]) * (sent[i] - back[i]);
    got += back[i] * back[i];
    all += sent[i] * sent[i];
  }
  EXPECT_NEAR(missed + got, all, 1e-9 * all);  // Pythagoras
  EXPECT_GT(got, 5.0 / 30 * all);              // better than five directions at random
}

TEST(LowRank, StartsAnewWithAnotherShape) {
  const std::unique_ptr<Codec> codec = make_codec(LowRankConfig{2, true, true, 1});
  const Message first = random_message({6, 8, Element::kFp32}, 1),
                second = random_message({8, 6, Element::kFp32}, 2);
  const std::vector<std::byte> fresh =
      make_codec(LowRankConfig{2, true, true, 1})->encode(second.view(), {}).payload;
  codec->encode(first.view(), {});
  EXPECT_EQ(codec->encode(second.view(), {}).payload, fresh);
  EXPECT_NE(codec->encode(second.view(), {}).payload, fresh);
}

}  // namespace
}  // namespace wafervp::compression
