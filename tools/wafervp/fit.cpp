// SPDX-License-Identifier: Apache-2.0
#include "fit.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "program.h"
#include "results/hash.h"
#include "results/json_text.h"
#include "scenario/text.h"
#include "variant.h"

namespace wafervp::cli {
namespace {

constexpr unsigned kMostSteps = 40;
constexpr double kTolerance = 1e-5;  // of the quantity, relative
constexpr const char* kFile = "calibration.json";

const Variant& find_variant(const Study& study, const std::string& name) {
  for (const Variant& variant : study.variants) {
    if (variant.name == name) return variant;
  }
  throw std::logic_error("no variant " + name);
}

Json nested_patch(const std::string& pointer, const Json& value) {
  Json patch = value;
  const std::vector<std::string> names = pointer_names(pointer);
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    Json outer = Json::object();
    outer[*name] = std::move(patch);
    patch = std::move(outer);
  }
  return patch;
}

/// Speed-up that the target means.
double wanted_speedup(const Calibration& calibration) {
  return calibration.quantity == "time_over_mesh" ? 1 / calibration.target : calibration.target;
}

struct Point {
  double x = 0;
  Json value;
  double speedup = 0;
  double g = 0;  // T_reference - wanted * T_variant, in ps
};

/// A run that only brackets the value needs no files; one that may be the last is a run of the study.
enum class Purpose { kSearch, kCandidate };

class Fitter {
 public:
  /// Throws ScenarioError when the parameter is no number of the scenario.
  Fitter(const Study& study, const Document& document, const Calibration& calibration,
         const FitOptions& options)
      : calibration_(calibration),
        options_(options),
        variant_(find_variant(study, calibration.variant)),
        reference_(find_variant(study, variant_.compare_to)),
        line_(options.progress ? ProgressTo::kTerminal : ProgressTo::kNobody) {
    const Document patched = with_patch(variant_.document, calibration.patch, "calibrate");
    const Json effective = effective_json(read_scenario(patched));
    const Json::json_pointer pointer(calibration.parameter);
    if (!effective.contains(pointer) || !effective.at(pointer).is_number()) {
      throw ScenarioError({make_issue(
          document, "/calibrate/parameter",
          "expected the JSON pointer of a number of the scenario, found " + quote(calibration.parameter))});
    }
    is_integer_ = effective.at(pointer).is_number_integer();
  }

  /// A text of all that the fit depends on.
  std::string key() const {
    std::string text = program().version + program().sources;
    for (const Variant* v : {&reference_, &variant_}) {
      text += json_text(job(*v, calibration_.low, Purpose::kSearch).effective);
    }
    return fnv1a64(text + fmt::format("{} {} {} {} {} {}", calibration_.parameter, calibration_.variant,
                                      calibration_.quantity, calibration_.target, calibration_.low,
                                      calibration_.high));
  }

  /// False when stopped.
  bool solve(CalibrationRow& row) {
    std::vector<Point> ends;
    if (!evaluate({calibration_.low, calibration_.high}, Purpose::kSearch, ends)) return finish(row, nullptr);
    Point a = ends[0], b = ends[1];
    for (const Point* end : {&a, &b}) {
      if (is_met(*end)) return finish(row, end);
    }
    if ((a.g > 0) == (b.g > 0)) {
      message_ = fmt::format("{} is {:.6g} at {} = {:g} and {:.6g} at {:g}: the target {:g} is not between",
                             calibration_.quantity, quantity(a.speedup), calibration_.parameter, a.x,
                             quantity(b.speedup), b.x, calibration_.target);
      if (a.speedup == b.speedup) {
        message_ +=
            fmt::format("; {} has no effect here (a fixed compute time acts where compute.mode is fixed)",
                        calibration_.parameter);
      }
      return finish(row, nullptr);
    }
    double weight_a = a.g, weight_b = b.g;
    for (unsigned step = 0; step < kMostSteps; ++step) {
      const double x = (a.x * weight_b - b.x * weight_a) / (weight_b - weight_a);
      std::vector<Point> found;
      if (!evaluate({x}, Purpose::kCandidate, found)) return finish(row, nullptr);
      const Point& c = found[0];
      // No finer value lies between: this is the nearest there is.
      if (is_met(c) || c.value == a.value || c.value == b.value) return finish(row, &c);
      if ((c.g > 0) == (a.g > 0)) {
        a = c;
        weight_a = c.g;
        weight_b /= 2;
      } else {
        b = c;
        weight_b = c.g;
        weight_a /= 2;
      }
    }
    message_ = fmt::format("no value was found in {} steps", kMostSteps);
    return finish(row, nullptr);
  }

