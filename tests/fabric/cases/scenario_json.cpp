// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "cases/cases.h"

namespace fabric_cases {

std::string scenario_json(const FabricCase& fabric_case, const std::string& grain) {
  using Json = nlohmann::ordered_json;
  Json fabric;
  switch (fabric_case.fabric) {
    case Fabric::kMesh2d:
      fabric["kind"] = "mesh2d";
      fabric["mesh2d"] = {{"columns", fabric_case.columns},
                          {"rows", fabric_case.rows},
                          {"link_bytes_per_s", fabric_case.bytes_per_s},
                          {"link_latency_ns", fabric_case.latency_ns}};
      break;
    case Fabric::kRing:
    case Fabric::kSwitch: {
      const char* kind = fabric_case.fabric == Fabric::kRing ? "ring" : "switch";
      fabric["kind"] = kind;
      fabric[kind] = {{"link_bytes_per_s", fabric_case.bytes_per_s},
                      {"link_latency_ns", fabric_case.latency_ns}};
      if (fabric_case.fabric == Fabric::kSwitch)
        fabric[kind]["switch_latency_ns"] = fabric_case.switch_latency_ns;
      break;
    }
    case Fabric::kFred:
      fabric["kind"] = "fred";
      fabric["fred"] = {{"l1_switches", fabric_case.rows},
                        {"npus_per_l1", fabric_case.columns},
                        {"npu_bytes_per_s", fabric_case.bytes_per_s},
                        {"uplink_bytes_per_s", fabric_case.uplink_bytes_per_s},
                        {"link_latency_ns", fabric_case.latency_ns},
                        {"switch_latency_ns", fabric_case.switch_latency_ns},
                        {"in_network", fabric_case.all_reduce.has_value()}};
      break;
  }
  if (fabric_case.preemption) {
    fabric["flow_control"] = {{"preemption", "mp_pp_dp"},
                              {"reconfiguration_ns", fabric_case.reconfiguration_ps / 1000.0},
                              {"hold_ns", 0}};
  }
  fabric["buffer_packets"] = fabric_case.buffer_packets;
  if (!fabric_case.link_rates.empty()) fabric["link_rates"] = fabric_case.link_rates;

  Json workload = {{"kind", "collective"},
                   {"parallelism", {{"mp", 1}, {"dp", fabric_case.npus()}, {"pp", 1}}},
                   {"placement", {{"kind", "row_major"}}}};
  if (fabric_case.all_reduce) {
    const AllReduceCase& all_reduce = *fabric_case.all_reduce;
    Json start = Json::object();
    for (const auto& [npu, ns] : all_reduce.start_ns) start[std::to_string(npu)] = ns;
    workload["collective"] = {{"operation", "all_reduce"},
                              {"algorithm", all_reduce.algorithm},
                              {"bytes", all_reduce.bytes},
                              {"type", "fp16"},
                              {"chunks", 1},
                              {"groups", "all"},
                              {"start_ns", start}};
  }
  if (!fabric_case.messages.empty()) {
    Json messages = Json::array();
    for (const MessageCase& message : fabric_case.messages) {
      messages.push_back({{"from", message.from},
                          {"to", message.to},
                          {"bytes", message.bytes},
                          {"start_ns", message.start_ns}});
    }
    workload["messages"] = messages;
  }
  const Json scenario = {{"version", 1},
                         {"name", fabric_case.name},
                         {"comment", fabric_case.why},
                         {"wafer", {{"npus", fabric_case.npus()}, {"fabric", fabric}}},
                         {"workload", workload},
                         {"detail", {{"grain", grain}}},
                         {"memory", {{"check", "off"}}}};
  return scenario.dump(2) + "\n";
}

}  // namespace fabric_cases
