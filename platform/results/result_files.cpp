// SPDX-License-Identifier: Apache-2.0
#include "results/result_files.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "results/breakdown.h"
#include "results/csv.h"
#include "results/hash.h"
#include "results/json_text.h"

namespace wafervp {
namespace {

Json collectives_json(const Results& results) {
  Json list = Json::array();
  for (const CollectiveResult& c : results.collectives) {
    list.push_back({{"operation", c.operation},
                    {"algorithm", c.algorithm},
                    {"communicator", c.communicator},
                    {"kind", c.kind},
                    {"ranks", c.ranks},
                    {"count", c.count},
                    {"bytes", c.bytes},
                    {"time_ps", c.time_ps},
                    {"min_ps", c.min_ps},
                    {"max_ps", c.max_ps},
                    {"algorithm_bytes_per_s", c.algorithm_bytes_per_s},
                    {"bus_bytes_per_s", c.bus_bytes_per_s},
                    {"bound_ps", c.bound_ps}});
  }
  return list;
}

Json links_json(const Results& results) {
  Json list = Json::array();
  for (const LinkResult& link : results.links) {
    list.push_back({{"name", link.name},
                    {"from", link.from},
                    {"to", link.to},
                    {"bytes", link.bytes},
                    {"bytes_per_s", link.bytes_per_s},
                    {"busy_ps", link.busy_ps},
                    {"stalled_ps", link.stalled_ps},
                    {"utilisation", link.utilisation}});
  }
  return list;
}

Json npus_json(const Results& results) {
  Json list = Json::array();
  for (const NpuResult& npu : results.npus) {
    Json item{{"npu", npu.npu},
              {"has_program", npu.has_program},
              {"finished", npu.finished},
              {"end_ps", npu.end_ps}};
    for (const BreakdownPart& part : kBreakdownParts) {
      item[std::string(part.name) + "_ps"] = npu.breakdown.*part.member;
    }
    item["memory_peak_bytes"] = npu.memory_peak_bytes;
    item["sent_bytes"] = npu.sent_bytes;
    item["received_bytes"] = npu.received_bytes;
    list.push_back(std::move(item));
  }
  return list;
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

Json result_json(const Results& results, const Scenario& scenario, const Json& effective,
                 const ProgramInfo& program) {
  Json json{{"name", scenario.name},
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
  if (scenario.outputs.statistics) {
    json["collectives"] = collectives_json(results);
    json["links"] = links_json(results);
    json["npus"] = npus_json(results);
  }
  return json;
}

std::string links_csv(const Results& results) {
  std::string out = "name,from,to,bytes,bytes_per_s,busy_ps,stalled_ps,utilisation\n";
  for (const LinkResult& link : results.links) {
    fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{}\n", csv_field(link.name),
                   csv_field(link.from), csv_field(link.to), link.bytes, link.bytes_per_s, link.busy_ps,
                   link.stalled_ps, double_text(link.utilisation));
  }
  return out;
}

void write_results(ResultFolder& folder, const Results& results, const Scenario& scenario,
                   const Json& effective, const ProgramInfo& program) {
  folder.stage("effective-scenario.json", json_text(effective));
  if (scenario.outputs.statistics) {
    folder.stage("links.csv", links_csv(results));
  } else {
    folder.drop("links.csv");
  }
  if (scenario.outputs.trace) {
    folder.stage("trace.json", [&results](Sink& sink) { write_trace(results, sink); });
  } else {
    folder.drop("trace.json");
  }
  folder.stage("result.json", json_text(result_json(results, scenario, effective, program)));
  folder.commit();
}

}  // namespace wafervp
