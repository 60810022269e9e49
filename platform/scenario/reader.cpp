// SPDX-License-Identifier: Apache-2.0
#include "scenario/reader.h"

#include <utility>

#include "scenario/checks.h"
#include "scenario/load.h"
#include "scenario/text.h"
#include "scenario/validate.h"
#include "scenario/version.h"

namespace wafervp {

Scenario read_scenario(const Document& document, std::vector<Issue>* warnings) {
  if (!document.value.is_object()) {
    throw ScenarioError(
        {make_issue(document, "", "expected a JSON object, found " + describe(document.value))});
  }
  if (is_study(document)) {
    throw ScenarioError({make_issue(document, "/variants", "this is a study; expected a scenario")});
  }
  check_version(document);
  return validate_scenario(document, warnings);
}

Scenario validate_scenario(const Document& document, std::vector<Issue>* warnings) {
  std::vector<Issue> issues;
  std::vector<Issue> odd;
  Scenario scenario{};
  Validator validator(document, issues);
  validator.read(scenario_tree(), &scenario);
  Checks(document, validator, &odd).run(scenario);
  if (!issues.empty()) throw ScenarioError(locate(document, std::move(issues)));
  if (warnings != nullptr) {
    for (Issue& issue : locate(document, std::move(odd))) warnings->push_back(std::move(issue));
  }
  return scenario;
}

Json effective_json(const Scenario& scenario) {
  Json root = Json::object();
  for (const Descriptor& descriptor : scenario_descriptors()) {
    const std::string& pointer = descriptor.pointer;
    const bool is_collective =
        pointer.compare(0, 21, "/workload/collective/") == 0 || pointer == "/workload/collective";
    if (is_collective && !scenario.workload.has_collective) continue;
    // Messages belong to the kind collective; an empty list says nothing.
    const bool is_object = descriptor.type == ValueType::kObject;
    if (!descriptor.get && !is_object) continue;
    if (pointer == "/workload/messages" && scenario.workload.messages.empty()) continue;
    Json* place = &root;
    for (const std::string& name : pointer_names(pointer)) place = &(*place)[name];
    *place = is_object ? Json::object() : descriptor.get(&scenario);
  }
  return root;
}

}  // namespace wafervp
