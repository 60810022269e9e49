// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "messages.h"

namespace wafervp::compression {
namespace {

TEST(Catalogue, NamesEachCodecAndMakesIt) {
  const std::vector<CodecInfo>& codecs = codec_catalogue();
  ASSERT_EQ(codecs.size(), static_cast<std::size_t>(CodecId::kZfp) + 1);
  for (std::size_t i = 0; i < codecs.size(); ++i) {
    EXPECT_EQ(codecs[i].name, codec_name(static_cast<CodecId>(i)));
    EXPECT_FALSE(codecs[i].description.empty());
    EXPECT_FALSE(codecs[i].sums.empty());
    CodecConfig config = default_config(codecs[i].name);
    if (auto* subspace = std::get_if<SubspaceConfig>(&config)) {
      subspace->dimension = 8;
      subspace->k = 2;
    }
    EXPECT_EQ(make_codec(config)->name(), codecs[i].name);
    for (const CodecParameter& parameter : codecs[i].parameters) {
      EXPECT_FALSE(parameter.name.empty() || parameter.range.empty() || parameter.initial.empty() ||
                   parameter.description.empty());
    }
  }
}

TEST(Catalogue, NamesWhatThereIsForAnUnknownName) {
  expect_refusal(Refusal::kUnknownCodec, "top_k", [] { default_config("topk"); });
}

}  // namespace
}  // namespace wafervp::compression
