// SPDX-License-Identifier: Apache-2.0
#include "results/json_text.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace wafervp {
namespace {

/// Longest line that a container of scalars is put on.
constexpr std::size_t kLine = 400;

bool is_flat(const Json& value) {
  for (const Json& item : value) {
    if (item.is_structured() && !item.empty()) return false;
  }
  return true;
}

std::string scalar_text(const Json& value) {
  if (value.is_number_float()) return double_text(value.get<double>());
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void append(std::string& out, const Json& value, unsigned depth);

void append_items(std::string& out, const Json& value, const std::string& separator, unsigned depth) {
  bool first = true;
  for (const auto& item : value.items()) {
    if (!first) out += separator;
    first = false;
    if (value.is_object()) out += scalar_text(Json(item.key())) + ": ";
    append(out, item.value(), depth);
  }
}

void append(std::string& out, const Json& value, unsigned depth) {
  if (!value.is_structured()) {
    out += scalar_text(value);
    return;
  }
  const char open = value.is_object() ? '{' : '[';
  const char close = value.is_object() ? '}' : ']';
  out += open;
  const std::size_t start = out.size();
  if (is_flat(value)) {
    append_items(out, value, ", ", depth);
    if (depth > 0 && out.size() - start <= kLine) {
      out += close;
      return;
    }
    out.resize(start);
  }
  if (!value.empty()) {
    const std::string indent = '\n' + std::string(2 * (depth + 1), ' ');
    out += indent;
    append_items(out, value, ',' + indent, depth + 1);
    out += '\n' + std::string(2 * depth, ' ');
  }
  out += close;
}

}  // namespace

std::string double_text(double value) {
  if (!std::isfinite(value)) return "null";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string json_text(const Json& value) {
  std::string out;
  append(out, value, 0);
  out += '\n';
  return out;
}

}  // namespace wafervp
