// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "errors.h"
#include "list_codecs.h"
#include "options.h"
#include "output.h"
#include "scenario/text.h"
#include "status.h"

namespace wafervp::cli {
namespace {

/// What a member of a scenario can be set to; the words come from the schema, that is from the
/// descriptor table.
struct Kind {
  std::string name, pointer, description;
  std::vector<std::string> words;
};

/// Names of kinds that are not the member's own name.
const std::map<std::string, std::string>& plain_names() {
  static const std::map<std::string, std::string> names{
      {"/wafer/fabric/kind", "fabrics"},
      {"/workload/kind", "workloads"},
      {"/workload/placement/kind", "placements"},
      {"/workload/compute/mode", "compute modes"},
      {"/workload/schedule", "schedules"},
      {"/workload/transformer/preset", "presets"},
      {"/workload/collective/operation", "operations"},
      {"/workload/collective/algorithm", "algorithms"},
      {"/workload/collective/type", "element types"},
      {"/workload/collective/groups", "groups"},
      {"/detail/data", "data modes"},
      {"/detail/grain", "grains"},
      {"/detail/control_processor", "control processors"},
      {"/detail/fred_switch", "FRED switches"},
      {"/wafer/fabric/fred/remedy", "FRED remedies"},
      {"/memory/check", "memory checks"},
  };
  return names;
}

void collect(const Json& schema, const std::string& pointer, std::vector<Kind>& kinds) {
  if (schema.contains("enum") && schema["enum"].is_array()) {
    Kind kind;
    const auto name = plain_names().find(pointer);
    kind.name = name != plain_names().end() ? name->second : pointer.substr(pointer.find_last_of('/') + 1);
    kind.pointer = pointer;
    if (schema.contains("description")) kind.description = schema["description"].get<std::string>();
    for (const Json& word : schema["enum"]) {
      if (word.is_string()) kind.words.push_back(word.get<std::string>());
    }
    if (!kind.words.empty()) kinds.push_back(std::move(kind));
  }
  if (!schema.contains("properties")) return;
  for (const auto& member : schema["properties"].items()) {
    collect(member.value(), pointer + '/' + pointer_token(member.key()), kinds);
  }
}

/// "element types", "element_types" and "element-types" are one.
std::string plain(std::string name) {
  for (char& c : name) {
    if (c == '_' || c == '-') c = ' ';
  }
  return name;
}

std::string kind_text(const Kind& kind) {
  std::string text = kind.name + " (" + kind.pointer + "): " + kind.description + '\n';
  for (const std::string& word : kind.words) text += "  " + word + '\n';
  return text;
}

}  // namespace

int list_command(const std::string& wanted) {
  std::vector<Kind> kinds;
  collect(scenario_schema().at("$defs").at("scenario"), "", kinds);
  std::string text;
  std::vector<std::string> names;
  const auto add = [&](const std::string& name, bool is_wanted, const std::string& of_kind) {
    names.push_back(name);
    if (!text.empty() && wanted.empty()) text += '\n';
    if (wanted.empty() || is_wanted || plain(wanted) == plain(name)) text += of_kind;
  };
  for (const Kind& kind : kinds) add(kind.name, wanted == kind.pointer, kind_text(kind));
  add("codecs", false, codecs_text());
  if (text.empty()) {
    const std::string near = nearest_word(wanted, names);
    throw UsageError("list " + quote(wanted) + ": expected one of " + join_words(names) +
                     (near.empty() ? "" : "; did you mean " + near + '?'));
  }
  print(text);
  return kOk;
}

}  // namespace wafervp::cli
