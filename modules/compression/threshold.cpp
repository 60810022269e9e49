// SPDX-License-Identifier: Apache-2.0
#include "compression/threshold.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace wafervp::compression {
namespace {

constexpr std::size_t kIndexBytes = 4;

}  // namespace

Threshold::Threshold(const ThresholdConfig& config) : config_(config) {
  if (!(config_.density > 0 && config_.density <= 1)) {
    refuse(Refusal::kBadParameter,
           "expected density: above 0, at most 1, found " + std::to_string(config_.density));
  }
  if (config_.renew_every == 0) {
    refuse(Refusal::kBadParameter, "expected renew_every: 1 message or more, found 0");
  }
  if (!(config_.assumed_ratio >= 0 && std::isfinite(config_.assumed_ratio))) {
    refuse(Refusal::kBadParameter,
           "expected assumed_ratio: 0 or more, found " + std::to_string(config_.assumed_ratio));
  }
}

Summable Threshold::summable(const Shape&, Direction) const {
  return {false, {}, "two senders choose different elements: their indices cannot be added"};
}

std::uint64_t Threshold::wanted(std::uint64_t elements) const {
  return static_cast<std::uint64_t>(std::ceil(config_.density * static_cast<double>(elements)));
}

std::uint64_t Threshold::wire_bytes(const Shape& shape, Direction direction) const {
  const std::uint64_t most = worst_case_bytes(shape, direction);
  const std::uint64_t entry = element_bytes(shape.element) + kIndexBytes;
  if (config_.assumed_ratio == 0) return wanted(element_count(shape)) * entry;
  const double bytes = std::ceil(static_cast<double>(dense_bytes(shape)) / config_.assumed_ratio);
  return bytes < static_cast<double>(most) ? static_cast<std::uint64_t>(bytes) : most;
}

std::uint64_t Threshold::worst_case_bytes(const Shape& shape, Direction) const {
  check_element(shape.element);
  const std::uint64_t elements = element_count(shape);
  if (elements > std::uint64_t{1} << 32) {
    refuse(Refusal::kWrongShape,
           "expected at most 2^32 elements for 32-bit indices, found " + std::to_string(elements));
  }
  return elements * (element_bytes(shape.element) + kIndexBytes);
}

Cost Threshold::compress_cost(const Shape& shape, Direction direction) const {
  Cost cost;
  cost.dense_bytes = dense_bytes(shape);
  cost.wire_bytes = wire_bytes(shape, direction);
  cost.fill_cycles = 16;
  return cost;
}

Cost Threshold::decompress_cost(const Shape& shape, Direction direction) const {
  return compress_cost(shape, direction);
}

std::uint64_t Threshold::tau(const MessageView& message, std::uint64_t stream) {
  Stream& state = streams_[stream];
  const std::uint64_t elements = element_count(message.shape);
  if (elements == 0) return 1;
  if (state.left == 0 || state.element != message.shape.element) {
    state.element = message.shape.element;
    state.left = config_.renew_every;
    state.tau = selection_.kth_finite(message.shape.element, message.values.data, elements, wanted(elements));
  }
  --state.left;
  return state.tau;
}

void Threshold::encode_values(const MessageView& message, const Context& context,
                              std::vector<std::byte>& payload) {
  worst_case_bytes(message.shape, context.direction);  // refuses what is too long
  const MessageView owed = config_.error_feedback ? feedback_.owed(message, context.stream) : message;
  const Element element = owed.shape.element;
  const std::size_t bytes = element_bytes(element);
  const std::uint64_t elements = element_count(owed.shape);
  const std::uint64_t least = tau(owed, context.stream);
  payload.clear();
  for (std::uint64_t i = 0; i < elements; ++i) {
    if (magnitude_bits(element, owed.values.data, i) < least) continue;
    const auto index = static_cast<std::uint32_t>(i);
    const std::size_t at = payload.size();
    payload.resize(at + kIndexBytes + bytes);
    std::memcpy(payload.data() + at, &index, kIndexBytes);
    std::memcpy(payload.data() + at + kIndexBytes, owed.values.data + i * bytes, bytes);
  }
  if (!config_.error_feedback) return;
  sent_.resize(message.values.size);
  decode_values(message.shape, payload, context, sent_.data());
  feedback_.settle(sent_);
}

void Threshold::decode_values(const Shape& shape, ByteView payload, const Context&, std::byte* values) const {
  const std::size_t bytes = element_bytes(shape.element);
  const std::size_t entry = kIndexBytes + bytes;
  const std::uint64_t elements = element_count(shape);
  if (payload.size % entry != 0) {
    refuse(Refusal::kMalformed, "expected entries of " + std::to_string(entry) + " bytes, found " +
                                    std::to_string(payload.size) + " bytes");
  }
  std::fill_n(values, dense_bytes(shape), std::byte{0});
  std::uint64_t least = 0;
  for (std::size_t at = 0; at < payload.size; at += entry) {
    std::uint32_t index = 0;
    std::memcpy(&index, payload.data + at, kIndexBytes);
    if (index < least || index >= elements) {
      refuse(Refusal::kMalformed, "expected indices to ascend below " + std::to_string(elements) +
                                      ", found " + std::to_string(index) + " where " + std::to_string(least) +
                                      " is the least");
    }
    std::memcpy(values + index * bytes, payload.data + at + kIndexBytes, bytes);
    least = std::uint64_t{index} + 1;
  }
}

}  // namespace wafervp::compression
