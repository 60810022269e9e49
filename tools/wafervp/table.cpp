// SPDX-License-Identifier: Apache-2.0
#include "table.h"

#include <algorithm>

#include "scenario/text.h"

namespace wafervp::cli {

std::string Table::text(const std::string& indent) const {
  std::vector<std::size_t> widths(head_.size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], count_characters(row[i]));
  }
  for (std::size_t i = 0; i < head_.size(); ++i) {
    if (widths[i] > 0) widths[i] = std::max(widths[i], count_characters(head_[i]));
  }
  std::string out;
  const auto add_line = [&](const std::vector<std::string>& row) {
    std::string line = indent;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (widths[i] == 0) continue;
      if (line.size() > indent.size()) line += "  ";
      const std::string blanks(widths[i] - count_characters(row[i]), ' ');
      const bool to_left = std::find(left_.begin(), left_.end(), i) != left_.end();
      line += to_left ? row[i] + blanks : blanks + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  };
  if (rows_.empty()) return out;
  add_line(head_);
  for (const auto& row : rows_) add_line(row);
  return out;
}

}  // namespace wafervp::cli
