// SPDX-License-Identifier: Apache-2.0
#include "scenario/unit_hint.h"

#include <charconv>
#include <cmath>
#include <cstring>

#include "scenario/text.h"

namespace wafervp {
namespace {

struct Spelling {
  const char* word;
  double scale;
};
// Prefixes of bytes and bits; the unit's own letter follows.
constexpr Spelling kDecimal[] = {{"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15}};
constexpr Spelling kBinary[] = {{"Ki", 1024.0},
                                {"Mi", 1048576.0},
                                {"Gi", 1073741824.0},
                                {"Ti", 1099511627776.0},
                                {"Pi", 1125899906842624.0}};
constexpr Spelling kTimes[] = {{"ps", 1e-3}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

/// Factor from a spelling such as "GB/s" to bytes (per second), 0 if it is none.
double byte_scale(std::string word) {
  for (const char* tail : {"/s", "ps", "/sec"}) {
    const std::size_t length = std::strlen(tail);
    if (word.size() > length && word.compare(word.size() - length, length, tail) == 0) {
      word.resize(word.size() - length);
      break;
    }
  }
  if (word.empty() || (word.back() != 'B' && word.back() != 'b')) return 0;
  const double unit = word.back() == 'B' ? 1 : 0.125;
  word.pop_back();
  if (word.empty()) return unit;
  for (const Spelling& prefix : kDecimal) {
    if (word == prefix.word) return unit * prefix.scale;
  }
  for (const Spelling& prefix : kBinary) {
    if (word == prefix.word) return unit * prefix.scale;
  }
  return 0;
}

double time_scale(const std::string& word) {
  for (const Spelling& time : kTimes) {
    if (word == time.word) return time.scale;
  }
  return 0;
}

}  // namespace

std::string quoted_number_hint(const std::string& text, const std::string& unit) {
  double number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string own = unit.empty() ? "" : " (in " + unit + ")";
  if (result.ec != std::errc() || !std::isfinite(number)) return "; write a number without quotes" + own;
  std::string word(result.ptr, text.data() + text.size());
  word.erase(0, word.find_first_not_of(' ') == std::string::npos ? word.size() : word.find_first_not_of(' '));
  if (word.empty()) return "; remove the quotes";
  const bool is_bytes = unit == "bytes" || unit == "bytes/s";
  const double scale = is_bytes ? byte_scale(word) : unit == "ns" ? time_scale(word) : 0;
  const double value = is_bytes ? std::floor(number * scale) : number * scale;
  if (scale == 0 || !std::isfinite(value)) return "; write the number alone, without quotes" + own;
  std::string hint =
      "; the unit belongs to the member's name: write " + format_number(value) + " without quotes" + own;
  if (is_bytes) hint += "; GB is 10^9 bytes, GiB 2^30 bytes, Gb 10^9 bits";
  return hint;
}

}  // namespace wafervp
