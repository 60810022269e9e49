// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>

#include "messages.h"

namespace wafervp::compression {
namespace {

/// The smallest number of the type of scales that is not below `value`, by trying all neighbours from below.
double scale_not_below(Element element, double value) {
  if (element == Element::kFp32) {
    auto scale = static_cast<float>(value);
    if (static_cast<double>(scale) < value)
      scale = std::nextafter(scale, std::numeric_limits<float>::infinity());
    return scale;
  }
  const auto as_value = [&](std::uint16_t bits) {
    return static_cast<double>(element == Element::kBf16 ? float_from_bf16(bits) : float_from_fp16(bits));
  };
  std::uint16_t bits = 0;
  while (as_value(bits) < value) ++bits;
  return as_value(bits);
}

TEST(IntBlock, FollowsItsDefinition) {
  for (const unsigned bits : {8u, 4u}) {
    const double largest_code = bits == 8 ? 127 : 7;
    for (const Element scale_type : {Element::kFp32, Element::kBf16, Element::kFp16}) {
      for (const std::uint32_t block : {1u, 5u, 128u}) {
        for (const Element element : kElements) {
          const Message message = random_message({3, 43, element}, 31);
          const std::vector<double> x = values_of(message);
          const std::unique_ptr<Codec> codec = make_codec(IntBlockConfig{bits, block, scale_type});
          const std::vector<double> back = round_trip(*codec, message, {});
          for (std::size_t first = 0; first < x.size(); first += block) {
            const std::size_t end = std::min<std::size_t>(first + block, x.size());
            double largest = 0;
            for (std::size_t i = first; i < end; ++i) largest = std::max(largest, std::abs(x[i]));
            // The definition divides the largest magnitude in exact numbers; one unit for its rounding to
            // fp64.
            const double scale = scale_not_below(scale_type, largest / largest_code * (1 - 0x1p-52));
            for (std::size_t i = first; i < end; ++i) {
              const double q = std::nearbyint(x[i] / scale);
              ASSERT_LE(std::abs(q), largest_code);
              // One code beside it where the quotient is a tie but for rounding.
              const double tolerance = std::abs(x[i] / scale - q) > 0.4999 ? scale * 1.0001 : 0;
              ASSERT_NEAR(back[i], q * scale, tolerance + 2 * roundoff(element) * std::abs(q * scale));
              ASSERT_LE(std::abs(back[i] - x[i]), scale / 2 * 1.0001 + roundoff(element) * std::abs(x[i]));
            }
          }
        }
      }
    }
  }
}

/// bf16 goes another way than fp32, without a copy: to the same codes, and to the same values rounded.
TEST(IntBlock, TakesBf16AsTheSameValuesOfFp32) {
  for (const unsigned bits : {8u, 4u}) {
    for (const double deviation : {1e-38, 1e-30, 1.0, 1e37}) {
      const Message narrow = random_message({5, 77, Element::kBf16}, 41, deviation);
      const Message wide = message_of({5, 77, Element::kFp32}, values_of(narrow));
      const std::unique_ptr<Codec> codec = make_codec(IntBlockConfig{bits, 16, Element::kFp32});
      const Encoded one = codec->encode(narrow.view(), {}), two = codec->encode(wide.view(), {});
      EXPECT_EQ(one.payload, two.payload) << deviation;
      const std::vector<double> back = values_of(Element::kBf16, codec->decode(one, narrow.shape, {}));
      const std::vector<double> exact = values_of(Element::kFp32, codec->decode(two, wide.shape, {}));
      for (std::size_t i = 0; i < back.size(); ++i) {
        EXPECT_EQ(back[i], float_from_bf16(bf16_from_float(static_cast<float>(exact[i]))));
      }
    }
  }
}

TEST(IntBlock, HasTheBytesOfItsDefinition) {
  const auto bytes = [](IntBlockConfig config, Shape shape) {
    return make_codec(config)->wire_bytes(shape, Direction::kForward);
  };
  EXPECT_EQ(bytes({8, 128, Element::kFp32}, {4, 256, Element::kBf16}), 8 * (4 + 128));
  EXPECT_EQ(bytes({8, 128, Element::kFp16}, {1, 129, Element::kBf16}), (2 + 128) + (2 + 1));
  EXPECT_EQ(bytes({4, 128, Element::kFp32}, {4, 256, Element::kFp64}), 8 * (4 + 64));
  EXPECT_EQ(bytes({4, 7, Element::kBf16}, {1, 10, Element::kFp32}), (2 + 4) + (2 + 2));
  EXPECT_EQ(bytes({8, 128, Element::kFp32}, {0, 5, Element::kFp32}), 0);
}

TEST(IntBlock, StandsOnTheWireAsDescribed) {
  const std::unique_ptr<Codec> codec = make_codec(IntBlockConfig{4, 3, Element::kFp32});
  // Scales 1 and 2; codes 7, -3, 0 | 7.
  const Encoded encoded = codec->encode(message_of({1, 4, Element::kFp32}, {7, -3, 0.25, 14}).view(), {});
  const std::vector<unsigned> expected{0x00, 0x00, 0x80, 0x3f, 0xd7, 0x00, 0x00, 0x00, 0x00, 0x40, 0x07};
  ASSERT_EQ(encoded.payload.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(static_cast<unsigned>(encoded.payload[i]), expected[i]) << i;
  }
}

TEST(IntBlock, PoisonsTheBlockOfANanAndNoOther) {
  for (const unsigned bits : {8u, 4u}) {
    const std::unique_ptr<Codec> codec = make_codec(IntBlockConfig{bits, 4, Element::kBf16});
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
      const std::vector<double> back =
          round_trip(*codec, message_of({3, 4, Element::kFp32}, {1, 1, 1, 1, 1, bad, 1, 1, 1, 1, 1, 1}), {});
      for (std::size_t i = 0; i < back.size(); ++i) EXPECT_EQ(std::isnan(back[i]), i >= 4 && i < 8) << i;
    }
  }
}

TEST(IntBlock, KeepsTheEdgesOfATypeFinite) {
  const struct {
    Element element;
    double edge;
  } edges[] = {{Element::kFp16, 65504},
               {Element::kBf16, 0x1.fep127},
               {Element::kFp32, std::numeric_limits<float>::max()}};
  for (const auto& [element, edge] : edges) {
    const std::unique_ptr<Codec> codec = make_codec(IntBlockConfig{8, 2, Element::kBf16});
    const std::vector<double> back = round_trip(*codec, message_of({1, 2, element}, {edge, -edge}), {});
    EXPECT_NEAR(back[0] / edge, 1, 0x1p-8);
    EXPECT_NEAR(back[1] / edge, -1, 0x1p-8);
  }
}

TEST(IntBlock, KeepsDenormalsAsFinelyAsItsScales) {
  const std::unique_ptr<Codec> codec = make_codec(IntBlockConfig{8, 128, Element::kFp32});
  const std::vector<double> x{0x1p-149, -0x1p-148, 100 * 0x1p-149};
  EXPECT_EQ(round_trip(*codec, message_of({1, 3, Element::kFp32}, x), {}), x);
  // Below the least scale: within half of it.
  const std::vector<double> tiny =
      round_trip(*codec, message_of({1, 2, Element::kFp64}, {0x1p-1074, 1e-200}), {});
  EXPECT_LE(std::abs(tiny[0]), 0x1p-149);
  EXPECT_LE(std::abs(tiny[1]), 0x1p-149);
}

TEST(IntBlock, RefusesBlocksBeyondTheTypeOfScales) {
  const auto encode = [](Element scale, Element element, double value) {
    make_codec(IntBlockConfig{8, 128, scale})->encode(message_of({1, 1, element}, {value}).view(), {});
  };
  expect_refusal(Refusal::kScaleOutOfRange, "fp16", [&] { encode(Element::kFp16, Element::kFp32, 1e9); });
  expect_refusal(Refusal::kScaleOutOfRange, "fp32", [&] { encode(Element::kFp32, Element::kFp64, 1e300); });
  encode(Element::kFp16, Element::kFp32, 65504.0 * 127);
}

TEST(IntBlock, RefusesScalesAndCodesThatNoSenderWrites) {
  const std::unique_ptr<Codec> codec = make_codec(IntBlockConfig{8, 4, Element::kFp32});
  const Message message = message_of({1, 3, Element::kFp32}, {1, 2, 3});
  const auto decode_with = [&](std::size_t at, std::vector<unsigned> bytes) {
    Encoded encoded = codec->encode(message.view(), {});
    for (std::size_t i = 0; i < bytes.size(); ++i) encoded.payload[at + i] = static_cast<std::byte>(bytes[i]);
    codec->decode(encoded, message.shape, {});
  };
  expect_refusal(Refusal::kMalformed, "block 0", [&] { decode_with(0, {0, 0, 0x80, 0xbf}); });  // -1
  expect_refusal(Refusal::kMalformed, "inf", [&] { decode_with(0, {0, 0, 0x80, 0x7f}); });
  expect_refusal(Refusal::kMalformed, "-128", [&] { decode_with(4, {0x80}); });
}

TEST(IntBlock, RefusesParametersOutOfRange) {
  expect_refusal(Refusal::kBadParameter, "bits", [] { make_codec(IntBlockConfig{6, 128, Element::kFp32}); });
  expect_refusal(Refusal::kBadParameter, "block", [] { make_codec(IntBlockConfig{8, 0, Element::kFp32}); });
  expect_refusal(Refusal::kBadParameter, "65537", [] {
    make_codec(IntBlockConfig{8, 65537, Element::kFp32});
  });
  expect_refusal(Refusal::kBadParameter, "fp64", [] { make_codec(IntBlockConfig{8, 128, Element::kFp64}); });
}

}  // namespace
}  // namespace wafervp::compression
