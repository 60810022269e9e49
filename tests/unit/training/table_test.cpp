// SPDX-License-Identifier: Apache-2.0
// The large case, d = 64, 1,500 steps in fp32: what it costs to learn in a subspace, and what lossy codecs do
// to the free model. Prints a line a training; the order is held, not the numbers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "cases.h"
#include "compression/codec_config.h"

namespace wafervp::training {
namespace {

constexpr std::size_t kRank = 8;

/// Sends what crosses a boundary through a codec, for real.
class CodecBoundary {
 public:
  explicit CodecBoundary(const compression::CodecConfig& config) : codec_(compression::make_codec(config)) {}

  Matrix<float> operator()(const Crossing& crossing, Matrix<float> x) {
    compression::Context context;
    context.direction = crossing.direction;
    context.stream = 2 * crossing.boundary + (crossing.direction == compression::Direction::kForward ? 0 : 1);
    context.token_ids = crossing.ids;
    context.sequence_length = ModelConfig().tokens;
    const compression::Shape shape{x.rows, x.columns, Element::kFp32};
    const std::size_t size = x.values.size() * sizeof(float);
    const auto* bytes = reinterpret_cast<const std::byte*>(x.values.data());
    const compression::Encoded sent = codec_->encode({shape, {bytes, size}}, context);
    context.token_ids = nullptr;  // a receiver has them from the wire
    const std::vector<std::byte> values = codec_->decode(sent, shape, context);
    std::memcpy(x.values.data(), values.data(), size);
    dense_bytes_ += size;
    wire_bytes_ += sent.payload.size();
    return x;
  }
  double ratio() const { return static_cast<double>(dense_bytes_) / static_cast<double>(wire_bytes_); }

 private:
  std::unique_ptr<compression::Codec> codec_;
  std::uint64_t dense_bytes_ = 0, wire_bytes_ = 0;
};

enum class Model { kFree, kSubspace };

/// Mean loss of the last 100 steps.
double train(const char* name, Model model, const compression::CodecConfig* codec, std::uint64_t seed) {
  LocalConfig config;
  config.model.seed = seed;
  const auto data = make_chain(config.model, seed);
  const auto tables = make_tables(config.model, kTableSeed + seed);
  const auto subspace = Subspace::random(config.model.dimension, kRank, kSubspaceSeed + seed);
  std::shared_ptr<CodecBoundary> boundary;
  typename LocalTrainer<float>::Boundary crossing;
  if (codec) {
    compression::CodecConfig configured = *codec;
    if (auto* of_subspace = std::get_if<compression::SubspaceConfig>(&configured)) {
      of_subspace->subspace = subspace;
      if (model == Model::kSubspace) of_subspace->tables = tables;
    }
    boundary = std::make_shared<CodecBoundary>(configured);
    crossing = [boundary](const Crossing& at, Matrix<float> x) { return (*boundary)(at, std::move(x)); };
  }
  LocalTrainer<float> trainer(config, *data, tables, model == Model::kSubspace ? subspace : nullptr,
                              crossing);
  const std::vector<double> losses = trainer.run();
  double mean = 0;
  for (std::size_t i = losses.size() - 100; i < losses.size(); ++i) mean += losses[i] / 100;
  fmt::print("seed {}  {:9} {:24} {:6.2f}x  first {:.4f}  step 500 {:.4f}  last 100 {:.4f}\n", seed,
             model == Model::kSubspace ? "subspace" : "free", name, boundary ? boundary->ratio() : 1.0,
             losses.front(), losses[499], mean);
  std::fflush(stdout);
  return mean;
}

TEST(Table, TheSubspaceModelLearnsAsTheFreeOneWithAndWithoutItsCodec) {
  const compression::CodecConfig exact = compression::SubspaceConfig{};
  double subspace = 0, free = 0;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const double without = train("uncompressed", Model::kSubspace, nullptr, seed);
    const double with = train("subspace", Model::kSubspace, &exact, seed);
    free += train("uncompressed", Model::kFree, nullptr, seed) / 3;
    subspace += without / 3;
    // Rounding grows over 1,500 steps of fp32; an error of the codec would be seen from the first.
    EXPECT_NEAR(with, without, 0.01);
  }
  // Near each other and near the floor of the chain, from ln 64 = 4.16.
  EXPECT_NEAR(subspace, free, 0.1);
  EXPECT_LT(subspace, 1.4);
}

TEST(Table, LossyCodecsHarmTheFreeModelInTheirOrder) {
  using namespace compression;
  std::map<std::string, double> loss;
  const auto run = [&loss](const char* name, const CodecConfig& config) {
    loss[name] = train(name, Model::kFree, &config, 1);
  };
  loss["none"] = train("uncompressed", Model::kFree, nullptr, 1);
  run("bf16", CastConfig{Element::kBf16});
  run("int8", IntBlockConfig{8, 64, Element::kFp32});
  run("int4", IntBlockConfig{4, 64, Element::kFp32});
  run("fixed low rank", SubspaceConfig{});  // without tables, of a model that does not keep to U
  TopKConfig top_k;
  top_k.k = 8;
  run("top_k", top_k);
  EXPECT_NEAR(loss["bf16"], loss["none"], 0.02);
  EXPECT_NEAR(loss["int8"], loss["none"], 0.02);
  EXPECT_GT(loss["int4"], loss["none"]);
  EXPECT_GT(loss["fixed low rank"], loss["int4"]);
  EXPECT_GT(loss["top_k"], loss["fixed low rank"]);
}

TEST(Table, Bf16CoefficientsAreAlmostAsGood) {
  compression::SubspaceConfig narrow;
  narrow.coefficients = Element::kBf16;
  narrow.id_bytes = 2;
  const compression::CodecConfig config = narrow;
  EXPECT_NEAR(train("subspace, bf16 on the wire", Model::kSubspace, &config, 1),
              train("uncompressed", Model::kSubspace, nullptr, 1), 0.03);
}

}  // namespace
}  // namespace wafervp::training
