// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <tuple>
#include <utility>

#include "scenario/input_file.h"
#include "scenario/json_parser.h"
#include "scenario/load.h"
#include "scenario/merge.h"
#include "scenario/overrides.h"
#include "scenario/reader.h"
#include "scenario/text.h"
#include "scenario/version.h"

namespace wafervp {
namespace {

constexpr std::size_t kMaxBases = 32;

/// Files from the outermost to the present one, for cycles and for "included by".
struct Chain {
  std::vector<std::string> typed, canonical;
};

std::string canonical(const std::string& path) {
  std::error_code error;
  const auto result = std::filesystem::weakly_canonical(path, error);
  return error ? path : result.string();
}

std::string beside(const std::string& file, const std::string& base) {
  const std::filesystem::path path(base);
  return path.is_absolute() ? base : (std::filesystem::path(file).parent_path() / path).string();
}

void throw_if_any(std::vector<Issue> issues) {
  if (!issues.empty()) throw ScenarioError(std::move(issues));
}

Document load_file(const std::string& path, Chain chain);
Document load_base(const Document& document, const std::string& file, Chain chain);

Document load_text(const std::string& text, const std::string& name, Chain chain) {
  std::vector<Issue> issues;
  Document document = parse_json(text, name, issues);
  Source& source = document.sources[0];
  source.rank = static_cast<std::uint32_t>(chain.typed.size());
  if (!chain.typed.empty()) source.included_by = chain.typed.back();
  if (issues.empty() && !document.value.is_object()) {
    issues.push_back(make_issue(document, "", "expected a JSON object, found " + describe(document.value)));
  }
  for (Issue& issue : issues) {
    if (!source.included_by.empty()) issue.text += " (base of " + source.included_by + ")";
  }
  throw_if_any(std::move(issues));
  check_version(document);

  chain.typed.push_back(name);
  chain.canonical.push_back(canonical(name));
  if (!document.value.contains("base")) return document;
  const Json base = document.value["base"];
  if (!base.is_string() || base.get_ref<const std::string&>().empty()) {
    throw_if_any({make_issue(document, "/base", "expected a file name, found " + describe(base))});
  }
  // A study's base is what its variants are laid upon.
  if (is_study(document)) return document;
  const std::string file = beside(name, base.get<std::string>());
  const auto seen = std::find(chain.canonical.begin(), chain.canonical.end(), canonical(file));
  if (seen != chain.canonical.end()) {
    std::string circle;
    for (auto i = seen - chain.canonical.begin(); i < static_cast<std::ptrdiff_t>(chain.typed.size()); ++i) {
      circle += chain.typed[static_cast<std::size_t>(i)] + " -> ";
    }
    throw_if_any({make_issue(document, "/base", "the bases form a cycle: " + circle + file)});
  }
  if (chain.typed.size() > kMaxBases) {
    throw_if_any(
        {make_issue(document, "/base", "more than " + std::to_string(kMaxBases) + " bases in a row")});
  }
  Document merged = load_base(document, file, std::move(chain));
  remove_member(document, "base");
  merge_onto(merged, document);
  return merged;
}

Document load_file(const std::string& path, Chain chain) {
  return load_text(read_input_file(path), path, std::move(chain));
}

Document load_base(const Document& document, const std::string& file, Chain chain) {
  Document base;
  try {
    base = load_file(file, std::move(chain));
  } catch (const ScenarioError& error) {
    // A file that cannot be read has no line of its own: the fault is in the member that names it.
    if (error.issues().size() == 1 && error.issues()[0].line == 0) {
      throw ScenarioError({make_issue(document, "/base", error.issues()[0].format())});
    }
    throw;
  }
  if (is_study(base)) {
    throw_if_any(
        {make_issue(document, "/base", file + " is a study (it has variants); a base must be a scenario")});
  }
  return base;
}

Document finish(Document document, const std::vector<Override>& overrides) {
  if (is_study(document)) {
    document.overrides = overrides;
    check_overrides(overrides);
  } else {
    apply_overrides(document, overrides);
  }
  return document;
}

/// The pointer that is in the document, at or above `pointer`.
std::map<std::string, Origin>::const_iterator nearest_origin(const Document& document, std::string pointer) {
  for (;;) {
    const auto it = document.origins.find(pointer);
    if (it != document.origins.end() || pointer.empty()) return it;
    const std::size_t slash = pointer.rfind('/');
    pointer.resize(slash == std::string::npos ? 0 : slash);
  }
}

/// A fault that only appears with what the command line lays over a file stands in the file: say what was
/// laid over it.
void name_overrides(const Document& document, std::vector<Issue>& issues) {
  std::vector<std::string> set;
  for (const Source& source : document.sources) {
    if (source.file != kCommandLine) continue;
    if (std::find(set.begin(), set.end(), source.prefix) == set.end()) set.push_back(source.prefix);
  }
  if (set.empty()) return;
  for (Issue& issue : issues) {
    if (issue.file != kCommandLine) issue.text += " (with --set " + join_words(set) + ")";
  }
}

std::uint32_t rank_of(const Document& document, const std::string& file) {
  for (const Source& source : document.sources) {
    if (source.file == file) return source.rank;
  }
  return ~std::uint32_t{0};
}

}  // namespace

Document read_document(const std::string& path, const std::vector<Override>& overrides) {
  return finish(load_file(path, {}), overrides);
}

Document parse_document(const std::string& text, const std::string& name,
                        const std::vector<Override>& overrides) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw ScenarioError({{name, 0, 0, "", empty_file_text()}});
  }
  return finish(load_text(text, name, {}), overrides);
}

