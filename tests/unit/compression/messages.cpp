// SPDX-License-Identifier: Apache-2.0
#include "messages.h"

#include <gmock/gmock.h>

#include <cstring>

#include "compression/gaussian.h"

namespace wafervp::compression {

Message message_of(Shape shape, const std::vector<double>& values) {
  Message message{shape, std::vector<std::byte>(dense_bytes(shape))};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto single = static_cast<float>(values[i]);
    const std::uint16_t half =
        shape.element == Element::kBf16 ? bf16_from_float(single) : fp16_from_float(single);
    std::byte* to = message.bytes.data() + i * element_bytes(shape.element);
    if (shape.element == Element::kFp64) {
      std::memcpy(to, &values[i], 8);
    } else if (shape.element == Element::kFp32) {
      std::memcpy(to, &single, 4);
    } else {
      std::memcpy(to, &half, 2);
    }
  }
  return message;
}

Message random_message(Shape shape, std::uint64_t seed, double deviation) {
  Gaussian gaussian(seed);
  std::vector<double> values(element_count(shape));
  for (double& value : values) value = deviation * gaussian.next();
  return message_of(shape, values);
}

std::vector<double> values_of(Element element, const std::vector<std::byte>& bytes) {
  std::vector<double> values(bytes.size() / element_bytes(element));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::byte* from = bytes.data() + i * element_bytes(element);
    std::uint16_t half = 0;
    float single = 0;
    std::memcpy(&half, from, 2);
    if (element == Element::kFp64) {
      std::memcpy(&values[i], from, 8);
    } else if (element == Element::kFp32) {
      std::memcpy(&single, from, 4);
      values[i] = single;
    } else {
      values[i] = element == Element::kBf16 ? float_from_bf16(half) : float_from_fp16(half);
    }
  }
  return values;
}

double roundoff(Element element) {
  switch (element) {
    case Element::kFp64:
      return 0x1p-53;
    case Element::kFp32:
      return 0x1p-24;
    case Element::kBf16:
      return 0x1p-8;
    default:
      return 0x1p-11;
  }
}

std::vector<NamedConfig> codecs_for(std::uint64_t width) {
  std::vector<NamedConfig> codecs;
  const auto add = [&](const std::string& name, CodecConfig config) {
    codecs.push_back({name, std::move(config)});
  };
  add("bypass", BypassConfig{});
  add("cast bf16", CastConfig{Element::kBf16});
  add("cast fp16", CastConfig{Element::kFp16});
  add("cast fp32", CastConfig{Element::kFp32});
  add("int8", IntBlockConfig{});
  add("int8 of 5", IntBlockConfig{8, 5, Element::kBf16});
  add("int4", IntBlockConfig{4, 128, Element::kFp32});
  add("int4 of 7", IntBlockConfig{4, 7, Element::kFp16});
  add("top_k", TopKConfig{});
  add("top_k 3", TopKConfig{3, 0, IndexWidth::k16, false});
  add("top_k 2 with feedback", TopKConfig{2, 0, IndexWidth::k32, true});
  ThresholdConfig threshold;
  threshold.density = 0.2;
  threshold.renew_every = 3;
  add("threshold", threshold);
  threshold.error_feedback = true;
  add("threshold with feedback", threshold);
  add("low_rank", LowRankConfig{});
  add("low_rank 1 without memory", LowRankConfig{1, false, false, 3});
  add("lossless", LosslessConfig{});
  add("zfp", ZfpConfig{});
  add("zfp 3.3", ZfpConfig{3.3});
  if (width > 0) {
    SubspaceConfig subspace;
    subspace.subspace = Subspace::random(width, (width + 2) / 3, 5);
    auto tables = std::make_shared<FixedTables>();
    tables->tokens = gaussian_matrix(7, width, 6);
    tables->positions = gaussian_matrix(300, width, 7, 0.5);
    subspace.tables = tables;
    add("subspace", subspace);
    subspace.tables = nullptr;
    subspace.id_bytes = 0;
    subspace.coefficients = Element::kBf16;
    add("subspace in bf16 without tables", subspace);
  }
  return codecs;
}

Context forward_context(const std::vector<std::uint32_t>& ids) {
  Context context;
  context.token_ids = &ids;
  return context;
}

Context backward_context() {
  Context context;
  context.direction = Direction::kBackward;
  return context;
}

std::vector<std::uint32_t> ids_of(std::uint64_t rows, std::uint32_t vocabulary) {
  SplitMix random(rows + 1);
  std::vector<std::uint32_t> ids(rows);
  for (std::uint32_t& id : ids) id = random.below(vocabulary);
  return ids;
}

std::vector<double> round_trip(Codec& codec, const Message& message, const Context& context) {
  const Encoded encoded = codec.encode(message.view(), context);
  return values_of(message.shape.element, codec.decode(encoded, message.shape, context));
}

void expect_refusal(Refusal refusal, const std::string& text, const std::function<void()>& action) {
  try {
    action();
    ADD_FAILURE() << "expected " << refusal_name(refusal) << ", found no error";
  } catch (const CodecError& error) {
    EXPECT_STREQ(refusal_name(error.refusal()), refusal_name(refusal)) << error.what();
    EXPECT_THAT(error.what(), testing::HasSubstr(text));
    EXPECT_THAT(error.what(), testing::HasSubstr("expected "));
    EXPECT_THAT(error.what(), testing::HasSubstr("found "));
  }
}

}  // namespace wafervp::compression
