// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compression/codec_config.h"

namespace wafervp::compression {

/// Fixed-rate ZFP by libzfp, on the message as a field of rows x width (blocks of 4 x 4), or of one dimension
/// (blocks of 4) where it has one row or one column. bf16 and fp16 go through fp32. Each block takes the same
/// number of bits, at least those of an exponent; an incomplete block takes them too. The last byte is
/// padded. The error depends on the range within a block: there is no bound for single values. Refuses
/// kNonFinite: ZFP has no image for NaN and infinity. Values are finite when they come back: what overflows
/// the type is cut to its largest finite value.
class ZfpCodec final : public Codec {
 public:
  explicit ZfpCodec(const ZfpConfig& config);

  CodecId id() const override { return CodecId::kZfp; }
  Summable summable(const Shape& shape, Direction direction) const override;
  std::uint64_t wire_bytes(const Shape& shape, Direction direction) const override;
  std::uint64_t least_bytes(const Shape& shape, Direction direction) const override;
  Cost compress_cost(const Shape& shape, Direction direction) const override;
  Cost decompress_cost(const Shape& shape, Direction direction) const override;

 protected:
  /// 1024 times the bits per value
  std::uint64_t parameter() const override;
  std::string parameter_text(std::uint64_t parameter) const override;
  void encode_values(const MessageView& message, const Context& context,
                     std::vector<std::byte>& payload) override;
  void decode_values(const Shape& shape, ByteView payload, const Context& context,
                     std::byte* values) const override;

 private:
  template <class T>
  void encode_field(const MessageView& message, std::vector<std::byte>& payload) const;
  template <class T>
  void decode_field(const Shape& shape, ByteView payload, std::byte* values) const;

  ZfpConfig config_;
};

}  // namespace wafervp::compression
