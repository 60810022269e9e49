// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "scenario/json_parser.h"
#include "scenario/load.h"
#include "scenario/merge.h"
#include "scenario/overrides.h"
#include "scenario/study_grid.h"
#include "scenario/study_members.h"
#include "scenario/text.h"
#include "scenario/validate.h"
#include "scenario/version.h"

namespace wafervp {
namespace {

bool is_variant_name(const std::string& name) {
  if (name.empty() || name.size() > kMaxVariantName || name[0] == '.') return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
}

/// Whether the studies that `beside` names are read too.
enum class Companions { kRead, kLeave };

class StudyReader {
 public:
  StudyReader(const Document& document, Companions companions)
      : document_(document), companions_(companions), validator_(document, issues_) {}

  Study read() {
    StudyMembers members{};
    validator_.read(study_tree(), &members);
    study_.name = members.name;
    study_.comment = members.comment;
    variants();
    grid_ = read_grid(document_, validator_, names_.size());
    comparison(members.compare_to);
    published();
    calibration(members.calibrate);
    if (companions_ == Companions::kRead) beside(members.beside);
    expand();
    if (!issues_.empty()) throw ScenarioError(locate(document_, std::move(issues_)));
    return std::move(study_);
  }

 private:
  const Json* part(const char* pointer) const {
    const Json* value = find_value(document_.value, pointer);
    return value != nullptr && value->is_object() ? value : nullptr;
  }

  void patch(const std::string& pointer) {
    for (const char* name : {"version", "base", "$schema"}) {
      const std::string member = pointer + '/' + name;
      if (validator_.present(member))
        validator_.fault(member, "belongs to a file, not to a patch; remove it");
    }
  }

  void variants() {
    patch("/scenario");
    const Json* value = part("/variants");
    if (value == nullptr) return;
    if (value->empty()) validator_.fault("/variants", "has no variant; name one, with {} as its patch");
    if (value->size() > kMaxVariants) {
      validator_.fault("/variants", "found " + std::to_string(value->size()) + " variants; at most " +
                                        std::to_string(kMaxVariants) + " are allowed");
      return;
    }
    for (const auto& [name, item] : value->items()) {
      const std::string pointer = "/variants/" + pointer_token(name);
      if (!is_variant_name(name)) {
        validator_.fault(pointer,
                         "found the name " + quote(name) +
                             "; a variant's name is also that of a folder: letters, digits, _, - and . "
                             "(not first), at most " +
                             std::to_string(kMaxVariantName) + " characters");
      } else if (!item.is_object()) {
        validator_.fault(pointer, "expected an object, found " + describe(item));
      } else {
        patch(pointer);
        names_.push_back(name);
      }
    }
  }

  bool known_variant(const std::string& name, const std::string& pointer) {
    if (std::find(names_.begin(), names_.end(), name) != names_.end()) return true;
    const std::string near = nearest_word(name, names_);
    validator_.fault(pointer, "found " + quote(name) + ", which is no variant" +
                                  (near.empty() ? "; allowed: " : "; did you mean " + near + "? allowed: ") +
                                  join_words(names_));
    return false;
  }

  void comparison(const std::string& name) {
    study_.compare_to = name;
    if (validator_.present("/compare_to") && validator_.sound({"/compare_to"}))
      known_variant(name, "/compare_to");
  }

  void published() {
    static const std::vector<std::string> kQuantities{"speedup", "time_over_mesh"};
    const Json* value = part("/published");
    if (value == nullptr) return;
    for (const auto& [name, quantities] : value->items()) {
      const std::string pointer = "/published/" + pointer_token(name);
      known_variant(name, pointer);
      if (!quantities.is_object()) {
        validator_.fault(pointer, "expected an object, found " + describe(quantities));
        continue;
      }
      for (const auto& [quantity, figure] : quantities.items()) {
        const std::string inner = pointer + '/' + pointer_token(quantity);
        if (std::find(kQuantities.begin(), kQuantities.end(), quantity) == kQuantities.end()) {
          const std::string near = nearest_word(quantity, kQuantities);
          validator_.fault(inner,
                           "unknown quantity " + quote(quantity) +
                               (near.empty() ? "; allowed: " : "; did you mean " + near + "? allowed: ") +
                               join_words(kQuantities));
          continue;
        }
        figure_of(name, quantity, figure, inner);
      }
    }
  }

  void figure_of(const std::string& variant, const std::string& quantity, const Json& figure,
                 const std::string& pointer) {
    if (!figure.is_object()) {
      validator_.fault(pointer, "expected an object with value and source, found " + describe(figure));
      return;
    }
    Published entry{quantity, 0, {}, {}};
    for (const auto& [name, item] : figure.items()) {
      const std::string inner = pointer + '/' + pointer_token(name);
      if (name == "value") {
        if (!item.is_number() || item.get<double>() <= 0) {
          validator_.fault(inner, "expected a number greater than 0, found " + describe(item));
        } else {
          entry.value = item.get<double>();
        }
      } else if (name == "source") {
        if (!item.is_string() || item.get_ref<const std::string&>().empty()) {
          validator_.fault(inner,
                           "expected a string that says where the value stands, found " + describe(item));
        } else {
          entry.source = item.get<std::string>();
        }
      } else if (name == "note") {
        if (!item.is_string()) {
          validator_.fault(inner, "expected a string, found " + describe(item));
        } else {
          entry.note = item.get<std::string>();
        }
      } else {
        validator_.fault(inner, "unknown member " + quote(name) + "; allowed: value, source, note");
      }
    }
    for (const char* name : {"value", "source"}) {
      if (!figure.contains(name)) validator_.fault(pointer, "required member " + quote(name) + " is missing");
    }
    study_.published[variant].push_back(std::move(entry));
  }

