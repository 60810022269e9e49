// SPDX-License-Identifier: Apache-2.0
#include "compression/subspace_codec.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "compression/product.h"
#include "compression/values.h"

namespace wafervp::compression {
namespace {

/// Rows that are multiplied at a time. Always the same, wherever a message lies in memory, as the order of
/// sums in a product depends on its sizes.
constexpr std::uint64_t kRows = 256;

template <class T>
Matrix<T> as(const Matrix<double>& matrix) {
  Matrix<T> copy(matrix.rows, matrix.columns);
  for (std::size_t i = 0; i < copy.values.size(); ++i) copy.values[i] = static_cast<T>(matrix.values[i]);
  return copy;
}

template <class T>
void subtract(const T* row, std::size_t count, T* from) {
  for (std::size_t i = 0; i < count; ++i) from[i] -= row[i];
}

template <class T>
void add(const T* row, std::size_t count, T* to) {
  for (std::size_t i = 0; i < count; ++i) to[i] += row[i];
}

/// The values as T: in place where they are that already, otherwise in `buffer`.
template <class T>
const T* as_block(Element element, const std::byte* from, std::size_t count, std::vector<T>& buffer) {
  const bool same = element_bytes(element) == sizeof(T);
  if (same && reinterpret_cast<std::uintptr_t>(from) % alignof(T) == 0)
    return reinterpret_cast<const T*>(from);
  buffer.resize(count);
  widen(element, from, buffer.data(), count);
  return buffer.data();
}

}  // namespace

template <class T>
struct SubspaceCodec::Tables {
  Matrix<T> u, tokens, positions;           // U, F, PE
  Matrix<T> token_shares, position_shares;  // F U, PE U
};

SubspaceCodec::~SubspaceCodec() = default;

SubspaceCodec::SubspaceCodec(const SubspaceConfig& config) : config_(config) {
  if (config_.subspace != nullptr) {
    if (config_.dimension == 0) config_.dimension = config_.subspace->dimension();
    if (config_.k == 0) config_.k = config_.subspace->rank();
  }
  if (config_.k < 1 || config_.k > config_.dimension || config_.k > 0xffffffffu) {
    refuse(Refusal::kBadParameter, "expected k: 1 to d = " + std::to_string(config_.dimension) + ", found " +
                                       std::to_string(config_.k));
  }
  if (config_.id_bytes != 0 && config_.id_bytes != 2 && config_.id_bytes != 4 && config_.id_bytes != 8) {
    refuse(Refusal::kBadParameter,
           "expected id_bytes: 0, 2, 4 or 8, found " + std::to_string(config_.id_bytes));
  }
  if (config_.coefficients) check_element(*config_.coefficients);
  if (config_.tables != nullptr) {
    for (const Matrix<double>* table : {&config_.tables->tokens, &config_.tables->positions}) {
      if (table->rows > 0 && table->columns != config_.dimension) {
        refuse(Refusal::kBadParameter, "expected tables of " + std::to_string(config_.dimension) +
                                           " columns, found " + std::to_string(table->columns));
      }
    }
  }
  if (has_tokens() && config_.id_bytes == 0) {
    refuse(Refusal::kBadParameter, "expected id_bytes: 2, 4 or 8 with a table of tokens, found 0");
  }
  if (config_.subspace != nullptr) use(config_.subspace);
}

void SubspaceCodec::use(std::shared_ptr<const Subspace> subspace) {
  if (subspace == nullptr || subspace->dimension() != config_.dimension || subspace->rank() != config_.k) {
    refuse(Refusal::kBadParameter, "expected U of " + std::to_string(config_.dimension) + " x " +
                                       std::to_string(config_.k) + ", found " +
                                       (subspace == nullptr ? "none"
                                                            : std::to_string(subspace->dimension()) + " x " +
                                                                  std::to_string(subspace->rank())));
  }
  config_.subspace = std::move(subspace);
  tables_.reset();
  wide_tables_.reset();
}

std::uint64_t SubspaceCodec::parameter() const {
  const std::uint64_t type = config_.coefficients ? 1 + static_cast<std::uint64_t>(*config_.coefficients) : 0;
  return config_.k | std::uint64_t{config_.id_bytes} << 32 | type << 40;
}

std::string SubspaceCodec::parameter_text(std::uint64_t parameter) const {
  const std::uint64_t type = parameter >> 40;
  std::string text = "k " + std::to_string(parameter & 0xffffffffu) + ", token ids of " +
                     std::to_string(parameter >> 32 & 0xff) + " bytes, coefficients of ";
  if (type == 0) return text + "the values' type";
  const bool known = type - 1 <= static_cast<std::uint64_t>(Element::kFp64);
  return text + "type " + (known ? element_name(static_cast<Element>(type - 1)) : "unknown");
}

std::uint64_t SubspaceCodec::version() const {
  return config_.subspace != nullptr ? config_.subspace->version() : 0;
}

Summable SubspaceCodec::summable(const Shape& shape, Direction direction) const {
  if (direction == Direction::kForward && config_.id_bytes > 0) {
    return {false, {}, "forward messages carry token ids, which cannot be added"};
  }
  if (direction == Direction::kForward && config_.tables != nullptr) {
    return {
        false, {}, "F and PE are taken off each forward message and put back once: the sum would miss some"};
  }
  return {true, on_wire(shape), {}};
}

std::uint64_t SubspaceCodec::wire_bytes(const Shape& shape, Direction direction) const {
  check_element(shape.element);
  check_width(shape);
  element_count(shape);
  const std::uint64_t id = direction == Direction::kForward ? config_.id_bytes : 0;
  return shape.rows * (config_.k * element_bytes(on_wire(shape)) + id);
}

Cost SubspaceCodec::compress_cost(const Shape& shape, Direction direction) const {
  Cost cost;
  cost.dense_bytes = dense_bytes(shape);
  cost.macs = element_count(shape) * config_.k;
  cost.wire_bytes = wire_bytes(shape, direction);
  if (direction == Direction::kForward && config_.id_bytes > 0) {
    cost.table_bytes = shape.rows * config_.k * element_bytes(shape.element);  // a row of F U
  }
  cost.fill_elements = config_.dimension;  // the first coefficient needs the whole row
  cost.fill_cycles = 16;
  return cost;
}

Cost SubspaceCodec::decompress_cost(const Shape& shape, Direction direction) const {
  Cost cost = compress_cost(shape, direction);
  if (direction == Direction::kForward && config_.id_bytes > 0)
    cost.table_bytes = dense_bytes(shape);  // of F
  cost.fill_elements = 0;
  return cost;
}

void SubspaceCodec::check_width(const Shape& shape) const {
  if (shape.width == config_.dimension) return;
  refuse(Refusal::kWrongShape, "expected rows of d = " + std::to_string(config_.dimension) +
                                   " elements, found " + std::to_string(shape.width));
}

void SubspaceCodec::check_basis() const {
  if (config_.subspace == nullptr) {
    refuse(Refusal::kNoBasis,
           "expected a matrix U to compress values with, found a configuration for sizes only");
  }
}

std::uint64_t SubspaceCodec::position(std::uint64_t row, const Context& context) const {
  return context.first_position + (context.sequence_length > 0 ? row % context.sequence_length : row);
}

void SubspaceCodec::check_positions(std::uint64_t rows, const Context& context) const {
  if (!has_positions() || rows == 0) return;
  const std::uint64_t longest = context.sequence_length > 0 ? std::min(rows, context.sequence_length) : rows;
  const std::uint64_t known = config_.tables->positions.rows;
  if (longest > known || context.first_position > known - longest) {
    refuse(Refusal::kPositionOutOfRange, "expected positions below " + std::to_string(known) + ", found " +
                                             std::to_string(longest) + " from position " +
                                             std::to_string(context.first_position) + " on");
  }
}

void SubspaceCodec::check_token(std::uint64_t row, std::uint64_t id) const {
  if (!has_tokens() || id < config_.tables->tokens.rows) return;
  refuse(Refusal::kTokenOutOfRange, "expected token ids below " +
                                        std::to_string(config_.tables->tokens.rows) + ", found " +
                                        std::to_string(id) + " at row " + std::to_string(row));
}

void SubspaceCodec::put_ids(std::uint64_t rows, const Context& context, std::byte* to) const {
  if (config_.id_bytes == 0) return;
  const std::size_t found = context.token_ids != nullptr ? context.token_ids->size() : 0;
  if (found != rows) {
    refuse(Refusal::kMissingTokenIds, "expected " + std::to_string(rows) +
                                          " token ids, one for each row, found " + std::to_string(found));
  }
  for (std::uint64_t row = 0; row < rows; ++row) {
    const std::uint64_t id = (*context.token_ids)[row];
    check_token(row, id);
    if (config_.id_bytes == 2 && id > 0xffff) {
      refuse(Refusal::kTokenOutOfRange, "expected token ids below 65536 for 2 bytes on the wire, found " +
                                            std::to_string(id) + " at row " + std::to_string(row));
    }
    std::memcpy(to + row * config_.id_bytes, &id, config_.id_bytes);
  }
}

std::uint64_t SubspaceCodec::get_id(const std::byte* ids, std::uint64_t row) const {
  std::uint64_t id = 0;
  std::memcpy(&id, ids + row * config_.id_bytes, config_.id_bytes);
  check_token(row, id);
  return id;
}

template <class T>
const SubspaceCodec::Tables<T>& SubspaceCodec::tables(std::unique_ptr<Tables<T>>& made) const {
  if (made != nullptr) return *made;
  made = std::make_unique<Tables<T>>();
  made->u = as<T>(config_.subspace->u());
  const auto shares = [&](const Matrix<T>& table) {
    Matrix<T> product(table.rows, config_.k);
    multiply(table.rows, table.columns, product.columns, table.values.data(), made->u.values.data(),
             product.values.data());
    return product;
  };
  if (has_tokens()) {
    made->tokens = as<T>(config_.tables->tokens);
    made->token_shares = shares(made->tokens);
  }
  if (has_positions()) {
    made->positions = as<T>(config_.tables->positions);
    made->position_shares = shares(made->positions);
  }
  return *made;
}

template <class T>
void SubspaceCodec::encode_rows(const Tables<T>& tables, const MessageView& message, const Context& context,
                                std::byte* to) const {
  const Shape& shape = message.shape;
  const Element wire = on_wire(shape);
  const bool forward = context.direction == Direction::kForward;
  std::vector<T> buffer;
  std::vector<T> coefficients(std::min(kRows, shape.rows) * config_.k);
  for (std::uint64_t first = 0; first < shape.rows; first += kRows) {
    const std::uint64_t rows = std::min(kRows, shape.rows - first);
    const T* block =
        as_block(shape.element, message.values.data + first * shape.width * element_bytes(shape.element),
                 rows * shape.width, buffer);
    multiply(rows, shape.width, config_.k, block, tables.u.values.data(), coefficients.data());
    for (std::uint64_t row = 0; row < rows && forward; ++row) {
      T* share = coefficients.data() + row * config_.k;
      if (has_tokens())
        subtract(tables.token_shares.row((*context.token_ids)[first + row]), config_.k, share);
      if (has_positions()) {
        subtract(tables.position_shares.row(position(first + row, context)), config_.k, share);
      }
    }
    narrow(wire, coefficients.data(), to + first * config_.k * element_bytes(wire), rows * config_.k);
  }
}

template <class T>
void SubspaceCodec::decode_rows(const Tables<T>& tables, const Shape& shape, ByteView payload,
                                const Context& context, std::byte* values) const {
  const Element wire = on_wire(shape);
  const bool forward = context.direction == Direction::kForward;
  const std::byte* ids = payload.data + shape.rows * config_.k * element_bytes(wire);
  std::vector<T> coefficients(std::min(kRows, shape.rows) * config_.k);
  std::vector<T> block(std::min(kRows, shape.rows) * shape.width);
  for (std::uint64_t first = 0; first < shape.rows; first += kRows) {
    const std::uint64_t rows = std::min(kRows, shape.rows - first);
    widen(wire, payload.data + first * config_.k * element_bytes(wire), coefficients.data(),
          rows * config_.k);
    multiply_transposed(rows, config_.k, shape.width, coefficients.data(), tables.u.values.data(),
                        block.data());
    for (std::uint64_t row = 0; row < rows && forward; ++row) {
      T* value = block.data() + row * shape.width;
      if (has_positions()) add(tables.positions.row(position(first + row, context)), shape.width, value);
      if (has_tokens()) add(tables.tokens.row(get_id(ids, first + row)), shape.width, value);
    }
    narrow(shape.element, block.data(), values + first * shape.width * element_bytes(shape.element),
           rows * shape.width);
  }
}

void SubspaceCodec::encode_values(const MessageView& message, const Context& context,
                                  std::vector<std::byte>& payload) {
  const Shape& shape = message.shape;
  check_basis();
  payload.resize(wire_bytes(shape, context.direction));
  if (context.direction == Direction::kForward) {
    check_positions(shape.rows, context);
    put_ids(shape.rows, context, payload.data() + shape.rows * config_.k * element_bytes(on_wire(shape)));
  }
  shape.element == Element::kFp64 ? encode_rows(tables(wide_tables_), message, context, payload.data())
                                  : encode_rows(tables(tables_), message, context, payload.data());
}

void SubspaceCodec::decode_values(const Shape& shape, ByteView payload, const Context& context,
                                  std::byte* values) const {
  check_basis();
  if (context.direction == Direction::kForward) check_positions(shape.rows, context);
  shape.element == Element::kFp64 ? decode_rows(tables(wide_tables_), shape, payload, context, values)
                                  : decode_rows(tables(tables_), shape, payload, context, values);
}

}  // namespace wafervp::compression
