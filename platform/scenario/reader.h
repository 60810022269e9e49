// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenario/errors.h"
#include "scenario/scenario.h"

namespace wafervp {

/// Where a value of a merged document came from.
struct Origin {
  std::string file;
  std::size_t line = 0, column = 0;
};
/// A JSON document with the origin of each member, by JSON pointer.
struct Document {
  Json value;
  std::map<std::string, Origin> origins;
};

/// One command-line override: JSON pointer and the value's JSON text (bare words are taken as strings).
using Override = std::pair<std::string, std::string>;

/// Reads one file strictly (syntax, encoding, duplicate keys, finite numbers), follows `base` (RFC 7386
/// merge, relative to the file that names it; a cycle is an error) and applies the overrides.
/// Throws ScenarioError with all faults.
Document read_document(const std::string& path, const std::vector<Override>& overrides = {});
/// The same for text that is not in a file, for tests and fuzzing.
Document parse_document(const std::string& text, const std::string& name);

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
};
/// Fit of one parameter on one variant, to a target; everything else is then predicted.
struct Calibration {
  std::string parameter;  // JSON pointer into the scenario
  double low = 0, high = 0;  // range of the search
  std::string variant;    // fitted on this variant
  std::string quantity;   // "speedup"
  double target = 0;
  Json patch;             // laid over each variant of the fit, e.g. {"workload":{"compute":{"mode":"fixed"}}}
};
struct Variant {
  std::string name;
  Document document;  // merged: base, variant's patch, grid point
};
struct Study {
  std::string name, comment;
  std::vector<Variant> variants;  // in file order; with a grid, each variant once a point
  std::string compare_to;         // empty: no speed-up
  std::map<std::string, std::vector<Published>> published;  // by variant
  std::optional<Calibration> calibrate;
};
/// Expands a study: base, variants, grid. Throws ScenarioError.
Study read_study(const Document& document);

/// JSON Schema (draft 2020-12) of scenarios and of studies, generated from the descriptor table.
Json scenario_schema();
Json study_schema();
/// The parameter table in Markdown, generated from the descriptor table.
std::string parameter_table();

}  // namespace wafervp
