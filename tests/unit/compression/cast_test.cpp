// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>

#include "compression/values.h"
#include "messages.h"

namespace wafervp::compression {
namespace {

double cast_one(Element from, Element to, double value) {
  const std::unique_ptr<Codec> codec = make_codec(CastConfig{to});
  return round_trip(*codec, message_of({1, 1, from}, {value}), {}).front();
}

/// All finite values of a 16-bit type, ascending.
std::vector<double> all_of(Element element) {
  std::vector<double> values;
  for (int bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const double value = element == Element::kBf16 ? float_from_bf16(half) : float_from_fp16(half);
    if (std::isfinite(value)) values.push_back(value);
  }
  std::sort(values.begin(), values.end());
  return values;
}

TEST(Cast, GivesTheNearestValueOfTheType) {
  for (const Element to : {Element::kBf16, Element::kFp16}) {
    const std::vector<double> known = all_of(to);
    for (const Element from : {Element::kFp64, Element::kFp32}) {
      for (const double deviation : {1.0, 1e-3, 1e3, 1e-7}) {
        const Message message = random_message({1, 500, from}, 21, deviation);
        const std::unique_ptr<Codec> codec = make_codec(CastConfig{to});
        const std::vector<double> sent = values_of(message);
        const std::vector<double> back = round_trip(*codec, message, {});
        for (std::size_t i = 0; i < sent.size(); ++i) {
          const auto above = std::lower_bound(known.begin(), known.end(), sent[i]);
          ASSERT_NE(above, known.end());
          const double nearest =
              std::min(*above - sent[i], sent[i] - *(above == known.begin() ? above : above - 1));
          ASSERT_EQ(std::abs(back[i] - sent[i]), nearest) << sent[i];
        }
      }
    }
  }
}

TEST(Cast, RoundsFp64Once) {
  // Just above the middle of 1 and 1 + 2^-7 (bf16), or 1 + 2^-10 (fp16): by way of fp32 it would be the
  // middle, which goes down to the even 1.
  EXPECT_EQ(cast_one(Element::kFp64, Element::kBf16, 1 + 0x1p-8 + 0x1p-40), 1 + 0x1p-7);
  EXPECT_EQ(cast_one(Element::kFp64, Element::kFp16, 1 + 0x1p-11 + 0x1p-40), 1 + 0x1p-10);
  // Just below the middle of 1 + 2^-7 and 1 + 2^-6, which would go up.
  EXPECT_EQ(cast_one(Element::kFp64, Element::kBf16, 1 + 3 * 0x1p-8 - 0x1p-40), 1 + 0x1p-7);
  EXPECT_EQ(cast_one(Element::kFp64, Element::kBf16, -(1 + 3 * 0x1p-8 - 0x1p-40)), -(1 + 0x1p-7));
  // Ties to even.
  EXPECT_EQ(cast_one(Element::kFp64, Element::kBf16, 1 + 0x1p-8), 1);
  EXPECT_EQ(cast_one(Element::kFp64, Element::kBf16, 1 + 3 * 0x1p-8), 1 + 0x1p-6);
}

TEST(Cast, OverflowsToInfinityAndKeepsNanAndSigns) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(cast_one(Element::kFp32, Element::kFp16, 65520), inf);
  EXPECT_EQ(cast_one(Element::kFp32, Element::kFp16, 65519), 65504);
  EXPECT_EQ(cast_one(Element::kFp64, Element::kFp32, 1e300), inf);
  EXPECT_EQ(cast_one(Element::kFp64, Element::kBf16, -1e300), -inf);
  EXPECT_TRUE(std::isnan(cast_one(Element::kFp64, Element::kFp16, std::nan(""))));
  EXPECT_TRUE(std::signbit(cast_one(Element::kFp32, Element::kBf16, -0.0)));
  EXPECT_EQ(cast_one(Element::kFp32, Element::kFp16, 0x1p-24), 0x1p-24);
  EXPECT_EQ(cast_one(Element::kFp32, Element::kFp16, 0x1p-26), 0);
}

TEST(Cast, KeepsAllValuesOfItsOwnType) {
  for (const Element element : {Element::kBf16, Element::kFp16}) {
    const std::vector<double> values = all_of(element);
    const std::unique_ptr<Codec> codec = make_codec(CastConfig{element});
    EXPECT_EQ(round_trip(*codec, message_of({1, values.size(), element}, values), {}), values);
  }
}

TEST(Cast, TakesNoTypeWhoseRangeItWouldCut) {
  const std::unique_ptr<Codec> codec = make_codec(CastConfig{Element::kBf16});
  expect_refusal(Refusal::kElementNotSupported, "fp16", [&] {
    codec->encode(message_of({1, 1, Element::kFp16}, {1}).view(), {});
  });
  expect_refusal(Refusal::kBadParameter, "int32", [] { make_codec(CastConfig{Element::kInt32}); });
}

}  // namespace
}  // namespace wafervp::compression
