// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "compression/codec_config.h"

namespace wafervp::compression {

/// The 16 most frequent exponents of a message as codes of 4 bits; sign and mantissa as they are; other
/// exponents beside them, with their place (escapes). Every bit comes back: of NaN, infinities, denormals,
/// -0. On the wire: a form byte, then
///   form 0: the values as they are, where the other form would be no shorter;
///   form 1: number of escapes (32 bits); 16 exponents (1 byte each, fp64: 2), unused ones 0; signs and
///   mantissas
///           (1 + mantissa bits each, packed); codes (4 bits, the first one low); escapes: index (32 bits),
///           exponent.
/// An empty message has no bytes.
class Lossless final : public Codec {
 public:
  explicit Lossless(const LosslessConfig& config);

  CodecId id() const override { return CodecId::kLossless; }
  bool is_lossless() const override { return true; }
  bool ratio_depends_on_data() const override { return true; }
  Summable summable(const Shape& shape, Direction direction) const override;
  /// Throws kWrongShape beyond 2^32 elements.
  std::uint64_t wire_bytes(const Shape& shape, Direction direction) const override;
  std::uint64_t worst_case_bytes(const Shape& shape, Direction direction) const override;
  Cost compress_cost(const Shape& shape, Direction direction) const override;
  Cost decompress_cost(const Shape& shape, Direction direction) const override;

 protected:
  void encode_values(const MessageView& message, const Context& context,
                     std::vector<std::byte>& payload) override;
  void decode_values(const Shape& shape, ByteView payload, const Context& context,
                     std::byte* values) const override;

 private:
  void decode_codes(const Shape& shape, ByteView payload, std::byte* values) const;

  LosslessConfig config_;
};

}  // namespace wafervp::compression
