// SPDX-License-Identifier: Apache-2.0
#include "format.h"

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <filesystem>

namespace wafervp::cli {
namespace {

std::string four_digits(double value) {
  if (value >= 1000) return fmt::format("{:.0f}", value);
  const int before = value < 10 ? 1 : value < 100 ? 2 : 3;
  return fmt::format("{:.{}f}", value, 4 - before);
}

std::string with_unit(double value, const char* const* units, int count) {
  int unit = 0;
  while (unit + 1 < count && value >= 999.95) {
    value /= 1000;
    ++unit;
  }
  if (unit == 0 && value == std::floor(value)) return fmt::format("{:.0f} {}", value, units[0]);
  return four_digits(value) + ' ' + units[unit];
}

}  // namespace

std::string format_time(Time ps) {
  static const char* const kUnits[] = {"ps", "ns", "us", "ms", "s"};
  return with_unit(static_cast<double>(ps), kUnits, 5);
}

std::string format_bytes(double bytes) {
  static const char* const kUnits[] = {"B", "KB", "MB", "GB", "TB", "PB"};
  return with_unit(bytes, kUnits, 6);
}

std::string format_rate(double bytes_per_s) { return format_bytes(bytes_per_s) + "/s"; }

std::string format_percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "";
}

std::string title_of(const std::string& name, const std::string& file) {
  if (!name.empty()) return name;
  return file == "-" ? "stdin" : std::filesystem::path(file).stem().string();
}

std::string folder_name(const std::string& name) {
  constexpr std::size_t kLongest = 200;
  std::string out;
  for (const char c : name.substr(0, kLongest)) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) || std::string("-_+=,.").find(c) != std::string::npos;
    out += plain ? c : '_';
  }
  if (out.empty() || out[0] == '.') out = '_' + out;
  return out;
}

}  // namespace wafervp::cli
