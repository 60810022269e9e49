// SPDX-License-Identifier: Apache-2.0
#include "scenario/overrides.h"

#include <utility>

#include "scenario/descriptors.h"
#include "scenario/json_parser.h"
#include "scenario/merge.h"
#include "scenario/text.h"
#include "scenario/version.h"

namespace wafervp {
namespace {

constexpr std::uint32_t kLast = 1u << 20;

Document set_document(Json value) {
  Document document;
  document.value = std::move(value);
  document.sources.push_back({kCommandLine, {}, {}, {}, kLast});
  document.origins[""] = {};
  return document;
}

Issue fault(const std::string& pointer, std::string text) {
  return {kCommandLine, 0, 0, pointer, std::move(text)};
}

bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

/// The value as JSON, or as a bare word. A text that begins like JSON and is not is a fault.
Document parse_value(const Override& item, std::vector<Issue>& issues) {
  const auto& [pointer, text] = item;
  if (!is_valid_utf8(text)) {
    issues.push_back(fault(pointer, "not valid UTF-8: " + quote(text)));
    return {};
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const char head = first == std::string::npos ? '\0' : text[first];
  const Descriptor* descriptor = find_descriptor(pointer);
  if (head == '\0' || (descriptor != nullptr && descriptor->type == ValueType::kText && head != '"')) {
    return set_document(text);
  }
  std::vector<Issue> faults;
  Document parsed = parse_json(text, kCommandLine, faults);
  if (faults.empty()) {
    parsed.sources = set_document({}).sources;
    for (auto& [place, origin] : parsed.origins) origin.line = origin.column = 0;
    return parsed;
  }
  const bool is_not_finite = faults[0].text.find("finite number") != std::string::npos;
  if (head == '{' || head == '[' || head == '"' || is_not_finite) {
    issues.push_back(fault(pointer + faults[0].pointer, faults[0].text));
    return {};
  }
  return set_document(text);
}

bool check_pointer(const Override& item, std::vector<Issue>& issues) {
  const std::string& pointer = item.first;
  if (pointer.empty() || pointer[0] != '/' || !is_valid_utf8(pointer)) {
    issues.push_back(fault("", "expected a JSON pointer such as /wafer/npus, found " + quote(pointer)));
    return false;
  }
  if (belongs_to_file(pointer.substr(1))) {
    issues.push_back(fault(pointer, "cannot be set here; write a file with this member"));
    return false;
  }
  const std::string text = unknown_pointer(pointer);
  if (text.empty()) return true;
  issues.push_back(fault(pointer, text));
  return false;
}

}  // namespace

void apply_overrides(Document& document, const std::vector<Override>& overrides) {
  std::vector<Issue> issues;
  for (const Override& item : overrides) {
    if (!check_pointer(item, issues)) continue;
    const std::size_t before = issues.size();
    Document value = parse_value(item, issues);
    for (Source& source : value.sources) source.prefix = item.first;
    if (issues.size() == before && !put_at(document, item.first, value)) {
      issues.push_back(fault(item.first, "there is no such place: a value that is no object is on the way"));
    }
  }
  if (!issues.empty()) throw ScenarioError(std::move(issues));
}

void check_overrides(const std::vector<Override>& overrides) {
  Document nothing;
  apply_overrides(nothing, overrides);
}

}  // namespace wafervp
