// SPDX-License-Identifier: Apache-2.0
#include "scenario/text.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace wafervp {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Levenshtein distance with swaps of neighbours, in half edits: a wrong letter case counts 1, all else 2.
std::size_t half_edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = 2 * j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = 2 * i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : lower(a[i - 1]) == lower(b[j - 1]) ? 1 : 2;
      row[j] = std::min({last[j] + 2, row[j - 1] + 2, last[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 2);
      }
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

void append_escaped(std::string& out, std::string_view piece) {
  static constexpr char kHex[] = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(piece[0]);
  if (piece.size() > 1) {
    out += piece;
  } else if (byte == '\n') {
    out += "\\n";
  } else if (byte == '\t') {
    out += "\\t";
  } else if (byte == '"' || byte == '\\') {
    out += '\\';
    out += piece[0];
  } else if (byte < 0x20 || byte >= 0x7f) {
    out += "\\x";
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  } else {
    out += piece[0];
  }
}

std::string escape_up_to(std::string_view text, std::size_t limit) {
  std::string out;
  std::size_t shown = 0;
  while (!text.empty()) {
    if (shown++ == limit) return out + "...";
    const std::size_t length = std::max<std::size_t>(1, utf8_length(text));
    append_escaped(out, text.substr(0, length));
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace

std::string nearest_word(std::string_view word, const std::vector<std::string>& words) {
  if (word.empty() || word.size() > 200) return {};
  std::string best;
  std::size_t best_distance = ~std::size_t{0};
  for (const std::string& candidate : words) {
    const std::size_t longer = std::max(word.size(), candidate.size());
    const std::size_t shorter = std::min(word.size(), candidate.size());
    // At most a third of the letters may differ, with a little more room for short words.
    const std::size_t allowed = 2 * (longer / 3 + 1);
    if (2 * (longer - shorter) > allowed) continue;
    const std::size_t distance = half_edits(word, candidate);
    if (distance <= allowed && distance < best_distance && distance < 2 * shorter) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string join_words(const std::vector<std::string>& words, std::size_t limit) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i == limit) return out + " and " + std::to_string(words.size() - limit) + " more";
    if (i != 0) out += ", ";
    out += words[i];
  }
  return out;
}

std::string quote(std::string_view text) { return '"' + escape_up_to(text, 60) + '"'; }

std::string escape(std::string_view text) { return escape_up_to(text, ~std::size_t{0}); }

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.empty()) return 0;
  const unsigned char head = byte(0);
  if (head < 0x80) return 1;
  const std::size_t length = head >= 0xf0 ? 4 : head >= 0xe0 ? 3 : 2;
  if (head < 0xc2 || head > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates and what lies beyond U+10FFFF show in the second byte.
  if (head == 0xe0 && byte(1) < 0xa0) return 0;
  if (head == 0xed && byte(1) > 0x9f) return 0;
  if (head == 0xf0 && byte(1) < 0x90) return 0;
  if (head == 0xf4 && byte(1) > 0x8f) return 0;
  return length;
}

std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string format_number(double value) {
  std::array<char, 40> buffer;
  // Whole numbers are easier to read without an exponent.
  if (value >= -1e15 && value <= 1e15 && value == static_cast<double>(static_cast<std::int64_t>(value))) {
    return std::to_string(static_cast<std::int64_t>(value));
  }
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return std::string(buffer.data(), result.ptr);
}

std::string pointer_token(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

std::vector<std::string> pointer_names(std::string_view pointer) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < pointer.size(); ++i) {
    if (pointer[i] == '/') {
      names.emplace_back();
    } else if (pointer[i] == '~' && i + 1 < pointer.size() &&
               (pointer[i + 1] == '0' || pointer[i + 1] == '1')) {
      names.back() += pointer[++i] == '0' ? '~' : '/';
    } else {
      names.back() += pointer[i];
    }
  }
  return names;
}

}  // namespace wafervp
