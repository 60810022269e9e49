// SPDX-License-Identifier: Apache-2.0
#include "results/json_text.h"

#include <fmt/format.h>

#include <algorithm>
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

void append_quoted(std::string& out, std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(),
                                 [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
  if (plain) {
    (out += '"').append(text) += '"';
  } else {
    out += Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  }
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
    if (value.is_object()) {
      append_quoted(out, item.key());
      out += ": ";
    }
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

JsonRecords::JsonRecords(std::string& out, std::string_view name) : out_(out) {
  append_quoted(out_, name);
  out_ += ": [";
}

void JsonRecords::begin() {
  members_.clear();
  ends_.clear();
  out_ += empty_ ? "\n    {" : ",\n    {";
  empty_ = false;
}

void JsonRecords::name_member(std::string_view name) {
  ends_.emplace_back(members_.size(), members_.size());
  append_quoted(members_, name);
  members_ += ": ";
}

void JsonRecords::add(std::string_view name, std::string_view text) {
  name_member(name);
  append_quoted(members_, text);
  ends_.back().second = members_.size();
}

void JsonRecords::add(std::string_view name, std::uint64_t number) {
  name_member(name);
  const fmt::format_int digits(number);
  members_.append(digits.data(), digits.size());
  ends_.back().second = members_.size();
}

void JsonRecords::add(std::string_view name, double number) {
  name_member(name);
  members_ += double_text(number);
  ends_.back().second = members_.size();
}

void JsonRecords::add(std::string_view name, bool value) {
  name_member(name);
  members_ += value ? "true" : "false";
  ends_.back().second = members_.size();
}

void JsonRecords::append_record(std::string_view separator) {
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    if (i > 0) (out_ += ',') += separator;
    out_.append(members_, ends_[i].first, ends_[i].second - ends_[i].first);
  }
}

void JsonRecords::end() {
  const std::size_t separators = ends_.empty() ? 0 : 2 * (ends_.size() - 1);
  if (members_.size() + separators <= kLine) {
    append_record(" ");
  } else {
    out_ += "\n      ";
    append_record("\n      ");
    out_ += "\n    ";
  }
  out_ += '}';
}

void JsonRecords::finish() { out_ += empty_ ? "]" : "\n  ]"; }

}  // namespace wafervp
