// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cstring>

#include "compression/values.h"
#include "core/split_mix.h"
#include "messages.h"

namespace wafervp::compression {
namespace {

std::uint64_t coded_bytes(Element element, std::uint64_t elements, std::uint64_t escapes) {
  const FloatFormat format = float_format(element);
  const std::uint64_t exponent = format.exponent_bits > 8 ? 2 : 1;
  return 1 + 4 + 16 * exponent + ((1 + format.mantissa_bits) * elements + 7) / 8 + (elements + 1) / 2 +
         escapes * (4 + exponent);
}

void expect_same_bits(const Message& message) {
  const std::unique_ptr<Codec> codec = make_codec(LosslessConfig{});
  const Encoded encoded = codec->encode(message.view(), {});
  EXPECT_EQ(codec->decode(encoded, message.shape, {}), message.bytes);
}

TEST(Lossless, KeepsEveryBitPatternOf16Bits) {
  for (const Element element : {Element::kBf16, Element::kFp16}) {
    Message message{{256, 256, element}, std::vector<std::byte>(131072)};
    for (int i = 0; i < 65536; ++i) {
      const auto bits = static_cast<std::uint16_t>(i);
      std::memcpy(message.bytes.data() + 2 * i, &bits, 2);
    }
    expect_same_bits(message);
    // Each alone, so that each exponent is once in the book and NaN payloads go through the codes.
    for (int i = 0; i < 65536; i += 7) {
      Message one{{1, 60, element}, {}};
      for (int copy = 0; copy < 60; ++copy) {
        one.bytes.insert(one.bytes.end(), message.bytes.begin() + 2 * i, message.bytes.begin() + 2 * i + 2);
      }
      expect_same_bits(one);
    }
  }
}

TEST(Lossless, KeepsRandomBitPatternsAndSpecialValues) {
  SplitMix random(81);
  for (const Element element : kElements) {
    for (const std::uint64_t count : {1, 15, 16, 17, 1000}) {
      Message message{{1, count, element}, std::vector<std::byte>(count * element_bytes(element))};
      for (std::byte& byte : message.bytes) byte = static_cast<std::byte>(random.next() & 0xff);
      expect_same_bits(message);
    }
    const double inf = std::numeric_limits<double>::infinity();
    std::vector<double> values;
    for (int i = 0; i < 200; ++i) values.insert(values.end(), {-0.0, 0.0, inf, -inf, 0x1p-149, 1.5});
    expect_same_bits(message_of({4, 300, element}, values));
  }
}

TEST(Lossless, TakesFourBitsForEachExponent) {
  for (const Element element : {Element::kBf16, Element::kFp32, Element::kFp64}) {
    // 16 exponents: no escape.
    std::vector<double> values(1600);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = std::ldexp(1.25, static_cast<int>(i % 16) - 8);
    const Message message = message_of({40, 40, element}, values);
    const std::unique_ptr<Codec> codec = make_codec(LosslessConfig{});
    EXPECT_EQ(codec->encode(message.view(), {}).payload.size(), coded_bytes(element, 1600, 0));
    // Three elements of two more exponents.
    values[5] = 1e5;
    values[6] = values[1599] = 1e-6;
    const Message more = message_of({40, 40, element}, values);
    EXPECT_EQ(codec->encode(more.view(), {}).payload.size(), coded_bytes(element, 1600, 3));
    expect_same_bits(more);
  }
}

TEST(Lossless, ReachesTheRatioOfItsKindOnNormalNumbers) {
  const Message message = random_message({64, 1024, Element::kBf16}, 82);
  const std::unique_ptr<Codec> codec = make_codec(LosslessConfig{});
  const double ratio = static_cast<double>(message.bytes.size()) /
                       static_cast<double>(codec->encode(message.view(), {}).payload.size());
  EXPECT_GT(ratio, 1.3);      // reported by the paper of its kind
  EXPECT_LT(ratio, 4.0 / 3);  // 16 bits by 12
}

TEST(Lossless, SendsTheValuesThemselvesWhereThatIsShorter) {
  const Message message = random_message({1, 3, Element::kFp32}, 83);
  const Encoded encoded = make_codec(LosslessConfig{})->encode(message.view(), {});
  EXPECT_EQ(encoded.payload.size(), 1 + 12u);
  EXPECT_EQ(encoded.payload.front(), std::byte{0});
}

TEST(Lossless, AssumesItsRatioWithoutValues) {
  const Shape shape{10, 130, Element::kBf16};
  EXPECT_EQ(make_codec(LosslessConfig{1.3})->wire_bytes(shape, Direction::kForward), 2000u);
  EXPECT_EQ(make_codec(LosslessConfig{1.3})->worst_case_bytes(shape, Direction::kForward), 2601u);
  EXPECT_EQ(make_codec(LosslessConfig{0.5})->wire_bytes(shape, Direction::kForward), 2601u);
  expect_refusal(Refusal::kBadParameter, "assumed_ratio", [] { make_codec(LosslessConfig{0}); });
}

TEST(Lossless, RefusesWireImagesThatNoSenderWrites) {
  std::vector<double> values(100, 1.0);
  for (int i = 0; i < 20; ++i) values[static_cast<std::size_t>(i * 5)] = std::ldexp(1.0, i - 10);
  const Message message = message_of({1, 100, Element::kBf16}, values);
  const std::unique_ptr<Codec> codec = make_codec(LosslessConfig{});
  const Encoded good = codec->encode(message.view(), {});
  ASSERT_EQ(good.payload.front(), std::byte{1});
  ASSERT_EQ(good.payload.size(), coded_bytes(Element::kBf16, 100, 4));
  const auto decode_with = [&](const std::function<void(std::vector<std::byte>&)>& change) {
    Encoded encoded = good;
    change(encoded.payload);
    encoded.header.payload_bytes = encoded.payload.size();
    codec->decode(encoded, message.shape, {});
  };
  using Bytes = std::vector<std::byte>;
  const std::size_t escapes = coded_bytes(Element::kBf16, 100, 0);
  expect_refusal(Refusal::kTruncated, "form byte", [&] { decode_with([](Bytes& b) { b.clear(); }); });
  expect_refusal(Refusal::kMalformed, "found 2", [&] { decode_with([](Bytes& b) { b[0] = std::byte{2}; }); });
  expect_refusal(Refusal::kTruncated, "201", [&] { decode_with([](Bytes& b) { b[0] = std::byte{0}; }); });
  expect_refusal(Refusal::kTruncated, "at least", [&] { decode_with([](Bytes& b) { b.resize(30); }); });
  expect_refusal(Refusal::kTruncated, "4 escapes", [&] { decode_with([](Bytes& b) { b.pop_back(); }); });
  expect_refusal(Refusal::kTruncated, "5 escapes",
                 [&] { decode_with([](Bytes& b) { b[1] = std::byte{5}; }); });
  expect_refusal(Refusal::kTooLong, "3 escapes", [&] { decode_with([](Bytes& b) { b[1] = std::byte{3}; }); });
  expect_refusal(Refusal::kMalformed, "ascend",
                 [&] { decode_with([&](Bytes& b) { b[escapes + 5] = b[escapes]; }); });
  expect_refusal(Refusal::kMalformed, "ascend",
                 [&] { decode_with([&](Bytes& b) { b[escapes + 15] = std::byte{100}; }); });
}

}  // namespace
}  // namespace wafervp::compression
