// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "compression/codec_config.h"

namespace wafervp::compression {

/// Coefficients in a shared subspace (Protocol Models, arXiv 2506.01260). Forward: C = X U - (PE U) - (F
/// U)[t] and the token ids t; back comes C U^T + PE + F[t]. Backward: D = G U; back comes D U^T. On the wire:
/// rows x k coefficients, then, forward, `id_bytes` a row. What is in the subspace comes back but for
/// rounding, what is outside is dropped. NaN and infinity make all of their row NaN or infinite. Encoding
/// refuses kNoBasis, kMissingTokenIds, kTokenOutOfRange, kPositionOutOfRange; decoding the same but for
/// missing ids.
class SubspaceCodec final : public Codec {
 public:
  explicit SubspaceCodec(const SubspaceConfig& config);
  ~SubspaceCodec() override;

  CodecId id() const override { return CodecId::kSubspace; }
  Summable summable(const Shape& shape, Direction direction) const override;
  /// Throws kWrongShape unless the width is d.
  std::uint64_t wire_bytes(const Shape& shape, Direction direction) const override;
  Cost compress_cost(const Shape& shape, Direction direction) const override;
  Cost decompress_cost(const Shape& shape, Direction direction) const override;

  /// From now on another version of U, of the same d and k (kBadParameter). To be called at both ends while
  /// no message is on its way: those of the old version are refused afterwards.
  void use(std::shared_ptr<const Subspace> subspace);
  const std::shared_ptr<const Subspace>& subspace() const { return config_.subspace; }

 protected:
  /// k + 2^32 id_bytes + 2^40 (1 + type of the coefficients; 0 that of the values)
  std::uint64_t parameter() const override;
  std::string parameter_text(std::uint64_t parameter) const override;
  std::uint64_t version() const override;
  void encode_values(const MessageView& message, const Context& context,
                     std::vector<std::byte>& payload) override;
  void decode_values(const Shape& shape, ByteView payload, const Context& context,
                     std::byte* values) const override;

 private:
  template <class T>
  struct Tables;  // U, F, PE and their products, as T

  Element on_wire(const Shape& shape) const { return config_.coefficients.value_or(shape.element); }
  bool has_tokens() const { return config_.tables != nullptr && config_.tables->tokens.rows > 0; }
  bool has_positions() const { return config_.tables != nullptr && config_.tables->positions.rows > 0; }
  std::uint64_t position(std::uint64_t row, const Context& context) const;
  void check_width(const Shape& shape) const;
  void check_basis() const;
  void check_positions(std::uint64_t rows, const Context& context) const;
  void check_token(std::uint64_t row, std::uint64_t id) const;
  void put_ids(std::uint64_t rows, const Context& context, std::byte* to) const;
  std::uint64_t get_id(const std::byte* ids, std::uint64_t row) const;
  template <class T>
  const Tables<T>& tables(std::unique_ptr<Tables<T>>& made) const;
  template <class T>
  void encode_rows(const Tables<T>& tables, const MessageView& message, const Context& context,
                   std::byte* to) const;
  template <class T>
  void decode_rows(const Tables<T>& tables, const Shape& shape, ByteView payload, const Context& context,
                   std::byte* values) const;

  SubspaceConfig config_;
  mutable std::unique_ptr<Tables<float>> tables_;  // made when the first message asks for them
  mutable std::unique_ptr<Tables<double>> wide_tables_;
};

}  // namespace wafervp::compression
