// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compression/codec_config.h"

namespace wafervp::compression {

/// The values as they are.
class Bypass final : public Codec {
 public:
  CodecId id() const override { return CodecId::kBypass; }
  bool is_lossless() const override { return true; }
  Summable summable(const Shape& shape, Direction direction) const override;
  std::uint64_t wire_bytes(const Shape& shape, Direction direction) const override;
  Cost compress_cost(const Shape& shape, Direction direction) const override;
  Cost decompress_cost(const Shape& shape, Direction direction) const override;

 protected:
  void encode_values(const MessageView& message, const Context& context,
                     std::vector<std::byte>& payload) override;
  void decode_values(const Shape& shape, ByteView payload, const Context& context,
                     std::byte* values) const override;
};

}  // namespace wafervp::compression
