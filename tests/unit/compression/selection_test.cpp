// SPDX-License-Identifier: Apache-2.0
// The codecs that choose elements: top_k and threshold.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "messages.h"

namespace wafervp::compression {
namespace {

/// Values with all but the k of largest magnitude (the first among equals) set to zero, by a stable sort.
std::vector<double> keep_largest(std::vector<double> row, std::size_t k) {
  std::vector<std::size_t> order(row.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return std::abs(row[a]) > std::abs(row[b]); });
  for (std::size_t i = k; i < order.size(); ++i) row[order[i]] = 0;
  return row;
}

TEST(TopK, KeepsTheLargestOfEachRow) {
  for (const Element element : kElements) {
    for (const std::uint64_t k : {1, 3, 10, 31, 100}) {
      const Message message = random_message({5, 31, element}, 41);
      const std::unique_ptr<Codec> codec = make_codec(TopKConfig{k, 0, IndexWidth::kPacked, false});
      const std::vector<double> sent = values_of(message);
      const std::vector<double> back = round_trip(*codec, message, {});
      for (std::ptrdiff_t row = 0; row < 5; ++row) {
        const std::vector<double> expected =
            keep_largest({sent.begin() + row * 31, sent.begin() + (row + 1) * 31}, k);
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), back.begin() + row * 31));
      }
    }
  }
}

TEST(TopK, TakesTheFirstAmongEqualsAndNanBeforeAll) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::nan("");
  const std::unique_ptr<Codec> codec = make_codec(TopKConfig{2, 0, IndexWidth::kPacked, false});
  EXPECT_EQ(round_trip(*codec, message_of({1, 4, Element::kFp32}, {1, -2, 2, 2}), {}),
            (std::vector<double>{0, -2, 2, 0}));
  const std::vector<double> back =
      round_trip(*codec, message_of({1, 4, Element::kBf16}, {9, -inf, nan, 8}), {});
  EXPECT_EQ(back[0], 0);
  EXPECT_EQ(back[1], -inf);
  EXPECT_TRUE(std::isnan(back[2]));
  EXPECT_EQ(back[3], 0);
}

TEST(TopK, HasTheBytesOfItsDefinition) {
  const auto bytes = [](TopKConfig config, Shape shape) {
    return make_codec(config)->wire_bytes(shape, Direction::kForward);
  };
  // rows K e + ceil(rows K ceil(log2 width) / 8)
  EXPECT_EQ(bytes({10, 0, IndexWidth::kPacked, false}, {4, 4096, Element::kBf16}),
            4 * 10 * 2 + 4 * 10 * 12 / 8);
  EXPECT_EQ(bytes({3, 0, IndexWidth::kPacked, false}, {1, 5, Element::kFp32}), 3 * 4 + 2);  // 9 bits
  EXPECT_EQ(bytes({3, 0, IndexWidth::kPacked, false}, {7, 1, Element::kFp32}), 7 * 4);      // no index at all
  EXPECT_EQ(bytes({10, 0, IndexWidth::k16, false}, {4, 4096, Element::kBf16}), 4 * 10 * (2 + 2));
  EXPECT_EQ(bytes({10, 0, IndexWidth::k32, false}, {4, 4096, Element::kFp64}), 4 * 10 * (8 + 4));
  EXPECT_EQ(bytes({0, 0.1, IndexWidth::k16, false}, {2, 101, Element::kFp32}), 2 * 11 * (4 + 2));
  expect_refusal(Refusal::kWrongShape, "2^16", [&] {
    bytes({1, 0, IndexWidth::k16, false}, {1, 65537, Element::kFp32});
  });
}

TEST(TopK, RefusesIndicesThatDoNotAscend) {
  const std::unique_ptr<Codec> codec = make_codec(TopKConfig{2, 0, IndexWidth::k16, false});
  const Message message = message_of({1, 5, Element::kFp32}, {5, 4, 3, 2, 1});
  const auto decode_with = [&](unsigned first, unsigned second) {
    Encoded encoded = codec->encode(message.view(), {});
    encoded.payload[8] = static_cast<std::byte>(first);
    encoded.payload[10] = static_cast<std::byte>(second);
    codec->decode(encoded, message.shape, {});
  };
  decode_with(1, 4);
  expect_refusal(Refusal::kMalformed, "row 0", [&] { decode_with(1, 1); });
  expect_refusal(Refusal::kMalformed, "row 0", [&] { decode_with(3, 1); });
  expect_refusal(Refusal::kMalformed, "width 5", [&] { decode_with(1, 5); });
}

