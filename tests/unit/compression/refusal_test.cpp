// SPDX-License-Identifier: Apache-2.0
// What each codec refuses of a message and of a wire header, by name.
#include <gmock/gmock.h>

#include <set>

#include "messages.h"

namespace wafervp::compression {
namespace {

constexpr std::uint64_t kWidth = 12;
const Shape kShape{6, kWidth, Element::kFp32};

template <class Check>
void for_each_codec(Check check) {
  const std::vector<std::uint32_t> ids = ids_of(kShape.rows);
  for (const NamedConfig& named : codecs_for(kWidth)) {
    SCOPED_TRACE(named.name);
    const std::unique_ptr<Codec> codec = make_codec(named.config);
    const Context context = forward_context(ids);
    if (codec->id() == CodecId::kCast && std::get<CastConfig>(named.config).to == Element::kFp32) continue;
    check(*codec, context);
  }
}

TEST(Refusal, MessagesOfTheWrongSizeOrType) {
  for_each_codec([](Codec& codec, const Context& context) {
    Message message = random_message(kShape, 1);
    message.bytes.pop_back();
    expect_refusal(Refusal::kBadMessage, "288 bytes for 6 x 12 fp32",
                   [&] { codec.encode(message.view(), context); });
    message.bytes.push_back(std::byte{0});
    message.shape.element = Element::kInt32;
    expect_refusal(Refusal::kElementNotSupported, "int32", [&] { codec.encode(message.view(), context); });
    const Shape huge{std::uint64_t{1} << 40, std::uint64_t{1} << 40, Element::kFp32};
    expect_refusal(Refusal::kWrongShape, "2^48", [&] { codec.encode({huge, {}}, context); });
  });
}

TEST(Refusal, HeadersOfAnotherMessage) {
  for_each_codec([](Codec& codec, const Context& context) {
    const Message message = random_message(kShape, 2);
    const Encoded good = codec.encode(message.view(), context);
    const auto decode_with = [&](const std::function<void(Encoded&)>& change) {
      Encoded encoded = good;
      change(encoded);
      codec.decode(encoded, kShape, context);
    };
    decode_with([](Encoded&) {});
    expect_refusal(Refusal::kWrongCodec, "", [&] {
      decode_with([](Encoded& e) { e.header.codec = static_cast<std::uint8_t>((e.header.codec + 1) % 10); });
    });
    expect_refusal(Refusal::kWrongCodec, "unknown",
                   [&] { decode_with([](Encoded& e) { e.header.codec = 77; }); });
    expect_refusal(Refusal::kWrongShape, "5 x 12",
                   [&] { decode_with([](Encoded& e) { e.header.shape.rows = 5; }); });
    expect_refusal(Refusal::kWrongShape, "6 x 11",
                   [&] { decode_with([](Encoded& e) { e.header.shape.width = 11; }); });
    expect_refusal(Refusal::kWrongShape, "fp64",
                   [&] { decode_with([](Encoded& e) { e.header.shape.element = Element::kFp64; }); });
    expect_refusal(Refusal::kWrongShape, "backward",
                   [&] { decode_with([](Encoded& e) { e.header.direction = Direction::kBackward; }); });
    expect_refusal(Refusal::kWrongParameter, "",
                   [&] { decode_with([](Encoded& e) { e.header.parameter ^= 1; }); });
    expect_refusal(Refusal::kWrongVersion, "",
                   [&] { decode_with([](Encoded& e) { e.header.version += 1; }); });
  });
}

TEST(Refusal, PayloadsOfTheWrongLength) {
  for_each_codec([](Codec& codec, const Context& context) {
    const Message message = random_message(kShape, 3);
    const Encoded good = codec.encode(message.view(), context);
    const auto decode_with = [&](std::size_t size, std::size_t said) {
      Encoded encoded = good;
      encoded.payload.resize(size);
      encoded.header.payload_bytes = said;
      codec.decode(encoded, kShape, context);
    };
    const std::size_t size = good.payload.size();
    ASSERT_GT(size, 0u);
    expect_refusal(Refusal::kTruncated, "", [&] { decode_with(size - 1, size); });
    expect_refusal(Refusal::kTooLong, "", [&] { decode_with(size + 1, size); });
    // A header that tells the same wrong length.
    if (codec.ratio_depends_on_data()) return;
    expect_refusal(Refusal::kTruncated, "", [&] { decode_with(size - 1, size - 1); });
    expect_refusal(Refusal::kTooLong, "", [&] { decode_with(size + 1, size + 1); });
    expect_refusal(Refusal::kTruncated, "found 0", [&] { decode_with(0, 0); });
  });
}

TEST(Refusal, EachHasAWordOfItsOwn) {
  std::set<std::string> words;
  for (int i = 0; i <= static_cast<int>(Refusal::kScaleOutOfRange); ++i) {
    words.insert(refusal_name(static_cast<Refusal>(i)));
  }
  EXPECT_EQ(words.size(), static_cast<std::size_t>(Refusal::kScaleOutOfRange) + 1);
  EXPECT_EQ(words.count("unknown"), 0u);
}

}  // namespace
}  // namespace wafervp::compression
