// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "errors.h"
#include "options.h"
#include "output.h"
#include "results/json_text.h"
#include "scenario/text.h"
#include "status.h"

namespace wafervp::cli {

int schema_command(const std::string& what) {
  if (what == "scenario") {
    print(json_text(scenario_schema()));
  } else if (what == "study") {
    print(json_text(study_schema()));
  } else if (what == "parameters") {
    print(parameter_table());
  } else {
    const std::vector<std::string> words{"scenario", "study", "parameters"};
    const std::string near = nearest_word(what, words);
    throw UsageError("schema " + quote(what) + ": expected one of " + join_words(words) +
                     (near.empty() ? "" : "; did you mean " + near + '?'));
  }
  return kOk;
}

}  // namespace wafervp::cli