TEST(TopK, RefusesParametersOutOfRange) {
  for (const double fraction : {0.0, -0.5, 1.5, std::nan("")}) {
    expect_refusal(Refusal::kBadParameter, "fraction", [&] {
      make_codec(TopKConfig{0, fraction, IndexWidth::kPacked, false});
    });
  }
}

ThresholdConfig threshold(double density, std::uint64_t renew_every) {
  ThresholdConfig config;
  config.density = density;
  config.renew_every = renew_every;
  return config;
}

TEST(Threshold, LetsItsDensityThroughWhenItIsRenewed) {
  for (const Element element : kElements) {
    const std::unique_ptr<Codec> codec = make_codec(threshold(0.1, 1));
    const Message message = random_message({4, 251, element}, 42);
    const std::vector<double> sent = values_of(message);
    const std::vector<double> back = round_trip(*codec, message, {});
    // The 101st largest magnitude (10 % of 1004, rounded up) and what equals it.
    std::vector<double> sorted = sent;
    std::sort(sorted.begin(), sorted.end(), [](double a, double b) { return std::abs(a) > std::abs(b); });
    const double tau = std::abs(sorted[100]);
    for (std::size_t i = 0; i < sent.size(); ++i) EXPECT_EQ(back[i], std::abs(sent[i]) >= tau ? sent[i] : 0);
  }
}

TEST(Threshold, KeepsItsThresholdForSoManyMessagesOfAStream) {
  const std::unique_ptr<Codec> codec = make_codec(threshold(0.5, 2));
  const auto kept = [&](std::vector<double> values, std::uint64_t stream) {
    Context context;
    context.stream = stream;
    const std::vector<double> back = round_trip(*codec, message_of({1, 4, Element::kFp32}, values), context);
    return std::count_if(back.begin(), back.end(), [](double value) { return value != 0; });
  };
  EXPECT_EQ(kept({1, 2, 3, 4}, 0), 2);      // tau = 3
  EXPECT_EQ(kept({1, 1, 1, 3}, 0), 1);      // still 3
  EXPECT_EQ(kept({1, 1, 1, 3}, 7), 4);      // another stream: tau = 1
  EXPECT_EQ(kept({10, 20, 30, 40}, 0), 2);  // renewed: 30
  EXPECT_EQ(kept({1, 2, 3, 4}, 0), 0);
}

TEST(Threshold, NeverSendsZerosAndAlwaysNan) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::unique_ptr<Codec> codec = make_codec(threshold(1, 1000));
  const Message zeros = message_of({2, 3, Element::kFp32}, {0, 0, -0.0, 0, 0, 0});
  EXPECT_EQ(codec->encode(zeros.view(), {}).payload.size(), 0);
  const Message bad = message_of({1, 3, Element::kFp32}, {inf, std::nan(""), 0});
  EXPECT_EQ(codec->encode(bad.view(), {}).payload.size(), 2 * 8);
}

TEST(Threshold, AssumesTheBytesOfItsDensityOrOfARatio) {
  const Shape shape{10, 100, Element::kFp32};
  ThresholdConfig config = threshold(0.01, 1);
  EXPECT_EQ(make_codec(config)->wire_bytes(shape, Direction::kForward), 10 * 8);
  config.assumed_ratio = 100;
  EXPECT_EQ(make_codec(config)->wire_bytes(shape, Direction::kForward), 40);
  EXPECT_EQ(make_codec(config)->worst_case_bytes(shape, Direction::kForward), 1000 * 8);
}

TEST(Threshold, RefusesWireImagesThatNoSenderWrites) {
  const std::unique_ptr<Codec> codec = make_codec(threshold(0.5, 1));
  const Message message = message_of({1, 4, Element::kFp32}, {1, 2, 3, 4});
  const auto decode_with = [&](const std::function<void(Encoded&)>& change) {
    Encoded encoded = codec->encode(message.view(), {});
    change(encoded);
    encoded.header.payload_bytes = encoded.payload.size();
    codec->decode(encoded, message.shape, {});
  };
  expect_refusal(Refusal::kMalformed, "8 bytes",
                 [&] { decode_with([](Encoded& e) { e.payload.pop_back(); }); });
  expect_refusal(Refusal::kMalformed, "below 4",
                 [&] { decode_with([](Encoded& e) { e.payload[8] = std::byte{4}; }); });
  expect_refusal(Refusal::kMalformed, "ascend",
                 [&] { decode_with([](Encoded& e) { e.payload[8] = std::byte{2}; }); });
  expect_refusal(Refusal::kTooLong, "at most 32",
                 [&] { decode_with([](Encoded& e) { e.payload.resize(40); }); });
}

}  // namespace
}  // namespace wafervp::compression
