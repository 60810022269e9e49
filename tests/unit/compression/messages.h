// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compression/codec_config.h"

namespace wafervp::compression {

constexpr Element kElements[] = {Element::kFp64, Element::kFp32, Element::kBf16, Element::kFp16};

/// Values and what they are; owns the bytes.
struct Message {
  Shape shape;
  std::vector<std::byte> bytes;
  MessageView view() const { return {shape, bytes}; }
};

/// `values`: rows x width, rounded to fp32 first where the element is bf16 or fp16.
Message message_of(Shape shape, const std::vector<double>& values);
/// Normal numbers times `deviation`.
Message random_message(Shape shape, std::uint64_t seed, double deviation = 1);
std::vector<double> values_of(Element element, const std::vector<std::byte>& bytes);
inline std::vector<double> values_of(const Message& message) {
  return values_of(message.shape.element, message.bytes);
}

/// Unit roundoff of an element type: half the distance of 1 and the next number.
double roundoff(Element element);

/// A codec of each kind, and more than one where parameters change the image.
struct NamedConfig {
  std::string name;
  CodecConfig config;
};
/// `width`: d of the subspace codecs, which are left out for 0.
std::vector<NamedConfig> codecs_for(std::uint64_t width);

/// A context with token ids, which must stay alive.
Context forward_context(const std::vector<std::uint32_t>& ids);
Context backward_context();
std::vector<std::uint32_t> ids_of(std::uint64_t rows, std::uint32_t vocabulary = 7);

/// Encodes and decodes.
std::vector<double> round_trip(Codec& codec, const Message& message, const Context& context);

/// The refusal that `action` ends with; anything else fails the test. `text` must be part of its message.
void expect_refusal(Refusal refusal, const std::string& text, const std::function<void()>& action);

}  // namespace wafervp::compression