 private:
  /// The parameter's value for a scenario: whole where the scenario has a whole number, whole picoseconds
  /// for a time in ns, else nine digits, so that the value can be typed.
  Json value_of(double x) const {
    if (is_integer_) return static_cast<std::int64_t>(std::llround(x));
    const std::string& name = calibration_.parameter;
    if (name.size() > 3 && name.compare(name.size() - 3, 3, "_ns") == 0) return std::round(x * 1000) / 1000;
    return std::stod(fmt::format("{:.9g}", x));
  }

  Job job(const Variant& variant, double x, Purpose purpose) const {
    static const Json kQuick = Json::parse(R"({"outputs": {"statistics": false, "trace": false}})");
    const std::string label = "calibration of " + variant.name;
    const Document document = with_fit(variant.document, calibration_, value_of(x));
    const auto folder = options_.folders.find(variant.name);
    if (purpose == Purpose::kSearch || folder == options_.folders.end()) {
      return make_job(label, with_patch(document, kQuick, "calibrate"));
    }
    Job whole = make_job(label, document);
    whole.folder = folder->second;
    return whole;
  }

  double quantity(double speedup) const {
    return calibration_.quantity == "time_over_mesh" ? 1 / speedup : speedup;
  }
  bool is_met(const Point& p) const {
    return std::fabs(p.speedup / wanted_speedup(calibration_) - 1) <= kTolerance;
  }

  /// Runs reference and variant at each x. False when stopped or failed (message_ says which).
  bool evaluate(const std::vector<double>& xs, Purpose purpose, std::vector<Point>& points) {
    std::vector<Job> jobs;
    std::vector<ChildSpec> specs;
    for (const double x : xs) {
      for (const Variant* v : {&reference_, &variant_}) {
        jobs.push_back(job(*v, x, purpose));
        specs.push_back(child_spec(jobs.back(), options_.log));
      }
    }
    std::vector<Outcome> outcomes(jobs.size());
    ChildWatch watch;
    watch.done = [&](std::size_t index, const ChildResult& result) {
      outcomes[index] = job_outcome(jobs[index], result).outcome;
    };
    watch.tick = [this] { line_.show(fmt::format("calibration: {} evaluations", evaluations_), 0); };
    if (!run_children(specs, options_.jobs, watch)) {
      stopped_ = true;
      return false;
    }
    for (std::size_t i = 0; i < xs.size(); ++i) {
      ++evaluations_;
      const Outcome &reference = outcomes[2 * i], &variant = outcomes[2 * i + 1];
      for (const Outcome* outcome : {&reference, &variant}) {
        if (outcome->finished() && outcome->time_ps > 0) continue;
        message_ = fmt::format("{} = {:g}, variant {}: {}: {}", calibration_.parameter, xs[i],
                               outcome == &reference ? reference_.name : variant_.name, outcome->status,
                               outcome->message);
        return false;
      }
      const double t_reference = static_cast<double>(reference.time_ps);
      const double t_variant = static_cast<double>(variant.time_ps);
      points.push_back({xs[i], value_of(xs[i]), t_reference / t_variant,
                        t_reference - wanted_speedup(calibration_) * t_variant});
    }
    return true;
  }

  bool finish(CalibrationRow& row, const Point* found) const {
    row.message = message_;
    row.evaluations = evaluations_;
    if (found) {
      row.fitted_value = found->value;
      row.reached = quantity(found->speedup);
    }
    return !stopped_;
  }

