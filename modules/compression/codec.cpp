// SPDX-License-Identifier: Apache-2.0
#include "compression/codec.h"

#include <string>

namespace wafervp::compression {
namespace {

constexpr std::uint64_t kMostElements = std::uint64_t{1} << 48;

const char* direction_name(Direction direction) {
  return direction == Direction::kForward ? "forward" : "backward";
}

/// Headers may tell any number.
std::string text_of(const Shape& shape) {
  const bool known = shape.element <= Element::kFp64;
  return std::to_string(shape.rows) + " x " + std::to_string(shape.width) + ' ' +
         (known ? element_name(shape.element) : "of an unknown type");
}

const char* word_of(std::uint8_t codec) {
  return codec <= static_cast<std::uint8_t>(CodecId::kZfp) ? codec_name(static_cast<CodecId>(codec))
                                                           : "an unknown codec";
}

}  // namespace

const char* refusal_name(Refusal refusal) {
  switch (refusal) {
    case Refusal::kUnknownCodec:
      return "unknown_codec";
    case Refusal::kBadParameter:
      return "bad_parameter";
    case Refusal::kElementNotSupported:
      return "element_not_supported";
    case Refusal::kBadMessage:
      return "bad_message";
    case Refusal::kWrongCodec:
      return "wrong_codec";
    case Refusal::kWrongShape:
      return "wrong_shape";
    case Refusal::kWrongParameter:
      return "wrong_parameter";
    case Refusal::kWrongVersion:
      return "wrong_version";
    case Refusal::kTruncated:
      return "truncated";
    case Refusal::kTooLong:
      return "too_long";
    case Refusal::kMalformed:
      return "malformed";
    case Refusal::kMissingTokenIds:
      return "missing_token_ids";
    case Refusal::kTokenOutOfRange:
      return "token_out_of_range";
    case Refusal::kPositionOutOfRange:
      return "position_out_of_range";
    case Refusal::kNoBasis:
      return "no_basis";
    case Refusal::kNonFinite:
      return "non_finite";
    case Refusal::kScaleOutOfRange:
      return "scale_out_of_range";
  }
  return "unknown";
}

const char* codec_name(CodecId id) {
  static constexpr const char* kNames[] = {"bypass",    "cast",     "int8",     "int4",     "top_k",
                                           "threshold", "low_rank", "subspace", "lossless", "zfp"};
  return kNames[static_cast<std::size_t>(id)];
}

std::uint64_t element_count(const Shape& shape) {
  if (shape.width != 0 && shape.rows > kMostElements / shape.width) {
    throw CodecError(Refusal::kWrongShape, "message",
                     "expected at most 2^48 elements, found " + text_of(shape));
  }
  return shape.rows * shape.width;
}

std::uint64_t dense_bytes(const Shape& shape) { return element_count(shape) * element_bytes(shape.element); }

std::uint64_t pipeline_fill_cycles(const Cost& cost, std::uint64_t lanes) {
  if (cost.dense_bytes == 0) return 0;
  return (cost.fill_elements + lanes - 1) / lanes + cost.fill_cycles;
}

std::string Codec::parameter_text(std::uint64_t parameter) const {
  return "parameter " + std::to_string(parameter);
}

bool Codec::takes(Element element) const { return element <= Element::kFp64 && element != Element::kInt32; }

void Codec::refuse(Refusal refusal, const std::string& text) const {
  throw CodecError(refusal, name(), text);
}

void Codec::check_element(Element element) const {
  if (takes(element)) return;
  std::string words;
  for (const Element each : {Element::kFp64, Element::kFp32, Element::kBf16, Element::kFp16}) {
    if (takes(each)) words += (words.empty() ? "" : ", ") + std::string(element_name(each));
  }
  refuse(Refusal::kElementNotSupported,
         "expected elements of type " + words + ", found " + element_name(element));
}

void Codec::encode(const MessageView& message, const Context& context, Encoded& encoded) {
  check_element(message.shape.element);
  const std::uint64_t dense = dense_bytes(message.shape);
  if (message.values.size != dense) {
    refuse(Refusal::kBadMessage, "expected " + std::to_string(dense) + " bytes for " +
                                     text_of(message.shape) + ", found " +
                                     std::to_string(message.values.size));
  }
  encode_values(message, context, encoded.payload);
  encoded.header = {static_cast<std::uint8_t>(id()), context.direction, message.shape, parameter(), version(),
                    encoded.payload.size()};
}

Encoded Codec::encode(const MessageView& message, const Context& context) {
  Encoded encoded;
  encode(message, context, encoded);
  return encoded;
}

void Codec::decode(const WireHeader& header, ByteView payload, const Shape& expected, const Context& context,
                   std::vector<std::byte>& values) const {
  if (header.codec != static_cast<std::uint8_t>(id())) {
    refuse(Refusal::kWrongCodec,
           std::string("expected a message of this codec, found ") + word_of(header.codec));
  }
  if (header.shape != expected) {
    refuse(Refusal::kWrongShape, "expected " + text_of(expected) + ", found " + text_of(header.shape));
  }
  check_element(expected.element);
  if (header.direction != context.direction) {
    refuse(Refusal::kWrongShape, std::string("expected a ") + direction_name(context.direction) +
                                     " message, found a " + direction_name(header.direction) + " one");
  }
  if (header.parameter != parameter()) {
    refuse(Refusal::kWrongParameter,
           "expected " + parameter_text(parameter()) + ", found " + parameter_text(header.parameter));
  }
  if (header.version != version()) {
    refuse(Refusal::kWrongVersion, "expected version " + std::to_string(version()) + ", found version " +
                                       std::to_string(header.version));
  }
  const std::uint64_t dense = dense_bytes(expected);
  const bool exact = !ratio_depends_on_data();
  const std::uint64_t most = worst_case_bytes(expected, context.direction);
  if (payload.size < header.payload_bytes || (exact && payload.size < most)) {
    refuse(Refusal::kTruncated, "expected " + std::to_string(exact ? most : header.payload_bytes) +
                                    " bytes, found " + std::to_string(payload.size));
  }
  if (payload.size > header.payload_bytes || payload.size > most) {
    refuse(Refusal::kTooLong, "expected " + std::string(exact ? "" : "at most ") +
                                  std::to_string(exact ? most : std::min(most, header.payload_bytes)) +
                                  " bytes, found " + std::to_string(payload.size));
  }
  values.resize(dense);
  decode_values(expected, payload, context, values.data());
}

std::vector<std::byte> Codec::decode(const Encoded& encoded, const Shape& expected,
                                     const Context& context) const {
  std::vector<std::byte> values;
  decode(encoded.header, encoded.payload, expected, context, values);
  return values;
}

}  // namespace wafervp::compression
