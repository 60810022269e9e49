// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/element.h"

namespace wafervp::compression {

/// Values in one contiguous row-major block; the rows of activations are tokens (sequences x positions).
struct Shape {
  std::uint64_t rows = 0;
  std::uint64_t width = 0;
  Element element = Element::kFp32;  ///< fp64, fp32, bf16 or fp16
};

inline bool operator==(const Shape& a, const Shape& b) {
  return a.rows == b.rows && a.width == b.width && a.element == b.element;
}
inline bool operator!=(const Shape& a, const Shape& b) { return !(a == b); }

/// Elements of a shape; throws CodecError kWrongShape beyond 2^48, which no message reaches.
std::uint64_t element_count(const Shape& shape);
/// Bytes of the values without a codec; throws as element_count().
std::uint64_t dense_bytes(const Shape& shape);

/// Forward messages carry activations, backward ones their gradients (or any gradient).
enum class Direction : std::uint8_t { kForward, kBackward };

/// What a message belongs to; a policy names a codec for each.
enum class TrafficClass : std::uint8_t { kModelParallel, kDataParallel, kPipeline, kStreaming };

/// Bytes that somebody else owns.
struct ByteView {
  const std::byte* data = nullptr;
  std::size_t size = 0;

  ByteView() = default;
  ByteView(const std::byte* bytes, std::size_t count) : data(bytes), size(count) {}
  ByteView(const std::vector<std::byte>& bytes)  // NOLINT(google-explicit-constructor): a view of it
      : data(bytes.data()), size(bytes.size()) {}
};

/// Values to compress. No alignment is needed.
struct MessageView {
  Shape shape;
  ByteView values;
};

/// What travels beside the values, or is known at both ends. A receiver needs no token ids: they are on the
/// wire.
struct Context {
  Direction direction = Direction::kForward;
  TrafficClass traffic = TrafficClass::kPipeline;
  /// Which tensor of which sender this is: codecs with a memory (error feedback, warm start, threshold) keep
  /// one for each stream.
  std::uint64_t stream = 0;
  /// One id a row; null where the message has none.
  const std::vector<std::uint32_t>* token_ids = nullptr;
  /// Row i stands at position first_position + i % sequence_length of its sequence; 0: all rows are one
  /// sequence.
  std::uint64_t first_position = 0;
  std::uint64_t sequence_length = 0;
};

/// Stands beside the payload, as a packet's header does, and is not counted in its bytes.
struct WireHeader {
  std::uint8_t codec = 0;  ///< CodecId
  Direction direction = Direction::kForward;
  Shape shape;                  ///< of the values
  std::uint64_t parameter = 0;  ///< k, block, rank, rate...: what both ends must have alike; see each codec
  std::uint64_t version = 0;    ///< of U; 0 for codecs without one
  std::uint64_t payload_bytes = 0;
};

/// A message on the wire.
struct Encoded {
  WireHeader header;
  std::vector<std::byte> payload;
};

}  // namespace wafervp::compression
