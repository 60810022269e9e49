// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compression/codec_error.h"
#include "compression/message.h"

namespace wafervp::compression {

enum class CodecId : std::uint8_t {
  kBypass,
  kCast,
  kInt8,
  kInt4,
  kTopK,
  kThreshold,
  kLowRank,
  kSubspace,
  kLossless,
  kZfp,
};

/// The name in scenarios and lists: "top_k".
const char* codec_name(CodecId id);

/// What one message asks of a compression unit at one end. Its time is
///   setup + max(dense_bytes * passes / dense rate, macs / MAC rate, wire_bytes / wire rate) + fill,
/// and the next message may start after the max.
struct Cost {
  std::uint64_t dense_bytes = 0;    ///< of the values
  std::uint64_t passes = 1;         ///< how often the unit goes over them
  std::uint64_t macs = 0;           ///< multiply-accumulate operations
  std::uint64_t wire_bytes = 0;     ///< of the payload; an estimate where the ratio depends on the data
  std::uint64_t table_bytes = 0;    ///< read from memory beside the values (rows of F and PE)
  std::uint64_t fill_elements = 0;  ///< that must be in before the first result leaves
  std::uint64_t fill_cycles = 0;    ///< of the pipeline besides
  /// Each part of the payload goes with the values before it only, so that packets can go on before the last
  /// one is there. False: the whole message has to be there first.
  bool streams = true;
};

/// Cycles of a unit with `lanes` elements a cycle until its first result; 0 for an empty message.
std::uint64_t pipeline_fill_cycles(const Cost& cost, std::uint64_t lanes);

/// Whether payloads of one shape may be added element by element on their way, and decode to the sum.
struct Summable {
  bool yes = false;
  Element element = Element::kFp32;  ///< that the payload is an array of; only where `yes`
  std::string reason;                ///< why not; only where not `yes`
};

/// Values to bytes and back. A codec of given configuration gives the same bytes on any machine.
/// Encoders may have a memory for each stream; one object may serve both ends and all streams of a unit.
/// The errors of all functions are CodecErrors.
class Codec {
 public:
  virtual ~Codec() = default;
  Codec() = default;
  Codec(const Codec&) = delete;
  Codec& operator=(const Codec&) = delete;

  virtual CodecId id() const = 0;
  const char* name() const { return codec_name(id()); }
  /// Every bit comes back, of NaN too.
  virtual bool is_lossless() const { return false; }
  virtual bool ratio_depends_on_data() const { return false; }
  virtual Summable summable(const Shape& shape, Direction direction) const = 0;

  /// Payload of a message: exact where the ratio does not depend on the data, otherwise by the assumed ratio
  /// of the configuration. Throws kElementNotSupported, kWrongShape.
  virtual std::uint64_t wire_bytes(const Shape& shape, Direction direction) const = 0;
  /// What is sent of these values in whatever parts, each a message of its own, takes no less.
  virtual std::uint64_t least_bytes(const Shape& shape, Direction direction) const {
    return wire_bytes(shape, direction);
  }
  /// No message of that shape takes more.
  virtual std::uint64_t worst_case_bytes(const Shape& shape, Direction direction) const {
    return wire_bytes(shape, direction);
  }
  virtual Cost compress_cost(const Shape& shape, Direction direction) const = 0;
  virtual Cost decompress_cost(const Shape& shape, Direction direction) const = 0;

  /// Reuses the memory of `encoded`, whose content is lost also when it throws. Throws kBadMessage,
  /// kElementNotSupported and what the codec names.
  void encode(const MessageView& message, const Context& context, Encoded& encoded);
  Encoded encode(const MessageView& message, const Context& context);

  /// `expected`: what the receiver waits for. `values` has dense_bytes(expected) bytes afterwards; its
  /// content is lost when it throws. Throws kWrongCodec, kWrongShape, kWrongParameter, kWrongVersion,
  /// kTruncated, kTooLong and what the codec names.
  void decode(const WireHeader& header, ByteView payload, const Shape& expected, const Context& context,
              std::vector<std::byte>& values) const;
  std::vector<std::byte> decode(const Encoded& encoded, const Shape& expected, const Context& context) const;

 protected:
  /// What both ends must have alike; into the header.
  virtual std::uint64_t parameter() const { return 0; }
  /// In words, for errors: "k 40".
  virtual std::string parameter_text(std::uint64_t parameter) const;
  virtual std::uint64_t version() const { return 0; }
  virtual bool takes(Element element) const;

  virtual void encode_values(const MessageView& message, const Context& context,
                             std::vector<std::byte>& payload) = 0;
  /// The header fits the codec and the payload has its bytes. `values`: dense_bytes(shape) bytes.
  virtual void decode_values(const Shape& shape, ByteView payload, const Context& context,
                             std::byte* values) const = 0;

  [[noreturn]] void refuse(Refusal refusal, const std::string& text) const;
  /// Throws kElementNotSupported.
  void check_element(Element element) const;
};

}  // namespace wafervp::compression
