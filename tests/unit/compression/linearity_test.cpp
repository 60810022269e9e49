// SPDX-License-Identifier: Apache-2.0
// Payloads of summable codecs, added element by element as the fabric adds, decode to the sum of the values.
#include <gmock/gmock.h>

#include <cmath>

#include "messages.h"

namespace wafervp::compression {
namespace {

TEST(Linearity, SumsOfEncodingsDecodeToTheSum) {
  int checked = 0;
  for (const NamedConfig& named : codecs_for(12)) {
    for (const Element element : kElements) {
      const Shape shape{8, 12, element};
      const std::vector<std::uint32_t> ids = ids_of(8);
      for (const Context& context : {forward_context(ids), backward_context()}) {
        const std::unique_ptr<Codec> codec = make_codec(named.config);
        const Summable summable = codec->summable(shape, context.direction);
        if (!summable.yes) {
          EXPECT_FALSE(summable.reason.empty()) << named.name;
          continue;
        }
        try {
          codec->wire_bytes(shape, context.direction);
        } catch (const CodecError&) {
          continue;  // the codec does not take the type
        }
        SCOPED_TRACE(named.name + ' ' + element_name(element));
        Encoded total;
        std::vector<double> expected(element_count(shape));
        double magnitude = 0;
        for (std::uint64_t sender = 0; sender < 5; ++sender) {
          const Message message = random_message(shape, 101 + sender);
          const Encoded encoded = codec->encode(message.view(), context);
          // What one message decodes to: the sum of these, not of the messages, as a codec may lose
          // something.
          const std::vector<double> alone = values_of(element, codec->decode(encoded, shape, context));
          for (std::size_t i = 0; i < alone.size(); ++i) {
            expected[i] += alone[i];
            magnitude = std::max(magnitude, std::abs(expected[i]));
          }
          if (sender == 0) {
            total = encoded;
          } else {
            add(summable.element, total.payload.data(), encoded.payload.data(), total.payload.size());
          }
        }
        const std::vector<double> found = values_of(element, codec->decode(total, shape, context));
        const double unit = std::max(roundoff(element), roundoff(summable.element));
        for (std::size_t i = 0; i < found.size(); ++i)
          ASSERT_NEAR(found[i], expected[i], 20 * unit * magnitude);
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 20);
}

TEST(Linearity, WhatCannotBeAddedSaysWhy) {
  const Shape shape{8, 12, Element::kFp32};
  const auto reason = [&](const std::string& name, Direction direction) {
    CodecConfig config = default_config(name);
    if (auto* subspace = std::get_if<SubspaceConfig>(&config)) {
      subspace->dimension = 12;
      subspace->k = 3;
    }
    const Summable summable = make_codec(config)->summable(shape, direction);
    return summable.yes ? std::string("yes") : summable.reason;
  };
  using testing::HasSubstr;
  EXPECT_THAT(reason("int8", Direction::kBackward), HasSubstr("scale"));
  EXPECT_THAT(reason("int4", Direction::kBackward), HasSubstr("scale"));
  EXPECT_THAT(reason("top_k", Direction::kBackward), HasSubstr("indices"));
  EXPECT_THAT(reason("threshold", Direction::kBackward), HasSubstr("indices"));
  EXPECT_THAT(reason("low_rank", Direction::kBackward), HasSubstr("two rounds"));
  EXPECT_THAT(reason("lossless", Direction::kBackward), HasSubstr("codes"));
  EXPECT_THAT(reason("zfp", Direction::kBackward), HasSubstr("exponent"));
  EXPECT_THAT(reason("subspace", Direction::kForward), HasSubstr("token ids"));
  EXPECT_EQ(reason("subspace", Direction::kBackward), "yes");
  EXPECT_EQ(reason("bypass", Direction::kForward), "yes");
  EXPECT_EQ(reason("cast", Direction::kForward), "yes");
}

}  // namespace
}  // namespace wafervp::compression
