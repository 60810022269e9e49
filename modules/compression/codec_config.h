// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compression/codec.h"
#include "compression/subspace.h"

namespace wafervp::compression {

struct BypassConfig {};

struct CastConfig {
  Element to = Element::kBf16;  ///< fp32, bf16 or fp16
};

/// int8 (bits 8) and int4 (bits 4): one scale for each block of consecutive elements of the message.
struct IntBlockConfig {
  unsigned bits = 8;
  std::uint32_t block = 128;       ///< elements, 1 to 65536
  Element scale = Element::kFp32;  ///< fp32, bf16 or fp16
};

enum class IndexWidth : std::uint8_t {
  kPacked,  ///< ceil(log2 width) bits, the last byte of the message padded
  k16,
  k32,
};

struct TopKConfig {
  std::uint64_t k = 0;    ///< elements a row, at most the width; 0: by the fraction
  double fraction = 0.1;  ///< of the width, rounded up
  IndexWidth index = IndexWidth::kPacked;
  bool error_feedback = false;
};

struct ThresholdConfig {
  double density = 0.01;             ///< share of elements that a new threshold lets through
  std::uint64_t renew_every = 1000;  ///< messages of a stream
  bool error_feedback = false;
  double assumed_ratio = 0;  ///< dense over wire bytes; 0: as many elements as `density` says
};

struct LowRankConfig {
  std::uint64_t rank = 4;
  bool error_feedback = true;
  bool warm_start = true;
  std::uint64_t seed = 1;
};

struct SubspaceConfig {
  std::uint64_t dimension = 0;                ///< d; 0: of `subspace`
  std::uint64_t k = 0;                        ///< 0: of `subspace`
  unsigned id_bytes = 4;                      ///< of a token id on the wire: 2, 4 or 8
  std::optional<Element> coefficients;        ///< on the wire; none: that of the values
  std::shared_ptr<const Subspace> subspace;   ///< null: sizes only
  std::shared_ptr<const FixedTables> tables;  ///< null: nothing is fixed, F = PE = 0
};

struct LosslessConfig {
  double assumed_ratio = 1.3;  ///< dense over wire bytes
};

struct ZfpConfig {
  double bits_per_value = 8;  ///< 1 to 32 (64 for fp64)
};

/// One for each codec; int8 and int4 share one.
using CodecConfig = std::variant<BypassConfig, CastConfig, IntBlockConfig, TopKConfig, ThresholdConfig,
                                 LowRankConfig, SubspaceConfig, LosslessConfig, ZfpConfig>;

/// Throws CodecError kBadParameter with the range that was expected.
std::unique_ptr<Codec> make_codec(const CodecConfig& config);
/// The defaults of a codec. Throws kUnknownCodec with the names of all.
CodecConfig default_config(const std::string& name);

struct CodecParameter {
  std::string name, unit, range, initial, description;
};

/// A line of `wafervp list codecs`.
struct CodecInfo {
  std::string name, description;
  std::vector<CodecParameter> parameters;
  bool lossless = false;
  bool data_dependent = false;
  std::string sums;  ///< what of it may be added in the fabric, or why nothing
};

/// All codecs, in the order of CodecId.
const std::vector<CodecInfo>& codec_catalogue();

}  // namespace wafervp::compression
