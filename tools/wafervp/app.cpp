// SPDX-License-Identifier: Apache-2.0
#include "app.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "errors.h"
#include "options.h"
#include "output.h"
#include "program.h"
#include "scenario/text.h"
#include "status.h"

namespace wafervp::cli {
namespace {

/// "--set POINTER=VALUE" as an override.
Override parse_override(const std::string& text) {
  const std::size_t equal = text.find('=');
  if (text.empty() || text[0] != '/' || equal == std::string::npos) {
    throw UsageError(
        "--set " + quote(text) +
        ": expected POINTER=VALUE, for example --set /wafer/npus=20 (a JSON pointer begins with /)");
  }
  return {text.substr(0, equal), text.substr(equal + 1)};
}

std::vector<Override> parse_overrides(const std::vector<std::string>& texts) {
  std::vector<Override> overrides;
  overrides.reserve(texts.size());
  for (const std::string& text : texts) overrides.push_back(parse_override(text));
  return overrides;
}

std::string footer(const std::string& example) { return "Example:\n  " + example + "\n\n" + kStatusHelp; }

/// The command line: its options are written here once, and each command's action reads them.
class CommandLine {
 public:
  CommandLine() : app_("WaferVP: a virtual platform of a wafer-scale training machine.", "wafervp") {
    app_.set_version_flag("--version", version_text(), "Print the version and leave");
    app_.set_help_flag("-h,--help", "Print this help and leave");
    app_.require_subcommand(1);
    app_.footer(footer("wafervp run scenarios/fred/resnet152.json"));
    add_run();
    add_validate();
    add_schema();
    add_list();
    add_describe();
    add_compare();
    add_calibrate();
  }

  int run(int argc, char** argv) {
    if (argc < 2) {
      note(app_.help());
      return kBadInput;
    }
    check_command(argv[1]);
    try {
      app_.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
      print(chosen().help(&chosen() == &app_ ? "" : "wafervp"));
      return kOk;
    } catch (const CLI::CallForVersion&) {
      print(version_text() + '\n');
      return kOk;
    } catch (const CLI::ExtrasError&) {
      throw UsageError(explain_extra() + see_help());
    } catch (const CLI::ParseError& error) {
      throw UsageError(error.what() + see_help());
    }
    return action_();
  }

 private:
  CLI::App* add(const std::string& name, const std::string& text, const std::string& example,
                std::function<int()> action) {
    CLI::App* command = app_.add_subcommand(name, text);
    command->footer(footer(example));
    command->callback([this, action = std::move(action)] { action_ = action; });
    return command;
  }

  /// One value an appearance, so that files may follow it.
  static CLI::Option* single(CLI::Option* option, const std::string& value_name) {
    return option->allow_extra_args(false)->type_name(value_name);
  }
  void add_set(CLI::App* command) {
    single(
        command->add_option("--set", set_, "Lay VALUE over the member at the JSON pointer; may come again"),
        "POINTER=VALUE");
  }
  void add_files(CLI::App* command, const std::string& text) {
    command->add_option("files", run_.files, text)->required()->type_name("FILE");
  }

