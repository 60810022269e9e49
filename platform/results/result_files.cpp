// SPDX-License-Identifier: Apache-2.0
#include "results/result_files.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "results/breakdown.h"
#include "results/csv.h"
#include "results/hash.h"
#include "results/json_text.h"

namespace wafervp {
namespace {

/// Text that goes to a file piece by piece, so that it is never in memory as a whole; without a sink it
/// stays.
class Pieces {
 public:
  explicit Pieces(Sink* sink = nullptr) : sink_(sink) {}
  std::string text;
  /// Between two records.
  void pass_on() {
    constexpr std::size_t kPiece = 8192;
    if (sink_ == nullptr || text.size() < kPiece) return;
    sink_->append(text);
    text.clear();
  }

 private:
  Sink* sink_;
};

void append_collectives(Pieces& out, const Results& results) {
  JsonRecords list(out.text, "collectives");
  for (const CollectiveResult& c : results.collectives) {
    list.begin();
    list.add("operation", c.operation);
    list.add("algorithm", c.algorithm);
    list.add("communicator", c.communicator);
    list.add("kind", c.kind);
    list.add("ranks", c.ranks);
    list.add("count", c.count);
    list.add("bytes", c.bytes);
    list.add("time_ps", c.time_ps);
    list.add("min_ps", c.min_ps);
    list.add("max_ps", c.max_ps);
    list.add("algorithm_bytes_per_s", c.algorithm_bytes_per_s);
    list.add("bus_bytes_per_s", c.bus_bytes_per_s);
    list.add("bound_ps", c.bound_ps);
    list.end();
    out.pass_on();
  }
  list.finish();
}

/// What is told of a link beside the rest: only where the scenario has it, so that other files stay as they
/// are.
bool tells_wire(const Scenario& scenario) {
  const FlowControlSpec& flow_control = scenario.wafer.fabric.flow_control;
  return flow_control.retransmission != Retransmission::kOff || flow_control.header_bytes != 0;
}

void append_links(Pieces& out, const Results& results, bool wire) {
  JsonRecords list(out.text, "links");
  for (const LinkResult& link : results.links) {
    list.begin();
    list.add("name", link.name);
    list.add("from", link.from);
    list.add("to", link.to);
    list.add("bytes", link.bytes);
    list.add("bytes_per_s", link.bytes_per_s);
    list.add("busy_ps", link.busy_ps);
    list.add("stalled_ps", link.stalled_ps);
    list.add("utilisation", link.utilisation);
    if (wire) {
      list.add("wire_bytes", link.wire_bytes);
      list.add("errors", link.errors);
      list.add("resent_packets", link.resent_packets);
      list.add("resent_bytes", link.resent_bytes);
      list.add("ack_bytes", link.ack_bytes);
    }
    list.end();
    out.pass_on();
  }
  list.finish();
}

void append_compression(JsonRecords& record, const CompressionResult& unit) {
  if (!unit.present) return;
  const auto ratio = [](std::uint64_t dense, std::uint64_t wire) {
    return wire == 0 ? 0.0 : static_cast<double>(dense) / static_cast<double>(wire);
  };
  record.add("compressed_messages", unit.sent_messages);
  record.add("compressed_dense_bytes", unit.sent_dense_bytes);
  record.add("compressed_wire_bytes", unit.sent_wire_bytes);
  record.add("compression_ratio", ratio(unit.sent_dense_bytes, unit.sent_wire_bytes));
  record.add("compression_busy_ps", unit.sent_busy_ps);
  record.add("compression_error", unit.relative_error);
  record.add("decompressed_messages", unit.received_messages);
  record.add("decompressed_dense_bytes", unit.received_dense_bytes);
  record.add("decompressed_wire_bytes", unit.received_wire_bytes);
  record.add("decompression_busy_ps", unit.received_busy_ps);
}

void append_npus(Pieces& out, const Results& results) {
  JsonRecords list(out.text, "npus");
  for (const NpuResult& npu : results.npus) {
    list.begin();
    list.add("npu", npu.npu);
    list.add("has_program", npu.has_program);
    list.add("finished", npu.finished);
    list.add("end_ps", npu.end_ps);
    for (const BreakdownPart& part : kBreakdownParts) {
      list.add(std::string(part.name) + "_ps", npu.breakdown.*part.member);
    }
    list.add("memory_peak_bytes", npu.memory_peak_bytes);
    list.add("sent_bytes", npu.sent_bytes);
    list.add("received_bytes", npu.received_bytes);
    append_compression(list, npu.compression);
    list.end();
    out.pass_on();
  }
  list.finish();
}

void append_io(Pieces& out, const Results& results) {
  JsonRecords list(out.text, "io_controllers");
  for (const IoResult& io : results.io_controllers) {
    list.begin();
    list.add("io", io.io);
    list.add("at", io.at);
    list.add("end_ps", io.end_ps);
    list.add("loaded_bytes", io.loaded_bytes);
    list.add("stored_bytes", io.stored_bytes);
    append_compression(list, io.compression);
    list.end();
    out.pass_on();
  }
  list.finish();
}

}  // namespace

std::string scenario_hash(const Json& effective, const ProgramInfo& program) {
  return "fnv1a64:" + fnv1a64(json_text(effective) + program.version + '\n' + program.sources);
}

Json breakdown_json(const Breakdown& breakdown) {
  Json json = Json::object();
  for (const BreakdownPart& part : kBreakdownParts) json[part.name] = breakdown.*part.member;
  return json;
}

Breakdown read_breakdown(const Json& json) {
  Breakdown breakdown;
  for (const BreakdownPart& part : kBreakdownParts) {
    if (json.is_object() && json.contains(part.name) && json[part.name].is_number_unsigned()) {
      breakdown.*part.member = json[part.name].get<Time>();
    }
  }
  return breakdown;
}

Json classes_json(const std::vector<CompressionClassResult>& classes) {
  Json list = Json::array();
  for (const CompressionClassResult& each : classes) {
    Json json{{"class", each.name},
              {"codec", each.codec},
              {"messages", each.messages},
              {"dense_bytes", each.dense_bytes},
              {"wire_bytes", each.wire_bytes},
              {"ratio", each.ratio()}};
    if (each.relative_error) json["relative_error"] = *each.relative_error;
    list.push_back(std::move(json));
  }
  return list;
}

Json gradient_sum_json(const GradientSumError& sum) {
  return {{"sums", sum.count},
          {"relative_error", sum.relative},
          {"relative_error_of_all_steps", sum.of_all_steps},
          {"between_replicas", sum.between_replicas}};
}

GradientSumError read_gradient_sum(const Json& json) {
  // What is not finite is null in a file.
  const auto number = [&json](const char* name) {
    return json.at(name).is_number() ? json.at(name).get<double>() : std::nan("");
  };
  GradientSumError sum;
  sum.count = json.at("sums").get<std::uint64_t>();
  sum.relative = number("relative_error");
  sum.of_all_steps = number("relative_error_of_all_steps");
  sum.between_replicas = number("between_replicas");
  return sum;
}

std::vector<CompressionClassResult> read_classes(const Json& json) {
  std::vector<CompressionClassResult> classes;
  for (const Json& item : json) {
    CompressionClassResult each;
    each.name = item.at("class").get<std::string>();
    each.codec = item.at("codec").get<std::string>();
    each.messages = item.at("messages").get<std::uint64_t>();
    each.dense_bytes = item.at("dense_bytes").get<std::uint64_t>();
    each.wire_bytes = item.at("wire_bytes").get<std::uint64_t>();
    const auto error = item.find("relative_error");
    if (error != item.end() && error->is_number()) each.relative_error = error->get<double>();
    classes.push_back(std::move(each));
  }
  return classes;
}

namespace {

Json error_json(const ReconstructionError& error) {
  return {{"tensors", error.count}, {"largest_difference", error.most}, {"largest_value", error.most_value}};
}

/// The curve itself is in loss.csv.
Json with_training(Json head, const TrainingResult& training) {
  Json made{{"steps", training.steps}, {"steps_done", training.curve.size()}};
  if (training.entropy_floor > 0) made["entropy_floor"] = training.entropy_floor;
  if (!training.curve.empty()) {
    made["first_loss"] = training.curve.front().loss;
    made["last_loss"] = training.curve.back().loss;
    made["final_loss"] = training.final_loss();
  }
  made["reconstruction"] = {{"forward", error_json(training.forward)},
                            {"backward", error_json(training.backward)}};
  if (training.gradient_sum.count > 0) made["gradient_sum"] = gradient_sum_json(training.gradient_sum);
  head["training"] = std::move(made);
  return head;
}

void append_result(Pieces& out, const Results& results, const Scenario& scenario, const Json& effective,
                   const ProgramInfo& program) {
  Json head{{"name", scenario.name},
            {"status", results.status},
            {"message", results.message},
            {"time_ps", results.time_ps},
            {"breakdown_ps", breakdown_json(results.breakdown)},
            {"payload_bytes", results.payload_bytes},
            {"events", results.events},
            {"seed", scenario.seed},
            {"program", {{"version", program.version}, {"sources", program.sources}}},
            {"scenario_hash", scenario_hash(effective, program)},
            {"warnings", results.warnings}};
  if (!results.compression_classes.empty()) {
    head["compression_classes"] = classes_json(results.compression_classes);
  }
  out.text = json_text(results.training ? with_training(head, *results.training) : head);
  if (!scenario.outputs.statistics) return;
  constexpr std::string_view kClose = "\n}\n", kNext = ",\n  ";
  out.text.resize(out.text.size() - kClose.size());
  if (results.compression.present) {
    out.text += kNext;
    JsonRecords all(out.text, "compression");
    all.begin();
    append_compression(all, results.compression);
    all.end();
    all.finish();
  }
  out.text += kNext;
  append_collectives(out, results);
  out.text += kNext;
  append_links(out, results, tells_wire(scenario));
  out.text += kNext;
  append_npus(out, results);
  out.text += kNext;
  append_io(out, results);
  out.text += kClose;
}

}  // namespace

std::string result_text(const Results& results, const Scenario& scenario, const Json& effective,
                        const ProgramInfo& program) {
  Pieces out;
  append_result(out, results, scenario, effective, program);
  return std::move(out.text);
}

namespace {

void append_links_csv(Pieces& out, const Results& results, const Scenario& scenario) {
  const bool wire = tells_wire(scenario);
  out.text = "name,from,to,bytes,bytes_per_s,busy_ps,stalled_ps,utilisation";
  out.text += wire ? ",wire_bytes,errors,resent_packets,resent_bytes,ack_bytes\n" : "\n";
  for (const LinkResult& link : results.links) {
    fmt::format_to(std::back_inserter(out.text), "{},{},{},{},{},{},{},{}", csv_field(link.name),
                   csv_field(link.from), csv_field(link.to), link.bytes, link.bytes_per_s, link.busy_ps,
                   link.stalled_ps, double_text(link.utilisation));
    if (wire) {
      fmt::format_to(std::back_inserter(out.text), ",{},{},{},{},{}", link.wire_bytes, link.errors,
                     link.resent_packets, link.resent_bytes, link.ack_bytes);
    }
    out.text += '\n';
    out.pass_on();
  }
}

}  // namespace

std::string links_csv(const Results& results, const Scenario& scenario) {
  Pieces out;
  append_links_csv(out, results, scenario);
  return std::move(out.text);
}

double TrainingResult::final_loss() const {
  const std::size_t count = std::min(kFinalSteps, curve.size());
  double sum = 0;
  for (std::size_t i = curve.size() - count; i < curve.size(); ++i) sum += curve[i].loss;
  return sum / static_cast<double>(count);
}

std::string loss_csv(const TrainingResult& training) {
  std::string text = "step,time_ps,loss\n";
  for (const TrainingPoint& point : training.curve) {
    text += fmt::format("{},{},{}\n", point.step, point.time_ps, csv_number(point.loss));
  }
  return text;
}

void write_results(ResultFolder& folder, const Results& results, const Scenario& scenario,
                   const Json& effective, const ProgramInfo& program) {
  folder.stage("effective-scenario.json", json_text(effective));
  if (scenario.outputs.statistics) {
    folder.stage("links.csv", [&](Sink& sink) {
      Pieces out(&sink);
      append_links_csv(out, results, scenario);
      sink.append(out.text);
    });
  } else {
    folder.drop("links.csv");
  }
  if (results.training) {
    folder.stage("loss.csv", loss_csv(*results.training));
  } else {
    folder.drop("loss.csv");
  }
  if (scenario.outputs.trace) {
    folder.stage("trace.json", [&results](Sink& sink) { write_trace(results, sink); });
  } else {
    folder.drop("trace.json");
  }
  folder.stage("result.json", [&](Sink& sink) {
    Pieces out(&sink);
    append_result(out, results, scenario, effective, program);
    sink.append(out.text);
  });
  folder.commit();
}

}  // namespace wafervp
