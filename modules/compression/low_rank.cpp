// SPDX-License-Identifier: Apache-2.0
#include "compression/low_rank.h"

#include <algorithm>

#include "compression/orthonormal.h"
#include "compression/product.h"
#include "compression/values.h"

namespace wafervp::compression {
namespace {

/// Two sweeps of Gram-Schmidt over the columns of m x r, each with a scalar product and a subtraction a pair.
std::uint64_t orthonormalise_macs(std::uint64_t rows, std::uint64_t rank) {
  return 2 * rows * rank * (rank + 1);
}

}  // namespace

LowRank::LowRank(const LowRankConfig& config) : config_(config) {
  if (config_.rank < 1 || config_.rank > 1u << 20) {
    refuse(Refusal::kBadParameter, "expected rank: 1 to 2^20, found " + std::to_string(config_.rank));
  }
}

std::uint64_t LowRank::rank(const Shape& shape) const {
  return std::min({config_.rank, shape.rows, shape.width});
}

Summable LowRank::summable(const Shape&, Direction) const {
  return {false,
          {},
          "Q belongs to the P of its own sender; a sum takes two rounds, of P and then of Q, with a common "
          "orthonormal basis between them"};
}

std::uint64_t LowRank::wire_bytes(const Shape& shape, Direction) const {
  check_element(shape.element);
  element_count(shape);
  return rank(shape) * (shape.rows + shape.width) * element_bytes(shape.element);
}

/// A part that is a row has one column in P, and little more than its own bytes.
std::uint64_t LowRank::least_bytes(const Shape& shape, Direction direction) const {
  return std::min(wire_bytes(shape, direction), dense_bytes(shape));
}

Cost LowRank::compress_cost(const Shape& shape, Direction direction) const {
  const std::uint64_t r = rank(shape);
  Cost cost;
  cost.dense_bytes = dense_bytes(shape);
  cost.passes = 2;  // for P and for Q
  cost.macs = 2 * element_count(shape) * r + orthonormalise_macs(shape.rows, r);
  cost.wire_bytes = wire_bytes(shape, direction);
  cost.fill_elements = shape.width * r;  // no element of Q is done before the last row
  cost.fill_cycles = 16;
  cost.streams = false;
  return cost;
}

Cost LowRank::decompress_cost(const Shape& shape, Direction direction) const {
  const std::uint64_t r = rank(shape);
  Cost cost;
  cost.dense_bytes = dense_bytes(shape);
  cost.macs = element_count(shape) * r + orthonormalise_macs(shape.rows, r);
  cost.wire_bytes = wire_bytes(shape, direction);
  cost.fill_elements = (shape.rows + shape.width) * r;  // every value needs all of P, and a row of Q
  cost.fill_cycles = 16;
  cost.streams = false;
  return cost;
}

template <class T>
void LowRank::encode_matrix(const MessageView& message, Stream<T>& stream, std::byte* to) {
  const Shape& shape = message.shape;
  if (stream.matrix == nullptr || stream.shape != shape) {
    stream.shape = shape;
    stream.matrix = std::make_unique<PowerSgd<T>>(
        shape.rows, shape.width,
        typename PowerSgd<T>::Options{static_cast<std::size_t>(config_.rank), config_.error_feedback,
                                      config_.warm_start, config_.seed, shape.element});
  }
  std::vector<T> values(element_count(shape));
  widen(shape.element, message.values.data, values.data(), values.size());
  const Matrix<T>& p = stream.matrix->begin(values.data(), values.size());
  narrow(shape.element, p.values.data(), to, p.values.size());
  to += p.values.size() * element_bytes(shape.element);
  const Matrix<T>& q = stream.matrix->middle(p);
  narrow(shape.element, q.values.data(), to, q.values.size());
  stream.matrix->end(q);
}

template <class T>
void LowRank::decode_matrix(const Shape& shape, const std::byte* from, std::byte* values) const {
  Matrix<T> p(shape.rows, rank(shape)), q(shape.width, rank(shape));
  widen(shape.element, from, p.values.data(), p.values.size());
  from += p.values.size() * element_bytes(shape.element);
  widen(shape.element, from, q.values.data(), q.values.size());
  orthonormalise(p);
  std::vector<T> matrix(element_count(shape));
  multiply_transposed(p.rows, p.columns, q.rows, p.values.data(), q.values.data(), matrix.data());
  narrow(shape.element, matrix.data(), values, matrix.size());
}

void LowRank::encode_values(const MessageView& message, const Context& context,
                            std::vector<std::byte>& payload) {
  payload.resize(wire_bytes(message.shape, context.direction));
  if (payload.empty()) return;
  message.shape.element == Element::kFp64
      ? encode_matrix(message, wide_streams_[context.stream], payload.data())
      : encode_matrix(message, streams_[context.stream], payload.data());
}

void LowRank::decode_values(const Shape& shape, ByteView payload, const Context&, std::byte* values) const {
  if (payload.size == 0) return;
  shape.element == Element::kFp64 ? decode_matrix<double>(shape, payload.data, values)
                                  : decode_matrix<float>(shape, payload.data, values);
}

}  // namespace wafervp::compression