  void add_run() {
    CLI::App* command = add("run", "Run scenarios and studies",
                            "wafervp run study.json --out results/study --jobs 4", [this] {
                              run_.overrides = parse_overrides(set_);
                              return run_command(run_);
                            });
    add_files(command, "Scenarios and studies, run in turn; - is the standard input");
    add_set(command);
    single(command->add_option("--out", run_.out, "Folder of the results [results/<name>]"), "DIR");
    single(command->add_option("--jobs,-j", run_.jobs, "Variants run at the same time [number of processors]")
               ->check(CLI::Range(1u, 4096u)),
           "N");
    command->add_flag("--quiet,-q", run_.quiet, "No progress and no tables");
    command->add_flag("--trace", run_.trace, "Write trace.json (Chrome trace events)");
    single(
        command->add_option("--log", run_.log,
                            "Log on the standard error: error, warning, info, debug or trace, of one module, "
                            "rank or flow if named"),
        "LEVEL[:NAME]");
    command->add_flag("--worker", run_.worker, "")->group("");
    command->add_flag("--report-progress", run_.report_progress, "")->group("");
  }
  void add_validate() {
    CLI::App* command = add("validate", "Check scenarios and studies without running them",
                            "wafervp validate scenarios/fred/*.json",
                            [this] { return validate_command(run_.files, parse_overrides(set_)); });
    add_files(command, "Scenarios and studies");
    add_set(command);
  }
  void add_schema() {
    CLI::App* command =
        add("schema", "Print the JSON Schema of scenarios or studies, or the table of parameters",
            "wafervp schema scenario > scenario.schema.json",
            [this] { return schema_command(word_.empty() ? "scenario" : word_); });
    command->add_option("what", word_, "scenario, study or parameters [scenario]")->type_name("WHAT");
  }
  void add_list() {
    CLI::App* command = add("list", "List what a scenario can name", "wafervp list fabrics",
                            [this] { return list_command(word_); });
    command->add_option("kind", word_, "One kind [all]")->type_name("KIND");
  }
  void add_describe() {
    CLI::App* command =
        add("describe", "Print what a scenario builds: modules, links, placement, memory, programs",
            "wafervp describe --routes scenario.json", [this] {
              describe_.overrides = parse_overrides(set_);
              return describe_command(describe_);
            });
    command->add_option("file", describe_.file, "Scenario or study")->required()->type_name("FILE");
    add_set(command);
    single(command->add_option("--variant", describe_.variant, "Only this variant of a study"), "NAME");
    command->add_flag(
        "--routes", describe_.routes,
        "Also routes between all ranks; on FRED how the switches carry the flows of each phase, and what "
        "helps where they conflict");
    single(command->add_option("--between", describe_.between, "Also the route from one rank to another"),
           "FROM:TO");
  }
  void add_compare() {
    CLI::App* command =
        add("compare", "Compare the results in several folders",
            "wafervp compare results/mesh results/fred_d", [this] { return compare_command(run_.files); });
    command->add_option("folders", run_.files, "Folders with result.json or summary.json")
        ->required()
        ->type_name("DIR");
  }
  void add_calibrate() {
    CLI::App* command = add(
        "calibrate",
        "Fit one parameter so that one variant of a study meets a target, and predict the others",
        "wafervp calibrate study.json --parameter /workload/compute/fixed_ns --variant fred_c --target 1.41 "
        "--low 1000 --high 1e9",
        [this] {
          calibrate_.run = run_;
          calibrate_.run.overrides = parse_overrides(set_);
          return calibrate_command(calibrate_);
        });
    command->add_option("file", run_.files, "A study")->required()->expected(1)->type_name("FILE");
    add_set(command);
    const std::string as_given = " [as in the study]";
    single(
        command->add_option("--parameter", calibrate_.parameter, "JSON pointer of the parameter" + as_given),
        "POINTER");
    single(command->add_option("--variant", calibrate_.variant, "Variant that is fitted" + as_given), "NAME");
    single(command->add_option("--quantity", calibrate_.quantity, "speedup or time_over_mesh" + as_given),
           "NAME");
    single(command->add_option("--target", calibrate_.target, "Value to be met" + as_given), "NUMBER");
    single(command->add_option("--low", calibrate_.low, "Least value of the parameter" + as_given), "NUMBER");
    single(command->add_option("--high", calibrate_.high, "Largest value of the parameter" + as_given),
           "NUMBER");
    single(command->add_option("--jobs,-j", run_.jobs, "Runs at the same time [number of processors]")
               ->check(CLI::Range(1u, 4096u)),
           "N");
    command->add_flag("--quiet,-q", run_.quiet, "No progress");
  }

  const CLI::App& chosen() const {
    const auto commands = app_.get_subcommands();
    return commands.empty() ? app_ : *commands.front();
  }

  /// A first word that is neither an option nor a command.
  void check_command(const std::string& word) const {
    if (word.empty() || word[0] == '-') return;
    std::vector<std::string> names;
    for (const CLI::App* command : app_.get_subcommands(nullptr)) {
      if (command->get_name() == word) return;
      names.push_back(command->get_name());
    }
    const std::string near = nearest_word(word, names);
    throw UsageError("unknown command " + quote(word) +
                     (near.empty() ? "; expected " + join_words(names) : "; did you mean " + near + '?') +
                     " (see wafervp --help)");
  }

  std::string see_help() const {
    return " (see wafervp " + (&chosen() == &app_ ? "" : chosen().get_name() + ' ') + "--help)";
  }

  /// Words on the command line that nothing takes.
  std::string explain_extra() const {
    const std::vector<std::string> extras = app_.remaining(true);
    for (const std::string& extra : extras) {
      if (extra.empty() || extra[0] != '-') continue;
      std::vector<std::string> names;
      for (const CLI::Option* option : chosen().get_options()) {
        if (option->get_group().empty()) continue;  // hidden
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
      }
      const std::string word = extra.substr(0, extra.find('='));
      const std::string near = nearest_word(word, names);
      return "unknown option " + quote(word) +
             (near.empty() ? "; known are " + join_words(names) : "; did you mean " + near + '?');
    }
    return "unexpected argument " + quote(extras.empty() ? "" : extras.front());
  }

  CLI::App app_;
  std::function<int()> action_;
  std::vector<std::string> set_;
  std::string word_;
  RunOptions run_;
  DescribeOptions describe_;
  CalibrateOptions calibrate_;
};

}  // namespace

int run_app(int argc, char** argv) { return CommandLine().run(argc, argv); }

}  // namespace wafervp::cli
