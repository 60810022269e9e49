// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "format.h"
#include "results/breakdown.h"
#include "results/json_text.h"
#include "table.h"

namespace wafervp::cli {
namespace {

constexpr std::size_t kTopLinks = 5;

std::string folder_line(const std::string& out) { return out.empty() ? "" : "\nresults in " + out + '\n'; }

std::string breakdown_table(const Results& results) {
  Table table({"part", "time", "share"});
  for (const BreakdownPart& part : kBreakdownParts) {
    const Time time = results.breakdown.*part.member;
    if (time == 0) continue;
    table.add({part.name, format_time(time),
               format_percent(static_cast<double>(time), static_cast<double>(results.time_ps))});
  }
  return table.text("  ");
}

std::string collectives_table(const Results& results) {
  Table table({"operation", "algorithm", "group", "ranks", "count", "bytes", "time", "bus bandwidth", "bound",
               "bound/time"});
  table.left(1);
  table.left(2);
  for (const CollectiveResult& c : results.collectives) {
    table.add({c.operation, c.algorithm, c.communicator, std::to_string(c.ranks), std::to_string(c.count),
               format_bytes(static_cast<double>(c.bytes)), format_time(c.time_ps),
               c.bus_bytes_per_s > 0 ? format_rate(c.bus_bytes_per_s) : "",
               c.bound_ps > 0 ? format_time(c.bound_ps) : "",
               c.bound_ps > 0
                   ? format_percent(static_cast<double>(c.bound_ps), static_cast<double>(c.time_ps))
                   : ""});
  }
  return table.text("  ");
}

std::string error_text(const std::optional<double>& error) {
  return error ? fmt::format("{:.3g}", *error) : "";
}

/// Class, codec, messages, values, payload, ratio, error.
std::vector<std::string> class_cells(const CompressionClassResult& c) {
  return {c.name,
          c.codec,
          std::to_string(c.messages),
          format_bytes(static_cast<double>(c.dense_bytes)),
          format_bytes(static_cast<double>(c.wire_bytes)),
          fmt::format("{:.3g}", c.ratio()),
          error_text(c.relative_error)};
}

const std::vector<std::string> kClassHead{"class",   "codec", "messages", "values",
                                          "payload", "ratio", "error"};

/// Traffic classes with a codec, and what adding gradients up lost.
std::string compression_table(const Results& results) {
  Table table(kClassHead);
  table.left(1);
  for (const CompressionClassResult& c : results.compression_classes) table.add(class_cells(c));
  if (results.training && results.training->gradient_sum.count > 0) {
    const GradientSumError& sum = results.training->gradient_sum;
    table.add({"summed gradients", "", std::to_string(sum.count), "", "", "", error_text(sum.relative)});
  }
  return table.text("  ");
}

/// The same of a study's variants; nothing where none has either.
std::string compression_table(const Summary& summary) {
  std::vector<std::string> head{"variant", "all links", "summed gradients", "of all steps"};
  head.insert(head.end(), kClassHead.begin(), kClassHead.end());
  Table table(head);
  table.left(5);
  bool any = false;
  for (const VariantRow& row : summary.variants) {
    const Outcome& outcome = row.outcome;
    any = any || outcome.gradient_sum || !outcome.compression_classes.empty();
    std::vector<std::string> cells{row.name, format_bytes(static_cast<double>(outcome.payload_bytes)), "",
                                   ""};
    if (outcome.gradient_sum) {
      cells[2] = error_text(outcome.gradient_sum->relative);
      cells[3] = error_text(outcome.gradient_sum->of_all_steps);
    }
    for (const CompressionClassResult& c : outcome.compression_classes) {
      const std::vector<std::string> more = class_cells(c);
      cells.insert(cells.end(), more.begin(), more.end());
      table.add(cells);
      cells = {"", "", "", ""};
    }
    if (outcome.compression_classes.empty()) table.add(cells);
  }
  return any ? table.text("  ") : "";
}

std::string links_table(const Results& results) {
  std::vector<std::size_t> order(results.links.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return results.links[a].busy_ps > results.links[b].busy_ps;
  });
  Table table({"link", "bytes", "rate", "busy", "stalled", "utilisation"});
  for (std::size_t i = 0; i < std::min(kTopLinks, order.size()); ++i) {
    const LinkResult& link = results.links[order[i]];
    if (link.busy_ps == 0) break;
    table.add({link.name, format_bytes(static_cast<double>(link.bytes)),
               format_rate(static_cast<double>(link.bytes_per_s)), format_time(link.busy_ps),
               format_time(link.stalled_ps), format_percent(link.utilisation, 1)});
  }
  return table.text("  ");
}

std::string section(const std::string& title, const std::string& body) {
  return body.empty() ? "" : '\n' + title + '\n' + body;
}

std::string speedup_text(const Outcome& outcome) {
  return outcome.speedup ? fmt::format("{:.3f}", *outcome.speedup) : "";
}

std::string time_text(const Outcome& outcome) {
  return outcome.finished() ? format_time(outcome.time_ps) : outcome.status;
}

/// "1.41" or, for another quantity, "0.25 (time_over_mesh)".
std::string published_text(const PublishedRow& published) {
  const std::string value = fmt::format("{:g}", published.value);
  return published.quantity == "speedup" ? value : value + " (" + published.quantity + ')';
}

/// The simulated value, where it is not the speed-up, which has a column.
std::string simulated_text(const PublishedRow& published) {
  if (published.quantity == "speedup" || !published.simulated) return "";
  return fmt::format("{:.3f}", *published.simulated);
}

std::string difference_text(const PublishedRow& published) {
  const std::optional<double> difference = published.difference();
  if (!difference || published.value == 0) return "";
  const double percent = 100 * *difference / published.value;
  return fmt::format("{:+.1f} %", std::abs(percent) < 0.05 ? 0.0 : percent);
}

/// "predicted", "predicted (no test: C = D)".
std::string role_text(const VariantRow& row, const PublishedRow* published) {
  const std::string role = role_name(row.role);
  if (published == nullptr || published->note.empty()) return role;
  return role.empty() ? published->note : role + " (" + published->note + ')';
}

std::vector<std::string> study_row(const VariantRow& row, const PublishedRow* published) {
  std::vector<std::string> cells{row.name,
                                 time_text(row.outcome),
                                 speedup_text(row.outcome),
                                 published ? simulated_text(*published) : "",
                                 published ? published_text(*published) : "",
                                 published ? difference_text(*published) : "",
                                 role_text(row, published)};
  for (const BreakdownPart& part : kBreakdownParts) {
    const Time time = row.outcome.breakdown.*part.member;
    cells.push_back(time > 0 ? format_time(time) : "");
  }
  cells.push_back(row.outcome.final_loss ? fmt::format("{:.4f}", *row.outcome.final_loss) : "");
  cells.push_back(row.uncalibrated ? time_text(*row.uncalibrated) : "");
  cells.push_back(row.uncalibrated ? speedup_text(*row.uncalibrated) : "");
  return cells;
}

std::string rows_table(const std::vector<VariantRow>& rows) {
  std::vector<std::string> head{"variant",   "time",       "speed-up",  "simulated",
                                "published", "difference", "calibrated"};
  for (const BreakdownPart& part : kBreakdownParts) head.push_back(part.name);
  head.insert(head.end(), {"final loss", "| uncalibrated", "speed-up"});
  Table table(head);
  table.left(6);
  for (const VariantRow& row : rows) {
    table.add(study_row(row, row.published.empty() ? nullptr : &row.published[0]));
    for (std::size_t i = 1; i < row.published.size(); ++i) {
      table.add({"", "", "", simulated_text(row.published[i]), published_text(row.published[i]),
                 difference_text(row.published[i])});
    }
  }
  return table.text("  ");
}

/// Variants of which `wanted` is true.
template <class Wanted>
std::string study_table(const Summary& summary, Wanted wanted) {
  std::vector<VariantRow> rows;
  std::copy_if(summary.variants.begin(), summary.variants.end(), std::back_inserter(rows), wanted);
  return rows_table(rows);
}

/// Figures of other studies, each named by what is different there.
std::string beside_table(const Summary& summary) {
  std::vector<VariantRow> rows;
  for (const BesideRow& beside : summary.beside) {
    rows.push_back(beside.row);
    rows.back().name = beside.label + ": " + beside.row.name;
  }
  return rows.empty() ? ""
                      : "for comparison, speed-up over the base of each one's own study\n" + rows_table(rows);
}

std::string fit_line(const CalibrationRow& c) {
  if (!c.fitted_value) return "calibration failed: " + c.message + '\n';
  const std::string value =
      c.fitted_value->is_number_float() ? double_text(c.fitted_value->get<double>()) : c.fitted_value->dump();
  return fmt::format(
      "calibrated: {} = {} gives {} {:.4f} of {} (target {:g}); the other variants are predicted\n",
      c.parameter, value, c.quantity, c.reached.value_or(0), c.variant, c.target);
}

}  // namespace

std::string scenario_report(const std::string& title, const Results& results, const std::string& out) {
  std::string text = fmt::format("{}: {}, {}\n", title, results.status, format_time(results.time_ps));
  text += breakdown_table(results);
  text += section("collectives", collectives_table(results));
  text += section("compression", compression_table(results));
  text += section("most loaded links", links_table(results));
  return text + folder_line(out);
}

std::string study_report(const Summary& summary, const std::string& out) {
  std::string text = summary.name;
  if (!summary.compare_to.empty()) text += ": speed-up over " + summary.compare_to;
  text += '\n' + study_table(summary, [](const VariantRow&) { return true; });
  text += section("bytes, and errors relative to the values", compression_table(summary));
  if (summary.calibration) text += fit_line(*summary.calibration);
  return text + beside_table(summary) + folder_line(out);
}

std::string calibration_report(const Summary& summary) {
  std::string text = summary.name + '\n' + fit_line(*summary.calibration);
  text += section("fitted",
                  study_table(summary, [](const VariantRow& row) { return row.role == Role::kFitted; }));
  return text + section("predicted", study_table(summary, [](const VariantRow& row) {
                          return row.role == Role::kPredicted || row.role == Role::kReference;
                        }));
}

}  // namespace wafervp::cli
