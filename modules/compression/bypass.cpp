// SPDX-License-Identifier: Apache-2.0
#include "compression/bypass.h"

#include <algorithm>

namespace wafervp::compression {

Summable Bypass::summable(const Shape& shape, Direction) const { return {true, shape.element, {}}; }

std::uint64_t Bypass::wire_bytes(const Shape& shape, Direction) const { return dense_bytes(shape); }

Cost Bypass::compress_cost(const Shape& shape, Direction) const {
  Cost cost;
  cost.dense_bytes = cost.wire_bytes = dense_bytes(shape);
  return cost;
}

Cost Bypass::decompress_cost(const Shape& shape, Direction direction) const {
  return compress_cost(shape, direction);
}

void Bypass::encode_values(const MessageView& message, const Context&, std::vector<std::byte>& payload) {
  payload.assign(message.values.data, message.values.data + message.values.size);
}

void Bypass::decode_values(const Shape&, ByteView payload, const Context&, std::byte* values) const {
  std::copy_n(payload.data, payload.size, values);
}

}  // namespace wafervp::compression
