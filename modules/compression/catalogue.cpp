// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compression/bypass.h"
#include "compression/cast.h"
#include "compression/codec_config.h"
#include "compression/int_block.h"
#include "compression/lossless.h"
#include "compression/low_rank.h"
#include "compression/subspace_codec.h"
#include "compression/threshold.h"
#include "compression/top_k.h"
#include "compression/zfp_codec.h"

namespace wafervp::compression {
namespace {

struct Maker {
  std::unique_ptr<Codec> operator()(const BypassConfig&) const { return std::make_unique<Bypass>(); }
  std::unique_ptr<Codec> operator()(const CastConfig& config) const { return std::make_unique<Cast>(config); }
  std::unique_ptr<Codec> operator()(const IntBlockConfig& config) const {
    return std::make_unique<IntBlock>(config);
  }
  std::unique_ptr<Codec> operator()(const TopKConfig& config) const { return std::make_unique<TopK>(config); }
  std::unique_ptr<Codec> operator()(const ThresholdConfig& config) const {
    return std::make_unique<Threshold>(config);
  }
  std::unique_ptr<Codec> operator()(const LowRankConfig& config) const {
    return std::make_unique<LowRank>(config);
  }
  std::unique_ptr<Codec> operator()(const SubspaceConfig& config) const {
    return std::make_unique<SubspaceCodec>(config);
  }
  std::unique_ptr<Codec> operator()(const LosslessConfig& config) const {
    return std::make_unique<Lossless>(config);
  }
  std::unique_ptr<Codec> operator()(const ZfpConfig& config) const {
    return std::make_unique<ZfpCodec>(config);
  }
};

const CodecParameter kErrorFeedback{
    "error_feedback", "", "true or false", "false",
    "what a message leaves unsent is added to the next of its stream (library only)"};

CodecParameter with_initial(CodecParameter parameter, const std::string& initial) {
  parameter.initial = initial;
  return parameter;
}

CodecParameter assumed_ratio(const std::string& range, const std::string& initial, const std::string& what) {
  return {"assumed_ratio", "", range, initial, "dense over wire bytes where no values travel" + what};
}

/// Codecs without the answers that the codecs themselves give.
std::vector<CodecInfo> described() {
  const std::vector<CodecParameter> blocks{
      {"block", "elements", "1 to 65536", "128", "consecutive elements with one scale"},
      {"scale", "", "fp32, bf16, fp16", "fp32", "type of the scales"}};
  std::vector<CodecInfo> codecs;
  const auto add = [&](CodecId id, std::string description, std::vector<CodecParameter> parameters) {
    CodecInfo info;
    info.name = codec_name(id);
    info.description = std::move(description);
    info.parameters = std::move(parameters);
    codecs.push_back(std::move(info));
  };
  add(CodecId::kBypass, "values as they are", {});
  add(CodecId::kCast, "each value rounded to a narrower type",
      {{"cast_to", "", "fp32, bf16, fp16", "bf16", "type on the wire"}});
  add(CodecId::kInt8, "8-bit integers, one scale a block", blocks);
  add(CodecId::kInt4, "4-bit integers, one scale a block", blocks);
  add(CodecId::kTopK, "the largest elements of each row, with their index",
      {{"k", "elements", "0 and up", "0", "elements of a row; 0: by the fraction"},
       {"fraction", "", "above 0, at most 1", "0.1", "of a row's elements, rounded up"},
       {"index", "", "packed, 16, 32", "packed", "bits of an index; packed: ceil(log2 width) (library only)"},
       kErrorFeedback});
  add(CodecId::kThreshold, "elements above a threshold that is renewed now and then, with their index",
      {{"density", "", "above 0, at most 1", "0.01", "share of elements that a new threshold lets through"},
       {"renew_every", "messages", "1 and up", "1000",
        "messages of a stream with one threshold (library only)"},
       kErrorFeedback,
       assumed_ratio("0 and up", "0", "; 0: as the density says")});
  add(CodecId::kLowRank, "two thin factors of the message as a matrix (PowerSGD)",
      {{"rank", "", "1 to 2^20", "4", "columns of a factor"},
       with_initial(kErrorFeedback, "true"),
       {"warm_start", "", "true or false", "true",
        "a message starts where the last of its stream ended (library only)"},
       {"seed", "", "0 and up", "1", "of the first factor (library only)"}});
  add(CodecId::kSubspace, "coefficients in a subspace that all stages share, and token ids",
      {{"k", "", "1 to the width", "none", "dimension of the subspace"},
       {"id_bytes", "bytes", "0, 2, 4, 8", "4", "of a token id in forward messages"},
       {"coefficients", "", "fp64, fp32, bf16, fp16", "type of the values", "type on the wire"}});
  add(CodecId::kLossless, "frequent exponents in 4 bits, every bit comes back",
      {assumed_ratio("above 0", "1.3", "")});
  add(CodecId::kZfp, "fixed-rate ZFP on blocks of 4 x 4",
      {{"bits_per_value", "bits", "1 to 64", "8", "of the image"}});
  return codecs;
}

std::string sums_text(const Codec& codec, const Shape& shape) {
  const Summable forward = codec.summable(shape, Direction::kForward);
  const Summable backward = codec.summable(shape, Direction::kBackward);
  if (forward.yes && backward.yes) return "yes";
  if (!forward.yes && !backward.yes) return "no: " + forward.reason;
  return forward.yes ? "forward only: " + backward.reason : "backward only: " + forward.reason;
}

}  // namespace

std::unique_ptr<Codec> make_codec(const CodecConfig& config) { return std::visit(Maker{}, config); }

CodecConfig default_config(const std::string& name) {
  if (name == "bypass") return BypassConfig{};
  if (name == "cast") return CastConfig{};
  if (name == "int8") return IntBlockConfig{};
  if (name == "int4") {
    IntBlockConfig config;
    config.bits = 4;
    return config;
  }
  if (name == "top_k") return TopKConfig{};
  if (name == "threshold") return ThresholdConfig{};
  if (name == "low_rank") return LowRankConfig{};
  if (name == "subspace") return SubspaceConfig{};
  if (name == "lossless") return LosslessConfig{};
  if (name == "zfp") return ZfpConfig{};
  std::string names;
  for (const CodecInfo& info : codec_catalogue()) names += (names.empty() ? "" : ", ") + info.name;
  throw CodecError(Refusal::kUnknownCodec, "codec", "expected one of " + names + ", found '" + name + "'");
}

const std::vector<CodecInfo>& codec_catalogue() {
  static const std::vector<CodecInfo> catalogue = [] {
    std::vector<CodecInfo> codecs = described();
    for (CodecInfo& info : codecs) {
      CodecConfig config = default_config(info.name);
      // The answers do not depend on d and k, which have no default.
      if (auto* subspace = std::get_if<SubspaceConfig>(&config)) subspace->dimension = subspace->k = 1;
      const std::unique_ptr<Codec> codec = make_codec(config);
      info.lossless = codec->is_lossless();
      info.data_dependent = codec->ratio_depends_on_data();
      info.sums = sums_text(*codec, {1, 1, Element::kFp32});
    }
    return codecs;
  }();
  return catalogue;
}

}  // namespace wafervp::compression
