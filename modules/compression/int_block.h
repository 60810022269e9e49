// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compression/codec_config.h"

namespace wafervp::compression {

/// int8 and int4: blocks of consecutive elements, each with a scale s = max |x| / m (m: 127 or 7), rounded up
/// to the type of scales, and q = round(x / s); back comes q s, at most the largest finite value of the type.
/// So |x - q s| <= s / 2 but for the rounding of q s. On the wire: scale, codes; scale, codes; ... (int4: two
/// codes a byte, the first one low). A block with NaN or infinity has the scale NaN, and all of it comes back
/// as NaN. Refuses kScaleOutOfRange.
class IntBlock final : public Codec {
 public:
  explicit IntBlock(const IntBlockConfig& config);

  CodecId id() const override { return config_.bits == 4 ? CodecId::kInt4 : CodecId::kInt8; }
  Summable summable(const Shape& shape, Direction direction) const override;
  std::uint64_t wire_bytes(const Shape& shape, Direction direction) const override;
  Cost compress_cost(const Shape& shape, Direction direction) const override;
  Cost decompress_cost(const Shape& shape, Direction direction) const override;

 protected:
  /// block + 2^32 type of the scales
  std::uint64_t parameter() const override;
  std::string parameter_text(std::uint64_t parameter) const override;
  void encode_values(const MessageView& message, const Context& context,
                     std::vector<std::byte>& payload) override;
  void decode_values(const Shape& shape, ByteView payload, const Context& context,
                     std::byte* values) const override;

 private:
  std::uint64_t code_bytes(std::uint64_t elements) const { return (elements * config_.bits + 7) / 8; }
  template <class T>
  void encode_blocks(const MessageView& message, std::byte* to);
  template <class T>
  void decode_blocks(const Shape& shape, const std::byte* from, std::byte* values) const;
  double put_scale(double largest, bool finite, std::byte* to) const;
  double get_scale(const std::byte* from, std::uint64_t block) const;

  IntBlockConfig config_;
};

}  // namespace wafervp::compression
