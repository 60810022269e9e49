// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compression/codec_config.h"

namespace wafervp::compression {

/// Each value rounded to a narrower type. Takes types at least as wide that hold its range (fp64, fp32,
/// itself). Values beyond the range become infinite, NaN stays NaN, as arithmetic has it.
class Cast final : public Codec {
 public:
  explicit Cast(const CastConfig& config);

  CodecId id() const override { return CodecId::kCast; }
  Summable summable(const Shape& shape, Direction direction) const override;
  std::uint64_t wire_bytes(const Shape& shape, Direction direction) const override;
  Cost compress_cost(const Shape& shape, Direction direction) const override;
  Cost decompress_cost(const Shape& shape, Direction direction) const override;

 protected:
  /// The element type on the wire.
  std::uint64_t parameter() const override { return static_cast<std::uint64_t>(config_.to); }
  std::string parameter_text(std::uint64_t parameter) const override;
  bool takes(Element element) const override;
  void encode_values(const MessageView& message, const Context& context,
                     std::vector<std::byte>& payload) override;
  void decode_values(const Shape& shape, ByteView payload, const Context& context,
                     std::byte* values) const override;

 private:
  CastConfig config_;
};

}  // namespace wafervp::compression
