// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "scenario/errors.h"

namespace wafervp::cli {

/// A wrong command line, or a path on it that cannot be used (exit status 2).
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One line an issue on the standard error.
void print_issues(const std::vector<Issue>& issues, const std::string& prefix = "");
void print_warnings(const std::vector<Issue>& issues);

}  // namespace wafervp::cli
