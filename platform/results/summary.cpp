// SPDX-License-Identifier: Apache-2.0
#include "results/summary.h"

#include <algorithm>

#include "results/breakdown.h"
#include "results/csv.h"
#include "results/json_text.h"
#include "results/result_files.h"

namespace wafervp {
namespace {

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

const VariantRow* find_row(const Summary& summary, const std::string& name) {
  for (const VariantRow& row : summary.variants) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

void set_speedup(Outcome& outcome, const Outcome* reference) {
  outcome.speedup.reset();
  if (reference && reference->finished() && outcome.finished() && outcome.time_ps > 0) {
    outcome.speedup = static_cast<double>(reference->time_ps) / static_cast<double>(outcome.time_ps);
  }
}

void set_published(VariantRow& row) {
  for (PublishedRow& published : row.published) {
    published.simulated.reset();
    if (!row.outcome.speedup) continue;
    if (published.quantity == "speedup") published.simulated = row.outcome.speedup;
    if (published.quantity == "time_over_mesh") published.simulated = 1 / *row.outcome.speedup;
  }
}

Json outcome_json(const Outcome& outcome) {
  Json json{{"status", outcome.status},
            {"message", outcome.message},
            {"time_ps", outcome.finished() ? Json(outcome.time_ps) : Json()},
            {"speedup", optional_json(outcome.speedup)},
            {"breakdown_ps", breakdown_json(outcome.breakdown)},
            {"scenario_hash", outcome.scenario_hash}};
  if (outcome.final_loss) json["final_loss"] = *outcome.final_loss;
  if (outcome.gradient_sum) json["gradient_sum"] = gradient_sum_json(*outcome.gradient_sum);
  if (!outcome.compression_classes.empty()) {
    json["payload_bytes"] = outcome.payload_bytes;
    json["compression_classes"] = classes_json(outcome.compression_classes);
  }
  return json;
}

Json variant_json(const VariantRow& row) {
  Json json = Json::object();
  json["name"] = row.name;
  json["compare_to"] = row.compare_to;
  json.update(outcome_json(row.outcome));
  if (row.role != Role::kNone) json["role"] = role_name(row.role);
  if (!row.published.empty()) {
    Json published = Json::object();
    for (const PublishedRow& p : row.published) {
      Json& figure = published[p.quantity];
      figure = {{"value", p.value},
                {"source", p.source},
                {"simulated", optional_json(p.simulated)},
                {"difference", optional_json(p.difference())}};
      if (!p.note.empty()) figure["note"] = p.note;
    }
    json["published"] = std::move(published);
  }
  if (row.uncalibrated) json["uncalibrated"] = outcome_json(*row.uncalibrated);
  return json;
}

std::vector<std::string> names_with(const Summary& summary, Role role) {
  std::vector<std::string> names;
  for (const VariantRow& row : summary.variants) {
    if (row.role == role) names.push_back(row.name);
  }
  return names;
}

Json calibration_json(const CalibrationRow& c) {
  return {{"parameter", c.parameter},
          {"variant", c.variant},
          {"quantity", c.quantity},
          {"target", c.target},
          {"fitted_value", c.fitted_value ? *c.fitted_value : Json()},
          {"reached", optional_json(c.reached)},
          {"message", c.message},
          {"evaluations", c.evaluations}};
}

Json beside_json(const BesideRow& beside) {
  Json json = Json::object();
  json["label"] = beside.label;
  json["study"] = beside.study;
  json["variant"] = variant_json(beside.row);
  if (beside.calibration) json["calibration"] = calibration_json(*beside.calibration);
  return json;
}

std::string number(const std::optional<double>& value) { return value ? csv_number(*value) : ""; }
std::string time(const Outcome& outcome) { return outcome.finished() ? std::to_string(outcome.time_ps) : ""; }

}  // namespace

const char* role_name(Role role) {
  switch (role) {
    case Role::kNone:
      return "";
    case Role::kReference:
      return "reference";
    case Role::kFitted:
      return "fitted";
    case Role::kPredicted:
      return "predicted";
  }
  return "";
}

void compare_variants(Summary& summary) {
  for (VariantRow& row : summary.variants) {
    const VariantRow* reference = find_row(summary, row.compare_to);
    set_speedup(row.outcome, reference ? &reference->outcome : nullptr);
    if (row.uncalibrated) {
      const bool both = reference && reference->uncalibrated;
      set_speedup(*row.uncalibrated, both ? &*reference->uncalibrated : nullptr);
    }
    set_published(row);
  }
}

Json summary_json(const Summary& summary, const ProgramInfo& program) {
  Json json = Json::object();
  json["name"] = summary.name;
  if (!summary.comment.empty()) json["comment"] = summary.comment;
  json["compare_to"] = summary.compare_to;
  json["program"] = {{"version", program.version}, {"sources", program.sources}};
  if (summary.calibration) {
    json["calibration"] = calibration_json(*summary.calibration);
    json["calibration"]["fitted"] = names_with(summary, Role::kFitted);
    json["calibration"]["predicted"] = names_with(summary, Role::kPredicted);
  }
  json["variants"] = Json::array();
  for (const VariantRow& row : summary.variants) json["variants"].push_back(variant_json(row));
  if (!summary.beside.empty()) {
    json["beside"] = Json::array();
    for (const BesideRow& beside : summary.beside) json["beside"].push_back(beside_json(beside));
  }
  return json;
}

std::string summary_csv(const Summary& summary) {
  std::vector<std::string> quantities;
  bool uncalibrated = false, training = false;
  for (const VariantRow& row : summary.variants) {
    uncalibrated = uncalibrated || row.uncalibrated;
    training = training || row.outcome.final_loss;
    for (const PublishedRow& p : row.published) {
      if (std::find(quantities.begin(), quantities.end(), p.quantity) == quantities.end()) {
        quantities.push_back(p.quantity);
      }
    }
  }
  std::string out = "name,status,role,time_ps,speedup";
  for (const std::string& q : quantities) out += ",published_" + q + ",difference_" + q;
  for (const BreakdownPart& part : kBreakdownParts) out += std::string(",") + part.name + "_ps";
  if (training) out += ",final_loss";
  if (uncalibrated) out += ",uncalibrated_time_ps,uncalibrated_speedup";
  out += ",message\n";
  for (const VariantRow& row : summary.variants) {
    out += csv_field(row.name) + ',' + row.outcome.status + ',' + role_name(row.role) + ',' +
           time(row.outcome) + ',' + number(row.outcome.speedup);
    for (const std::string& q : quantities) {
      const auto p = std::find_if(row.published.begin(), row.published.end(),
                                  [&q](const PublishedRow& published) { return published.quantity == q; });
      out += p == row.published.end() ? ",," : ',' + double_text(p->value) + ',' + number(p->difference());
    }
    for (const BreakdownPart& part : kBreakdownParts) {
      out += ',' + std::to_string(row.outcome.breakdown.*part.member);
    }
    if (training) out += ',' + number(row.outcome.final_loss);
    if (uncalibrated) {
      out +=
          row.uncalibrated ? ',' + time(*row.uncalibrated) + ',' + number(row.uncalibrated->speedup) : ",,";
    }
    out += ',' + csv_field(row.outcome.message) + '\n';
  }
  return out;
}

}  // namespace wafervp