  const Calibration& calibration_;
  const FitOptions& options_;
  const Variant& variant_;
  const Variant& reference_;
  ProgressLine line_;
  bool is_integer_ = false;
  bool stopped_ = false;
  unsigned evaluations_ = 0;
  std::string message_;
};

bool read_fit(const ResultFolder& folder, const std::string& key, CalibrationRow& row) {
  try {
    const Json json = Json::parse(read_file(folder.file(kFile)));
    if (json.at("key") != key) return false;
    row.fitted_value = json.at("fitted_value");
    row.reached = json.at("reached").get<double>();
    row.evaluations = json.at("evaluations").get<unsigned>();
    return true;
  } catch (const FileError&) {
    return false;  // the first run into this folder
  } catch (const Json::exception&) {
    return false;
  }
}

void write_fit(ResultFolder& folder, const std::string& key, const CalibrationRow& row) {
  const Json json{{"key", key},
                  {"parameter", row.parameter},
                  {"variant", row.variant},
                  {"quantity", row.quantity},
                  {"target", row.target},
                  {"fitted_value", *row.fitted_value},
                  {"reached", *row.reached},
                  {"evaluations", row.evaluations}};
  folder.stage(kFile, json_text(json));
  folder.commit();
}

}  // namespace

void check_calibration(const Study& study, const Document& document, const Calibration& calibration) {
  std::vector<Issue> issues;
  const auto wrong = [&](const std::string& member, const std::string& text) {
    issues.push_back(make_issue(document, "/calibrate/" + member, text));
  };
  std::vector<std::string> names;
  const Variant* variant = nullptr;
  bool has_grid = false;
  for (const Variant& v : study.variants) {
    names.push_back(v.name);
    if (v.name == calibration.variant) variant = &v;
    has_grid = has_grid || v.name != v.of;
  }
  if (has_grid) {
    wrong("variant",
          "a study with a grid cannot be calibrated: fit without the grid, then set the parameter");
  } else if (!variant) {
    const std::string near = nearest_word(calibration.variant, names);
    wrong("variant", "expected one of " + join_words(names) + ", found " + quote(calibration.variant) +
                         (near.empty() ? "" : "; did you mean " + near + '?'));
  } else if (variant->compare_to.empty() || variant->compare_to == variant->name) {
    wrong("variant", "expected a variant that is compared with another one (compare_to), found " +
                         quote(calibration.variant));
  }
  if (calibration.quantity != "speedup" && calibration.quantity != "time_over_mesh") {
    wrong("quantity", "expected speedup or time_over_mesh, found " + quote(calibration.quantity));
  }
  if (!(calibration.target > 0) || !std::isfinite(calibration.target)) {
    wrong("target", fmt::format("expected a number greater than 0, found {}", calibration.target));
  }
  if (!(calibration.low < calibration.high)) {
    wrong("low", fmt::format("expected low < high, found {} and {}", calibration.low, calibration.high));
  }
  if (calibration.parameter.empty() || calibration.parameter[0] != '/') {
    wrong("parameter", "expected a JSON pointer, for example /workload/compute/fixed_ns, found " +
                           quote(calibration.parameter));
  }
  if (!issues.empty()) throw ScenarioError(std::move(issues));
}

Document with_fit(const Document& variant, const Calibration& calibration, const Json& value) {
  const Document patched = with_patch(variant, calibration.patch, "calibrate");
  return with_patch(patched, nested_patch(calibration.parameter, value), "calibrate");
}

bool fit(const Study& study, const Document& document, const Calibration& calibration,
         const FitOptions& options, ResultFolder* folder, CalibrationRow& row, FitOrigin& origin) {
  row.parameter = calibration.parameter;
  row.variant = calibration.variant;
  row.quantity = calibration.quantity;
  row.target = calibration.target;
  Fitter fitter(study, document, calibration, options);
  const std::string key = fitter.key();
  origin = FitOrigin::kKept;
  if (folder && read_fit(*folder, key, row)) return true;
  const auto known = options.known ? options.known->find(key) : KnownFits::iterator();
  if (options.known && known != options.known->end()) {
    origin = FitOrigin::kKnown;
    row = known->second;
  } else {
    const bool other = folder && ::access(folder->file(kFile).c_str(), F_OK) == 0;
    origin = other ? FitOrigin::kReplaced : FitOrigin::kMade;
    if (!fitter.solve(row)) return false;
  }
  if (!row.fitted_value) return true;
  if (options.known) options.known->emplace(key, row);
  if (folder) write_fit(*folder, key, row);
  return true;
}

}  // namespace wafervp::cli
