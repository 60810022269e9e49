// SPDX-License-Identifier: Apache-2.0
#include "errors.h"

#include "output.h"

namespace wafervp::cli {

void print_issues(const std::vector<Issue>& issues, const std::string& prefix) {
  std::string text;
  for (const Issue& issue : issues) text += prefix + issue.format() + '\n';
  note(text);
}

void print_warnings(const std::vector<Issue>& issues) { print_issues(issues, "warning: "); }

}  // namespace wafervp::cli
