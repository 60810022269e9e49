// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

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

}  // namespace wafervp
