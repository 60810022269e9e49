// SPDX-License-Identifier: Apache-2.0
// Wire images and headers with bits flipped, bytes cut off or added: decoding ends in a CodecError or in as
// many values as were waited for. Run under the sanitizers as all unit tests are.
#include <gmock/gmock.h>

#include "core/split_mix.h"
#include "messages.h"

namespace wafervp::compression {
namespace {

void flip(std::vector<std::byte>& bytes, SplitMix& random) {
  if (bytes.empty()) return;
  const std::size_t at = random.below(static_cast<std::uint32_t>(bytes.size()));
  bytes[at] ^= static_cast<std::byte>(1u << random.below(8));
}

void change_header(WireHeader& header, SplitMix& random) {
  const std::uint64_t bit = std::uint64_t{1} << random.below(64);
  switch (random.below(7)) {
    case 0:
      header.codec ^= static_cast<std::uint8_t>(1u << random.below(8));
      break;
    case 1:
      header.shape.rows ^= bit;
      break;
    case 2:
      header.shape.width ^= bit;
      break;
    case 3:
      header.shape.element = static_cast<Element>(random.below(256));
      break;
    case 4:
      header.parameter ^= bit;
      break;
    case 5:
      header.version ^= bit;
      break;
    default:
      header.payload_bytes ^= bit;
  }
}

void mutate(Encoded& encoded, SplitMix& random) {
  switch (random.below(8)) {
    case 0:
      encoded.payload.resize(random.below(static_cast<std::uint32_t>(encoded.payload.size() + 1)));
      break;
    case 1:
      encoded.payload.resize(encoded.payload.size() + 1 + random.below(20));
      break;
    case 2:
      change_header(encoded.header, random);
      return;
    case 3:
      encoded.payload.resize(random.below(static_cast<std::uint32_t>(encoded.payload.size() + 1)));
      encoded.header.payload_bytes = encoded.payload.size();
      break;
    default:
      for (std::uint32_t i = 0; i <= random.below(10); ++i) flip(encoded.payload, random);
  }
  // Most headers agree with their payload: the codec itself has to see what is wrong.
  if (random.below(4) != 0) encoded.header.payload_bytes = encoded.payload.size();
}

TEST(WireFuzz, EndsInAnErrorOrInValues) {
  SplitMix random(2027);
  std::uint64_t refused = 0, decoded = 0;
  for (const std::uint64_t width : {1, 5, 16}) {
    for (const NamedConfig& named : codecs_for(width)) {
      for (const Element element : kElements) {
        const std::unique_ptr<Codec> codec = make_codec(named.config);
        const Shape shape{9, width, element};
        const std::vector<std::uint32_t> ids = ids_of(shape.rows);
        for (const Context& context : {forward_context(ids), backward_context()}) {
          Encoded good;
          try {
            good = codec->encode(random_message(shape, 5).view(), context);
          } catch (const CodecError& error) {
            ASSERT_EQ(error.refusal(), Refusal::kElementNotSupported) << error.what();
            continue;
          }
          for (int i = 0; i < 60; ++i) {
            Encoded encoded = good;
            mutate(encoded, random);
            // Exactly as long as it is, so that the address sanitizer sees a byte too many.
            encoded.payload.shrink_to_fit();
            try {
              ASSERT_EQ(codec->decode(encoded, shape, context).size(), dense_bytes(shape));
              ++decoded;
            } catch (const CodecError&) {
              ++refused;
            }
          }
        }
      }
    }
  }
  EXPECT_GT(refused, 2000u);
  EXPECT_GT(decoded, 2000u);
}

}  // namespace
}  // namespace wafervp::compression
