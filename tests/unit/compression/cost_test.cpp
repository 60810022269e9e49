// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "messages.h"

namespace wafervp::compression {
namespace {

const Shape kShape{1024, 4096, Element::kBf16};

Cost compress(const CodecConfig& config, Direction direction = Direction::kForward) {
  return make_codec(config)->compress_cost(kShape, direction);
}

Cost decompress(const CodecConfig& config, Direction direction = Direction::kForward) {
  return make_codec(config)->decompress_cost(kShape, direction);
}

SubspaceConfig subspace() {
  SubspaceConfig config;
  config.dimension = 4096;
  config.k = 40;
  return config;
}

TEST(Cost, OfASubspaceUnitIsThatOfItsTimingLaw) {
  const Cost in = compress(subspace());
  EXPECT_EQ(in.dense_bytes, 1024u * 4096 * 2);
  EXPECT_EQ(in.macs, 1024u * 4096 * 40);
  EXPECT_EQ(in.wire_bytes, 1024u * (40 * 2 + 4));
  EXPECT_EQ(in.passes, 1u);
  // 144 ns at 1 GHz and 32 elements a cycle.
  EXPECT_EQ(pipeline_fill_cycles(in, 32), 144u);
  const Cost out = decompress(subspace());
  EXPECT_EQ(pipeline_fill_cycles(out, 32), 16u);
  EXPECT_EQ(out.macs, in.macs);
  EXPECT_EQ(out.table_bytes, 1024u * 4096 * 2);  // a row of F for each token
  EXPECT_EQ(decompress(subspace(), Direction::kBackward).table_bytes, 0u);
  EXPECT_EQ(decompress(subspace(), Direction::kBackward).wire_bytes, 1024u * 40 * 2);
}

TEST(Cost, OfABlockQuantiserIsOnePassAndABlock) {
  const Cost in = compress(IntBlockConfig{});
  EXPECT_EQ(in.passes, 1u);
  EXPECT_EQ(pipeline_fill_cycles(in, 32), 128 / 32 + 8u);
  EXPECT_EQ(in.macs, 0u);
}

TEST(Cost, OfSelectionsIsFourPassesOrOne) {
  EXPECT_EQ(compress(TopKConfig{}).passes, 4u);
  EXPECT_EQ(compress(ThresholdConfig{}).passes, 1u);
}

TEST(Cost, OfLowRankIsTwoProductsAndTheirBasis) {
  const Cost in = compress(LowRankConfig{4, true, true, 1});
  EXPECT_EQ(in.macs, 2u * 1024 * 4096 * 4 + 2u * 1024 * 4 * 5);
  EXPECT_EQ(in.passes, 2u);
  EXPECT_EQ(decompress(LowRankConfig{4, true, true, 1}).macs, 1024u * 4096 * 4 + 2u * 1024 * 4 * 5);
}

TEST(Cost, OfAnEmptyMessageIsNothing) {
  const Cost cost = make_codec(subspace())->compress_cost({0, 4096, Element::kBf16}, Direction::kForward);
  EXPECT_EQ(cost.dense_bytes + cost.macs + cost.wire_bytes + cost.table_bytes, 0u);
  EXPECT_EQ(pipeline_fill_cycles(cost, 32), 0u);
}

TEST(Cost, TellsTheBytesOfTheWire) {
  for (const NamedConfig& named : codecs_for(0)) {
    const std::unique_ptr<Codec> codec = make_codec(named.config);
    const Shape shape{8, 64, Element::kFp32};
    for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
      EXPECT_EQ(codec->compress_cost(shape, direction).wire_bytes, codec->wire_bytes(shape, direction));
      EXPECT_EQ(codec->decompress_cost(shape, direction).wire_bytes, codec->wire_bytes(shape, direction));
      EXPECT_EQ(codec->compress_cost(shape, direction).dense_bytes, dense_bytes(shape));
    }
  }
}

}  // namespace
}  // namespace wafervp::compression
