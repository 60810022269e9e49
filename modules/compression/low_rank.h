// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>

#include "compression/codec_config.h"
#include "compression/power_sgd.h"

namespace wafervp::compression {

/// PowerSGD from one sender to one receiver: P, then Q, both in the element type of the message; the receiver
/// makes orth(P) Q^T. A message is one matrix of rows x width. For sums over replicas, which take two rounds,
/// use PowerSgd. NaN and infinity spread over the whole message. A stream whose shape changes starts anew.
class LowRank final : public Codec {
 public:
  explicit LowRank(const LowRankConfig& config);

  CodecId id() const override { return CodecId::kLowRank; }
  Summable summable(const Shape& shape, Direction direction) const override;
  std::uint64_t wire_bytes(const Shape& shape, Direction direction) const override;
  std::uint64_t least_bytes(const Shape& shape, Direction direction) const override;
  Cost compress_cost(const Shape& shape, Direction direction) const override;
  Cost decompress_cost(const Shape& shape, Direction direction) const override;

 protected:
  std::uint64_t parameter() const override { return config_.rank; }
  std::string parameter_text(std::uint64_t parameter) const override {
    return "rank " + std::to_string(parameter);
  }
  void encode_values(const MessageView& message, const Context& context,
                     std::vector<std::byte>& payload) override;
  void decode_values(const Shape& shape, ByteView payload, const Context& context,
                     std::byte* values) const override;

 private:
  template <class T>
  struct Stream {
    Shape shape;
    std::unique_ptr<PowerSgd<T>> matrix;
  };
  template <class T>
  using Streams = std::map<std::uint64_t, Stream<T>>;

  std::uint64_t rank(const Shape& shape) const;
  template <class T>
  void encode_matrix(const MessageView& message, Stream<T>& stream, std::byte* to);
  template <class T>
  void decode_matrix(const Shape& shape, const std::byte* from, std::byte* values) const;

  LowRankConfig config_;
  Streams<float> streams_;
  Streams<double> wide_streams_;
};

}  // namespace wafervp::compression
