// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <zfp.h>

#include <cmath>

#include "messages.h"

namespace wafervp::compression {
namespace {

/// libzfp by itself: compresses and decompresses a field, and gives its size in bits.
std::vector<double> by_libzfp(std::vector<double> values, std::size_t rows, std::size_t width, double rate,
                              std::size_t& bytes) {
  std::vector<float> single(values.begin(), values.end());
  std::vector<char> buffer(single.size() * 16 + 1024);
  const unsigned dimensions = rows == 1 || width == 1 ? 1 : 2;
  zfp_field* field = dimensions == 2 ? zfp_field_2d(single.data(), zfp_type_float, width, rows)
                                     : zfp_field_1d(single.data(), zfp_type_float, rows * width);
  zfp_stream* stream = zfp_stream_open(nullptr);
  zfp_stream_set_rate(stream, rate, zfp_type_float, dimensions, 0);
  bitstream* bits = stream_open(buffer.data(), buffer.size());
  zfp_stream_set_bit_stream(stream, bits);
  zfp_stream_rewind(stream);
  bytes = zfp_compress(stream, field);
  zfp_stream_rewind(stream);
  zfp_decompress(stream, field);
  zfp_field_free(field);
  zfp_stream_close(stream);
  stream_close(bits);
  return {single.begin(), single.end()};
}

TEST(Zfp, GivesWhatLibzfpGives) {
  for (const double rate : {3.3, 8.0, 16.0}) {
    for (const auto& [rows, width] :
         {std::pair<std::uint64_t, std::uint64_t>{16, 64}, {5, 7}, {1, 33}, {33, 1}}) {
      const Message message = random_message({rows, width, Element::kFp32}, 91);
      std::size_t bytes = 0;
      const std::vector<double> expected = by_libzfp(values_of(message), rows, width, rate, bytes);
      const std::unique_ptr<Codec> codec = make_codec(ZfpConfig{rate});
      EXPECT_EQ(round_trip(*codec, message, {}), expected) << rate << ' ' << rows << " x " << width;
      // libzfp fills whole words.
      const std::uint64_t ours = codec->wire_bytes(message.shape, Direction::kForward);
      EXPECT_LE(ours, bytes);
      EXPECT_GT(ours + 8, bytes);
    }
  }
}

TEST(Zfp, HasTheBytesOfItsRate) {
  const auto bytes = [](double rate, Shape shape) {
    return make_codec(ZfpConfig{rate})->wire_bytes(shape, Direction::kForward);
  };
  EXPECT_EQ(bytes(8, {64, 64, Element::kFp32}), 64 * 64u);
  EXPECT_EQ(bytes(8, {64, 64, Element::kBf16}), 64 * 64u);
  EXPECT_EQ(bytes(12, {64, 64, Element::kFp64}), 64 * 64 * 12 / 8u);
  EXPECT_EQ(bytes(8, {5, 5, Element::kFp32}), 4 * 16u);  // four blocks of 4 x 4
  EXPECT_EQ(bytes(8, {1, 5, Element::kFp32}), 2 * 4u);   // two blocks of 4
  EXPECT_EQ(bytes(1, {1, 8, Element::kFp32}), 3u);       // a block has 9 bits at least
  EXPECT_EQ(bytes(8, {0, 5, Element::kFp32}), 0u);
}

TEST(Zfp, ErrorFallsWithTheRate) {
  // Smooth values, which ZFP is made for: its transform gains, and each bit halves the error.
  std::vector<double> values(64 * 64);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::sin(static_cast<double>(i / 64) / 9) * std::cos(static_cast<double>(i % 64) / 7);
  }
  double last = 1;
  for (const double rate : {2.0, 4.0, 8.0, 16.0}) {
    for (const Element element : {Element::kFp32, Element::kFp64}) {
      const Message message = message_of({64, 64, element}, values);
      const std::vector<double> sent = values_of(message);
      const std::vector<double> back = round_trip(*make_codec(ZfpConfig{rate}), message, {});
      double worst = 0;
      for (std::size_t i = 0; i < sent.size(); ++i) worst = std::max(worst, std::abs(sent[i] - back[i]));
      // A plain integer of `rate` bits would be off by 2^-rate.
      EXPECT_LT(worst, std::ldexp(1.0, -static_cast<int>(rate) + 1)) << rate;
      if (element == Element::kFp32) {
        EXPECT_LT(worst, last);
        last = worst;
      }
    }
  }
}

TEST(Zfp, RefusesWhatItHasNoImageFor) {
  const std::unique_ptr<Codec> codec = make_codec(ZfpConfig{});
  for (const Element element : kElements) {
    std::vector<double> values(12, 1.0);
    values[7] = std::nan("");
    expect_refusal(Refusal::kNonFinite, "row 1, column 3", [&] {
      codec->encode(message_of({3, 4, element}, values).view(), {});
    });
  }
  expect_refusal(Refusal::kBadParameter, "1 to 64", [] { make_codec(ZfpConfig{0.5}); });
  expect_refusal(Refusal::kBadParameter, "1 to 64", [] { make_codec(ZfpConfig{65}); });
}

TEST(Zfp, StaysFiniteAtTheEdgeOfAType) {
  for (const auto& [element, edge] : {std::pair<Element, double>{Element::kFp16, 65504},
                                      {Element::kBf16, 0x1.fep127},
                                      {Element::kFp32, std::numeric_limits<float>::max()},
                                      {Element::kFp64, std::numeric_limits<double>::max()}}) {
    std::vector<double> values(64);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 3 == 0 ? -edge : edge;
    const Message message = message_of({8, 8, element}, values);
    for (const double value : round_trip(*make_codec(ZfpConfig{4}), message, {}))
      EXPECT_TRUE(std::isfinite(value));
  }
}

}  // namespace
}  // namespace wafervp::compression
