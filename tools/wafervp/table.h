// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace wafervp::cli {

/// A text table: columns of equal width, the first and those named in `left` to the left, the others to
/// the right. Columns in which no row has text are left out.
class Table {
 public:
  explicit Table(std::vector<std::string> head) : head_(std::move(head)) {}
  void left(std::size_t column) { left_.push_back(column); }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }
  std::string text(const std::string& indent = "") const;

 private:
  std::vector<std::string> head_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::size_t> left_{0};
};

}  // namespace wafervp::cli
