// SPDX-License-Identifier: Apache-2.0
#include "scenario/errors.h"

#include <utility>

#include "scenario/text.h"

namespace wafervp {
namespace {

std::string join(const std::vector<Issue>& issues) {
  std::string text;
  for (const Issue& issue : issues) {
    if (!text.empty()) text += '\n';
    text += issue.format();
  }
  return text;
}

}  // namespace

std::string Issue::format() const {
  std::string out = file;
  if (line != 0) out += ':' + std::to_string(line) + ':' + std::to_string(column);
  if (!out.empty()) out += ": ";
  if (!pointer.empty()) out += escape(pointer) + ": ";
  return out + text;
}

ScenarioError::ScenarioError(std::vector<Issue> issues)
    : std::runtime_error(join(issues)), issues_(std::move(issues)) {}

}  // namespace wafervp
