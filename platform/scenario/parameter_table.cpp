// SPDX-License-Identifier: Apache-2.0
#include "scenario/descriptors.h"

namespace wafervp {
namespace {

std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string default_text(const Descriptor& descriptor) {
  if (descriptor.required) return "required";
  if (!descriptor.default_note.empty()) return descriptor.default_note;
  return descriptor.default_value.is_null() ? "" : '`' + descriptor.default_value.dump() + '`';
}

void add_row(std::string& out, const Descriptor& descriptor, const std::string& name) {
  out += "| `" + cell(name) + "` | " + type_name(descriptor) + " | " + cell(descriptor.unit) + " | " +
         cell(default_text(descriptor)) + " | " + cell(range_text(descriptor)) + " | " +
         cell(descriptor.documentation) + " |\n";
}

void add_table(std::string& out, const std::vector<Descriptor>& table) {
  out += "| member | type | unit | default | range | meaning |\n|---|---|---|---|---|---|\n";
  for (const Descriptor& descriptor : table) {
    add_row(out, descriptor, descriptor.pointer);
    for (const Descriptor& member : descriptor.members) {
      add_row(out, member, descriptor.pointer + "/N" + member.pointer);
    }
  }
}

}  // namespace

std::string parameter_table() {
  std::string out = "## Scenario\n\n";
  add_table(out, scenario_descriptors());
  out += "\n## Study\n\n";
  add_table(out, study_descriptors());
  return out;
}

}  // namespace wafervp