  void calibration(const Calibration& members) {
    const Json* value = part("/calibrate");
    if (value == nullptr) return;
    patch("/calibrate/patch");
    study_.calibrate = members;
    const Json* laid = part("/calibrate/patch");
    study_.calibrate->patch = laid != nullptr ? *laid : Json::object();
    if (validator_.sound({"/calibrate/variant"})) known_variant(members.variant, "/calibrate/variant");
    if (study_.compare_to.empty() && validator_.sound({"/compare_to"})) {
      validator_.fault("/calibrate", "a speed-up needs /compare_to, which is missing");
    }
    if (!validator_.sound({"/calibrate/parameter"})) return;
    const Descriptor* descriptor = members.parameter.empty() || members.parameter[0] != '/'
                                       ? nullptr
                                       : find_descriptor(members.parameter);
    const bool is_numeric = descriptor != nullptr && (descriptor->type == ValueType::kInteger ||
                                                      descriptor->type == ValueType::kNumber);
    if (!is_numeric) {
      const std::string hint = members.parameter.empty() || members.parameter[0] != '/'
                                   ? "expected a JSON pointer such as /workload/compute/fixed_ns"
                               : descriptor == nullptr
                                   ? unknown_pointer(members.parameter)
                                   : "is " + type_name(*descriptor) + "; expected an integer or number";
      validator_.fault("/calibrate/parameter", "found " + quote(members.parameter) + "; " + hint);
    } else if (validator_.sound({"/calibrate/low", "/calibrate/high"})) {
      const bool is_integer = descriptor->type == ValueType::kInteger;
      const double least = is_integer ? static_cast<double>(descriptor->least) : descriptor->low;
      const double most = is_integer ? static_cast<double>(descriptor->most) : descriptor->high;
      if (members.low >= members.high || members.low < least || members.high > most) {
        validator_.fault("/calibrate/low", "found low " + format_number(members.low) + " and high " +
                                               format_number(members.high) +
                                               "; low must be below high, and both in the range of " +
                                               members.parameter + ": " + range_text(*descriptor));
      }
    }
  }

  void beside(const std::vector<BesideMember>& members) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      const BesideMember& member = members[i];
      const std::string pointer = "/beside/" + std::to_string(i);
      Beside entry{member.label, member.variant, nullptr, {}};
      try {
        entry.document = study_beside(document_, pointer + "/study", member.study);
        entry.study = std::make_shared<const Study>(StudyReader(entry.document, Companions::kLeave).read());
      } catch (const ScenarioError& error) {
        issues_.insert(issues_.end(), error.issues().begin(), error.issues().end());
        continue;
      }
      std::vector<std::string> names;
      for (const Variant& variant : entry.study->variants) names.push_back(variant.name);
      if (std::find(names.begin(), names.end(), member.variant) == names.end()) {
        validator_.fault(pointer + "/variant", "found " + quote(member.variant) +
                                                   ", which is no variant of " + quote(member.study) +
                                                   "; allowed: " + join_words(names));
      }
      study_.beside.push_back(std::move(entry));
    }
  }

  /// Builds and validates every variant; faults that all of them share are reported once.
  void expand() {
    if (names_.empty() || !validator_.sound({"/scenario", "/base"})) return;
    Document common;
    try {
      common = document_.value.contains("base") ? base_of_study(document_) : part_with_version();
    } catch (const ScenarioError& error) {
      issues_.insert(issues_.end(), error.issues().begin(), error.issues().end());
      return;
    }
    if (part("/scenario") != nullptr) merge_onto(common, part_of(document_, "/scenario"));
    const bool has_patch =
        study_.calibrate && !study_.calibrate->patch.empty() && validator_.sound({"/calibrate"});
    IssueSet found;
    for (const std::string& name : names_) {
      Document variant = common;
      merge_onto(variant, part_of(document_, "/variants/" + pointer_token(name)));
      for (GridPoint& point : points_of(document_, grid_, variant)) {
        Variant expanded{name + point.suffix, name, {}, std::move(point.document)};
        if (!study_.compare_to.empty()) expanded.compare_to = study_.compare_to + point.suffix;
        found.begin();
        apply_overrides(expanded.document, document_.overrides);
        validate(expanded.document, found);
        // Where the fit lays its patch, the result must be a scenario too.
        if (has_patch && found.clean()) {
          Document fitted = expanded.document;
          merge_onto(fitted, part_of(document_, "/calibrate/patch"));
          validate(fitted, found);
        }
        found.end(expanded.name);
        study_.variants.push_back(std::move(expanded));
        if (found.size() > kMaxIssues) return found.move_to(issues_, study_.variants.size());
      }
    }
    found.move_to(issues_, study_.variants.size());
  }

  Document part_with_version() const {
    Document empty;
    empty.value = Json::object();
    put_at(empty, "/version", part_of(document_, "/version"));
    return empty;
  }

  static void validate(const Document& document, IssueSet& found) {
    try {
      validate_scenario(document, nullptr);
    } catch (const ScenarioError& error) {
      for (const Issue& issue : error.issues()) found.add(issue);
    }
  }

  const Document& document_;
  const Companions companions_;
  std::vector<Issue> issues_;
  Validator validator_;
  std::vector<std::string> names_;
  std::vector<GridAxis> grid_;
  Study study_;
};

}  // namespace

Study read_study(const Document& document) {
  if (!is_study(document)) {
    throw ScenarioError({make_issue(document, "", "expected a study, which has the member variants")});
  }
  check_version(document);
  return StudyReader(document, Companions::kRead).read();
}

}  // namespace wafervp
