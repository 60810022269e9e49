// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace wafervp {

/// One fault of an input file.
struct Issue {
  std::string file;                  // as typed
  std::size_t line = 0, column = 0;  // 1-based; 0: unknown
  std::string pointer;               // JSON pointer of the member, empty for syntax
  std::string text;                  // expected, found, hint
  /// "FILE:LINE:COL: POINTER: text"
  std::string format() const;
};

/// Bad input (exit status 2), with all faults that were found, in file order.
class ScenarioError : public std::runtime_error {
 public:
  explicit ScenarioError(std::vector<Issue> issues);
  const std::vector<Issue>& issues() const { return issues_; }

 private:
  std::vector<Issue> issues_;
};

}  // namespace wafervp
