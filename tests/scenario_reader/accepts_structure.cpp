// SPDX-License-Identifier: Apache-2.0
// accepts_structure: reads one scenario a line and answers each with "yes" or "no <message>": whether the
// table accepts its members, apart from the checks that take two of them.
#include <iostream>
#include <string>

#include "scenario/validate.h"

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::vector<wafervp::Issue> issues;
    try {
      const wafervp::Document document = wafervp::parse_document(line, "line");
      wafervp::Scenario scenario{};
      wafervp::Validator(document, issues).read(wafervp::scenario_tree(), &scenario);
    } catch (const wafervp::ScenarioError& error) {
      issues = error.issues();
    }
    std::cout << (issues.empty() ? "yes" : "no " + issues[0].format()) << std::endl;
  }
}
