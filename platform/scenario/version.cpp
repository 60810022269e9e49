// SPDX-License-Identifier: Apache-2.0
#include "scenario/version.h"

#include "scenario/text.h"

namespace wafervp {

void check_version(const Document& document) {
  if (!document.value.is_object() || !document.value.contains("version")) return;
  const Json& version = document.value["version"];
  if (version.is_number() && version.get<double>() == kScenarioVersion) return;
  const auto origin = document.origins.find("/version");
  const std::string typed = origin == document.origins.end() ? std::string() : origin->second.typed;
  std::string text = version.is_number() ? "found " : "expected an integer, found ";
  text += describe(version, typed) + "; this tool (wafervp " WAFERVP_VERSION ") reads version " +
          std::to_string(kScenarioVersion);
  throw ScenarioError({make_issue(document, "/version", text)});
}

std::string describe(const Json& value, const std::string& typed) {
  switch (value.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "an array";
    case Json::value_t::string:
      return "string " + quote(value.get_ref<const std::string&>());
    case Json::value_t::boolean:
      return value.get<bool>() ? "true" : "false";
    case Json::value_t::number_float:
      return typed.empty() ? format_number(value.get<double>()) : typed;
    default:
      return value.dump();
  }
}

}  // namespace wafervp
