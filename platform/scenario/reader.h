// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenario/errors.h"
#include "scenario/scenario.h"

namespace wafervp {

/// A text that gave members to a document: a file, a part of a study file, or the command line.
struct Source {
  std::string file;         // as typed; "--set" for the command line
  std::string included_by;  // the file that names this one as its base, or empty
  /// Where the members stand in that file: the document's pointer with `strip` at its head replaced by
  /// `prefix`, e.g. prefix "/variants/fred_a" for a study's patch.
  std::string prefix, strip;
  std::uint32_t rank = 0;  // order of the files in messages, the outermost first
};
/// Where a value of a merged document came from.
struct Origin {
  std::uint32_t source = 0;  // index in Document::sources
  std::uint32_t line = 0, column = 0;
  std::string typed;  // a number as it stands in the file, where it is not a plain integer
};
/// One command-line override: JSON pointer and the value's JSON text (bare words are taken as strings).
using Override = std::pair<std::string, std::string>;

/// A JSON document with the origin of each member, by JSON pointer.
struct Document {
  Json value;
  std::map<std::string, Origin> origins;
  std::vector<Source> sources;
  std::vector<Override> overrides;  // of a study: still to be applied to each variant
};

/// Reads one file strictly (syntax, encoding, duplicate keys, finite numbers), follows `base` (RFC 7386
/// merge, relative to the file that names it; a cycle is an error) and applies the overrides. "-" reads
/// the standard input. A study's base and the overrides are left to read_study.
/// Throws ScenarioError with all faults.
Document read_document(const std::string& path, const std::vector<Override>& overrides = {});
/// The same for text that is not in a file, for tests and fuzzing.
Document parse_document(const std::string& text, const std::string& name,
                        const std::vector<Override>& overrides = {});

/// A fault of the member `pointer`, with file, line and column of the member or of its nearest ancestor
/// that is in the file.
Issue make_issue(const Document& document, const std::string& pointer, std::string text);
/// Gives file, line and column to the issues that name a pointer only (those of later stages, such as
/// build_workload), and sorts all in file order.
std::vector<Issue> locate(const Document& document, std::vector<Issue> issues);

/// True when the document is a study (has "variants").
bool is_study(const Document& document);

/// Validates against the descriptor table and fills in all defaults. Throws ScenarioError with all
/// faults in file order. `warnings` receives what is legal and odd.
Scenario read_scenario(const Document& document, std::vector<Issue>* warnings = nullptr);
/// The scenario with every default written out; reading it again gives the same scenario.
Json effective_json(const Scenario& scenario);

/// A published figure of one variant.
struct Published {
  std::string quantity;  // "speedup" or "time_over_mesh"
  double value = 0;
  std::string source;
  std::string note;  // what to keep in mind with it, or empty
};
/// Fit of one parameter on one variant, to a target; everything else is then predicted.
struct Calibration {
  std::string parameter;     // JSON pointer into the scenario
  double low = 0, high = 0;  // range of the search
  std::string variant;       // fitted on this variant
  std::string quantity;      // "speedup"
  double target = 0;
  Json patch;  // laid over each variant of the fit, e.g. {"workload":{"compute":{"mode":"fixed"}}}
};
struct Variant {
  std::string name;
  std::string of;          // its name in the study: without the suffix of a grid point
  std::string compare_to;  // name of the variant that it is compared with, at the same grid point; or empty
  Document document;       // merged: base, the study's scenario, variant's patch, grid point, overrides
};
struct Study;
/// A figure of another study, to be shown beside those of this one.
struct Beside {
  std::string label;
  std::string variant;  // the one whose figure it is
  std::shared_ptr<const Study> study;
  Document document;  // of that study
};
struct Study {
  std::string name, comment;
  std::vector<Variant> variants;  // in file order; with a grid, each variant once a point
  std::string compare_to;         // as in the file; empty: no speed-up
  std::map<std::string, std::vector<Published>> published;  // by the variant's name in the file
  std::optional<Calibration> calibrate;
  std::vector<Beside> beside;
};
/// Expands a study: base, variants, grid. Every variant is validated as read_scenario does. Throws
/// ScenarioError.
Study read_study(const Document& document);
/// The document with `patch` merged onto it (RFC 7386), e.g. the patch of a calibration.
Document with_patch(const Document& document, const Json& patch, const std::string& source);

/// JSON Schema (draft 2020-12) of scenarios and of studies, generated from the descriptor table.
Json scenario_schema();
Json study_schema();
/// The parameter table in Markdown, generated from the descriptor table.
std::string parameter_table();

}  // namespace wafervp
