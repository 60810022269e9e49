// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>

#include "results/json_text.h"

namespace wafervp {

/// A field of a CSV file (RFC 4180), in quotes where it must be.
inline std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

/// A number as in JSON, or nan, inf, -inf, which JSON has no word for.
inline std::string csv_number(double value) {
  if (std::isfinite(value)) return double_text(value);
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

}  // namespace wafervp
