// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "compression/codec_config.h"
#include "compression/error_feedback.h"
#include "compression/selection.h"

namespace wafervp::compression {

/// Elements of magnitude tau and above, zero elsewhere (Dynamic Communication Thresholding, arXiv
/// 2010.08899). Every `renew_every` messages of a stream tau becomes the magnitude that lets `density` of
/// that message through. Zeros are never sent; NaN and infinity always, as they are, and do not count in the
/// choice of tau. On the wire: a 32-bit index into the message and a value for each, the index ascending.
class Threshold final : public Codec {
 public:
  explicit Threshold(const ThresholdConfig& config);

  CodecId id() const override { return CodecId::kThreshold; }
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
  struct Stream {
    Element element = Element::kFp32;
    std::uint64_t tau = 0;   // bits of the magnitude
    std::uint64_t left = 0;  // messages until it is renewed
  };

  std::uint64_t wanted(std::uint64_t elements) const;
  std::uint64_t tau(const MessageView& message, std::uint64_t stream);

  ThresholdConfig config_;
  std::map<std::uint64_t, Stream> streams_;
  Selection selection_;
  ErrorFeedback feedback_;
  std::vector<std::byte> sent_;
};

}  // namespace wafervp::compression
