// SPDX-License-Identifier: Apache-2.0
#include "scenario/json_scanner.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "scenario/json_parser.h"
#include "scenario/text.h"

namespace wafervp {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

/// Empty for a number by RFC 8259, else what is wrong with it.
const char* number_fault(std::string_view token, bool& is_integer) {
  std::size_t i = 0;
  const auto at = [&](std::size_t k) { return k < token.size() ? token[k] : '\0'; };
  const auto digits = [&] {
    const std::size_t begin = i;
    while (is_digit(at(i))) ++i;
    return i - begin;
  };
  if (at(0) == '+') return "remove the plus sign";
  if (at(i) == '-') ++i;
  if (at(i) == '.') return "write a digit before the point";
  if (at(i) == '0' && is_digit(at(i + 1))) return "remove the leading zero";
  if (at(i) == '0' && (at(i + 1) == 'x' || at(i + 1) == 'X')) return "write it in decimal";
  if (digits() == 0) return "expected digits";
  is_integer = i == token.size();
  if (at(i) == '.') {
    ++i;
    if (digits() == 0) return "write a digit after the point";
  }
  if (at(i) == 'e' || at(i) == 'E') {
    ++i;
    if (at(i) == '+' || at(i) == '-') ++i;
    if (digits() == 0) return "write a digit in the exponent";
  }
  return i == token.size() ? nullptr : "expected a number alone; text needs double quotes";
}

void append_utf8(std::string& out, unsigned code) {
  const auto put = [&](unsigned byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

}  // namespace

void JsonScanner::advance() {
  const char c = text_[position_++];
  if (c == '\n') {
    ++line_;
    column_ = 1;
  } else if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) {
    ++column_;
  }
}

void JsonScanner::pass(std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) advance();
}

bool JsonScanner::take(char c) {
  if (at_end() || text_[position_] != c) return false;
  advance();
  return true;
}

void JsonScanner::skip_mark() {
  if (text_.substr(0, 3) == "\xef\xbb\xbf") position_ = 3;
}

void JsonScanner::skip_blanks() {
  for (;;) {
    const char c = peek();
    if (!at_end() && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) {
      advance();
    } else if (c == '/' && (peek(1) == '/' || peek(1) == '*')) {
      report("comments are not JSON; use a \"comment\" member");
      const bool block = peek(1) == '*';
      pass(2);
      while (!at_end() && !(block ? peek() == '*' && peek(1) == '/' : peek() == '\n')) advance();
      if (block && !at_end()) pass(2);
    } else if (c == '#') {
      report("comments are not JSON; use a \"comment\" member");
      while (!at_end() && peek() != '\n') advance();
    } else {
      return;
    }
  }
}

void JsonScanner::report_at(Place at, std::string message) {
  issues_.push_back({file_, at.line, at.column, pointer_, std::move(message)});
  if (issues_.size() >= kMaxIssues) throw Stop{};
}

void JsonScanner::stop(std::string message) {
  report(std::move(message));
  throw Stop{};
}

std::string_view JsonScanner::word() const {
  std::size_t end = position_;
  while (end < text_.size() && (is_digit(text_[end]) || is_letter(text_[end]) || text_[end] == '.' ||
                                text_[end] == '+' || text_[end] == '-')) {
    ++end;
  }
  return text_.substr(position_, end - position_);
}

std::string JsonScanner::found() const {
  if (at_end()) return "end of file";
  const std::string_view token = word();
  if (!token.empty()) return escape(token.substr(0, 40));
  const std::size_t length = utf8_length(text_.substr(position_));
  if (peek() == '"') return "a string";
  return escape(text_.substr(position_, length == 0 ? 1 : length));
}

std::string JsonScanner::member_name() {
  if (peek() == '"') return string();
  const std::string_view name = word();
  if (name.empty()) stop("expected a member name in double quotes, found " + found());
  report("expected a member name in double quotes, found " + found());
  pass(name.size());
  return std::string(name);
}

