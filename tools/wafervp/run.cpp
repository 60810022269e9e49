// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "child.h"
#include "errors.h"
#include "format.h"
#include "hooks.h"
#include "options.h"
#include "output.h"
#include "results/json_text.h"
#include "run_one.h"
#include "status.h"
#include "study.h"

namespace wafervp::cli {
namespace {

struct Input {
  std::string file;
  Document document;
  std::string name;
  bool study = false;
  std::string out;
};

/// Reads and checks all files, so that nothing runs when one is wrong.
std::vector<Input> read_inputs(const RunOptions& options) {
  std::vector<Input> inputs;
  std::vector<Issue> issues;
  for (const std::string& file : options.files) {
    try {
      Input input;
      input.file = file;
      input.document = read_document(file, options.overrides);
      input.study = is_study(input.document);
      input.name =
          title_of(input.study ? read_study(input.document).name : read_scenario(input.document).name, file);
      inputs.push_back(std::move(input));
    } catch (const ScenarioError& error) {
      issues.insert(issues.end(), error.issues().begin(), error.issues().end());
    }
  }
  if (!issues.empty()) throw ScenarioError(std::move(issues));
  return inputs;
}

void set_folders(std::vector<Input>& inputs, const RunOptions& options) {
  std::map<std::string, std::string> owner;
  for (Input& input : inputs) {
    const std::string name = folder_name(input.name);
    if (!options.out.empty()) {
      input.out = inputs.size() == 1 ? options.out : options.out + '/' + name;
    } else if (!options.worker) {
      input.out = "results/" + name;
    }
    const auto added = owner.emplace(input.out, input.file);
    if (!added.second && !input.out.empty()) {
      throw UsageError(added.first->second + " and " + input.file + " both have the name \"" + input.name +
                       "\": their results would go to one folder, " + input.out);
    }
  }
}

/// One of several scenarios: SystemC builds one machine a process.
int run_in_child(const Input& input, const RunOptions& options) {
  ChildSpec spec;
  spec.args = {"run", input.file, "--out", input.out};
  for (const Override& o : options.overrides) {
    spec.args.insert(spec.args.end(), {"--set", o.first + '=' + o.second});
  }
  if (options.quiet) spec.args.push_back("--quiet");
  if (!options.log.empty()) spec.args.insert(spec.args.end(), {"--log", options.log});
  if (input.file == "-") spec.input = json_text(effective_json(read_scenario(input.document)));
  int status = kInterrupted;
  ProgressLine line(options.quiet ? ProgressTo::kNobody : ProgressTo::kTerminal);
  if (line.active()) spec.args.push_back("--report-progress");
  ChildWatch watch;
  double share = 0;
  watch.progress = [&](std::size_t, double now) { share = now; };
  watch.tick = [&] { line.show(input.name + ": running", share); };
  watch.done = [&](std::size_t, const ChildResult& result) {
    line.clear();
    print(result.output);
    status = result.signal != 0 ? kInternalError : result.exit_status;
    if (result.signal != 0) complain(input.name + ": ended by signal " + std::to_string(result.signal));
  };
  run_children({spec}, 1, watch);
  return status;
}

}  // namespace

int run_command(const RunOptions& typed) {
  RunOptions options = typed;
  if (options.trace) options.overrides.emplace_back("/outputs/trace", "true");
  RunHooks hooks;
  parse_log(options.log, hooks);
  std::vector<Input> inputs = read_inputs(options);
  set_folders(inputs, options);
  int status = kOk;
  for (const Input& input : inputs) {
    if (&input != &inputs.front()) print("\n");
    int own = kOk;
    if (input.study) {
      own = run_study(input.document, input.name, options, input.out);
    } else if (inputs.size() == 1) {
      own = run_one(input.document, input.name, options, input.out);
    } else {
      own = run_in_child(input, options);
    }
    status = worse(status, own);
    if (own == kInterrupted) break;
    if (!flush_output()) status = worse(status, kInternalError);
  }
  return status;
}

}  // namespace wafervp::cli
