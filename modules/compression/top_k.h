// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compression/codec_config.h"
#include "compression/error_feedback.h"
#include "compression/selection.h"

namespace wafervp::compression {

/// The K elements of largest magnitude of each row, by value and index in the row; zero elsewhere. NaN counts
/// as larger than infinity, and both as larger than any number; they are sent as they are. On the wire: all
/// values, row by row with the index ascending, then all indices.
class TopK final : public Codec {
 public:
  explicit TopK(const TopKConfig& config);

  CodecId id() const override { return CodecId::kTopK; }
  Summable summable(const Shape& shape, Direction direction) const override;
  /// Throws kWrongShape where an index does not fit the width that was asked for.
  std::uint64_t wire_bytes(const Shape& shape, Direction direction) const override;
  std::uint64_t least_bytes(const Shape& shape, Direction direction) const override;
  Cost compress_cost(const Shape& shape, Direction direction) const override;
  Cost decompress_cost(const Shape& shape, Direction direction) const override;
  /// K of a row.
  std::uint64_t kept(std::uint64_t width) const;

 protected:
  /// K, or bit 62 and the bits of the fraction as fp32; + 2^56 IndexWidth
  std::uint64_t parameter() const override;
  std::string parameter_text(std::uint64_t parameter) const override;
  void encode_values(const MessageView& message, const Context& context,
                     std::vector<std::byte>& payload) override;
  void decode_values(const Shape& shape, ByteView payload, const Context& context,
                     std::byte* values) const override;

 private:
  unsigned index_bits(std::uint64_t width) const;
  void select(const MessageView& message, std::vector<std::byte>& payload);

  TopKConfig config_;
  Selection selection_;
  ErrorFeedback feedback_;
  std::vector<std::byte> sent_;
};

}  // namespace wafervp::compression