std::string JsonScanner::string() {
  const Place begin = place();
  std::string out;
  bool bad_bytes = false;
  advance();
  for (;;) {
    if (at_end()) {
      report_at(begin, "this string has no closing quote");
      throw Stop{};
    }
    const char c = peek();
    if (c == '"') {
      advance();
      return out;
    }
    const std::size_t length = utf8_length(text_.substr(position_));
    if (c == '\\') {
      escape_sequence(out);
    } else if (c == '\n') {
      report_at(begin, "this string has no closing quote in its line");
      throw Stop{};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      report("control character " + escape({&c, 1}) + " in a string; write it as an escape");
      advance();
    } else if (length == 0) {
      if (!bad_bytes) {
        std::size_t end = position_;
        while (end < text_.size() && end < position_ + 8 && utf8_length(text_.substr(end)) == 0) ++end;
        report("not valid UTF-8 at byte offset " + std::to_string(position_) + ", found " +
               escape(text_.substr(position_, end - position_)) + "; save the file as UTF-8");
      }
      bad_bytes = true;
      append_utf8(out, 0xfffd);
      advance();
    } else {
      out += text_.substr(position_, length);
      pass(length);
    }
  }
}

int JsonScanner::code_unit() {
  int code = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const char c = peek(i);
    const int digit = is_digit(c)            ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return -1;
    code = code * 16 + digit;
  }
  pass(4);
  return code;
}

void JsonScanner::escape_sequence(std::string& out) {
  static constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
  const Place begin = place();
  advance();
  const char letter = peek();
  const std::size_t index = at_end() ? std::string_view::npos : kLetters.find(letter);
  if (index != std::string_view::npos) {
    out += kMeanings[index];
    advance();
    return;
  }
  if (letter != 'u') {
    report_at(begin, "\\ begins none of the escapes \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");
    return;
  }
  advance();
  const int high = code_unit();
  if (high < 0) {
    report_at(begin, "expected four hexadecimal digits after \\u");
  } else if (high < 0xd800 || high > 0xdfff) {
    append_utf8(out, static_cast<unsigned>(high));
  } else {
    int low = -1;
    if (high < 0xdc00 && peek() == '\\' && peek(1) == 'u') {
      pass(2);
      low = code_unit();
    }
    if (low < 0xdc00 || low > 0xdfff) {
      report_at(begin, "half of a surrogate pair; write both halves, or the character itself");
    } else {
      append_utf8(
          out, 0x10000u + (static_cast<unsigned>(high - 0xd800) << 10) + static_cast<unsigned>(low - 0xdc00));
    }
  }
}

Json JsonScanner::scalar(std::string& typed) {
  const Place begin = place();
  const std::string_view token = word();
  if (token.empty()) {
    if (peek() == '\'') stop("expected a value, found '; strings stand in double quotes");
    stop("expected a value, found " + found());
  }
  if (token == "true" || token == "false" || token == "null") {
    pass(token.size());
    return token == "null" ? Json() : Json(token == "true");
  }
  const std::string plain = lower_case(token[0] == '-' || token[0] == '+' ? token.substr(1) : token);
  if (plain == "nan" || plain == "inf" || plain == "infinity") {
    report(std::string(token) + " is not JSON; expected a finite number");
  } else if (is_letter(token[0])) {
    const bool near = plain == "true" || plain == "false" || plain == "null" || plain == "none";
    report(
        "expected a value, found " + found() + "; " +
        (near ? "did you mean " + (plain == "none" ? "null" : plain) + "?" : "text stands in double quotes"));
  } else {
    pass(token.size());
    return number(token, begin, typed);
  }
  pass(token.size());
  return Json();
}

Json JsonScanner::number(std::string_view token, Place begin, std::string& typed) {
  bool is_integer = false;
  if (const char* fault = number_fault(token, is_integer)) {
    report_at(begin, escape(token.substr(0, 60)) + " is not a JSON number; " + fault);
    return Json();
  }
  const char* const end = token.data() + token.size();
  if (is_integer) {
    std::uint64_t positive = 0;
    std::int64_t negative = 0;
    if (token[0] != '-' && std::from_chars(token.data(), end, positive).ec == std::errc())
      return Json(positive);
    if (token[0] == '-' && std::from_chars(token.data(), end, negative).ec == std::errc())
      return Json(negative);
  }
  typed = token.size() > 40 ? std::string(token.substr(0, 40)) + "..." : std::string(token);
  double value = 0;
  if (std::from_chars(token.data(), end, value).ec != std::errc() || !std::isfinite(value)) {
    report_at(begin, typed + " does not fit in a 64-bit floating-point number; expected a finite number");
    return Json();
  }
  return Json(value);
}

}  // namespace wafervp