Document base_of_study(const Document& study) {
  const std::string name = study.sources.empty() ? std::string() : study.sources[0].file;
  const std::string file = beside(name, study.value["base"].get<std::string>());
  return load_base(study, file, {{name}, {canonical(name)}});
}

Document study_beside(const Document& study, const std::string& pointer, const std::string& file) {
  const std::string name = study.sources.empty() ? std::string() : study.sources[0].file;
  const std::string path = beside(name, file);
  Document document;
  try {
    document = load_file(path, {});
  } catch (const ScenarioError& error) {
    if (error.issues().size() == 1 && error.issues()[0].line == 0) {
      throw_if_any({make_issue(study, pointer, error.issues()[0].format())});
    }
    throw;
  }
  if (!is_study(document)) {
    throw_if_any({make_issue(study, pointer, path + " is a scenario; expected a study, which has variants")});
  }
  document.overrides = study.overrides;
  return document;
}

Document with_patch(const Document& document, const Json& patch, const std::string& source) {
  Document result = document;
  Document laid;
  laid.value = patch;
  laid.sources.push_back({source, {}, {}, {}, 0});
  laid.origins[""] = {};
  merge_onto(result, laid);
  return result;
}

bool is_study(const Document& document) {
  return document.value.is_object() && document.value.contains("variants");
}

Issue make_issue(const Document& document, const std::string& pointer, std::string text) {
  Issue issue;
  issue.pointer = pointer;
  issue.text = std::move(text);
  const auto found = nearest_origin(document, pointer);
  if (found == document.origins.end()) {
    if (!document.sources.empty()) issue.file = document.sources[0].file;
    return issue;
  }
  const Origin& origin = found->second;
  const Source& source = document.sources[origin.source];
  issue.file = source.file;
  issue.line = origin.line;
  issue.column = origin.column;
  if (pointer.compare(0, source.strip.size(), source.strip) == 0) {
    issue.pointer = source.prefix + pointer.substr(source.strip.size());
  }
  if (!source.included_by.empty()) issue.text += " (base of " + source.included_by + ")";
  return issue;
}

std::vector<Issue> locate(const Document& document, std::vector<Issue> issues) {
  for (Issue& issue : issues) {
    if (issue.file.empty()) issue = make_issue(document, issue.pointer, issue.text);
  }
  name_overrides(document, issues);
  const auto key = [&](const Issue& issue) {
    return std::make_tuple(rank_of(document, issue.file), issue.line, issue.column);
  };
  std::stable_sort(issues.begin(), issues.end(),
                   [&](const Issue& a, const Issue& b) { return key(a) < key(b); });
  if (const std::size_t count = issues.size(); count > kMaxIssues) {
    issues.resize(kMaxIssues);
    issues.back().text += "; and more faults after this one";
  }
  return issues;
}

}  // namespace wafervp
