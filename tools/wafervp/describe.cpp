// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "describe_compression.h"
#include "describe_fred.h"
#include "describe_routes.h"
#include "errors.h"
#include "format.h"
#include "options.h"
#include "output.h"
#include "run/observer.h"
#include "scenario/text.h"
#include "status.h"
#include "table.h"
#include "topology/deadlock.h"
#include "topology/fred_built.h"
#include "topology/placement.h"
#include "topology/topology.h"
#include "wafer/fred_routing.h"
#include "workload/programs.h"

namespace wafervp::cli {
namespace {

/// What a scenario builds.
struct Plan {
  const Scenario& scenario;
  const Topology& topology;
  const Placement& placement;
  const Workload& workload;
};

const char* node_kind(NodeKind kind) {
  switch (kind) {
    case NodeKind::kNpu:
      return "NPU";
    case NodeKind::kIoController:
      return "I/O controller";
    case NodeKind::kSwitch:
      return "switch";
    case NodeKind::kFredL1:
      return "FRED L1 switch";
    case NodeKind::kFredUpper:
      return "FRED switch above L1";
  }
  return "";
}

std::string describe_modules(const Plan& plan) {
  std::map<NodeKind, unsigned> nodes;
  for (const NodeSpec& node : plan.topology.nodes) ++nodes[node.kind];
  Table table({"module", "number"});
  table.add({"accelerator", std::to_string(plan.topology.npus)});
  for (const auto& [kind, count] : nodes) {
    if (kind != NodeKind::kNpu) table.add({node_kind(kind), std::to_string(count)});
  }
  const FabricKind fabric = plan.topology.kind;
  if (fabric == FabricKind::kMesh2d || fabric == FabricKind::kRing) {
    table.add({"router", std::to_string(plan.topology.npus)});
  }
  table.add({"link", std::to_string(plan.topology.links.size())});
  return "\nmodules\n" + table.text("  ");
}

std::string describe_links(const Topology& topology) {
  constexpr std::uint32_t kNoBound = ~0u;  // gateways of site links
  using Class = std::tuple<std::string, std::string, std::uint64_t, Time, std::uint32_t>;
  std::vector<std::pair<Class, std::vector<std::string>>> classes;
  for (const LinkSpec& link : topology.links) {
    const Class key{node_kind(topology.nodes[link.from.value].kind),
                    node_kind(topology.nodes[link.to.value].kind), link.bytes_per_s, link.latency_ps,
                    link.buffer_packets};
    auto found =
        std::find_if(classes.begin(), classes.end(), [&key](const auto& c) { return c.first == key; });
    if (found == classes.end()) found = classes.insert(classes.end(), {key, {}});
    found->second.push_back(link.name);
  }
  Table table({"from", "to", "number", "rate", "latency", "buffer", "names"});
  table.left(1);
  table.left(6);
  for (const auto& [key, names] : classes) {
    const auto& [from, to, rate, latency, buffer] = key;
    table.add({from, to, std::to_string(names.size()), format_rate(static_cast<double>(rate)),
               format_time(latency), buffer == kNoBound ? "no bound" : fmt::format("{} packets", buffer),
               join_words(names, 3)});
  }
  return "\nlinks\n" + table.text("  ");
}

struct Counts {
  unsigned compute = 0;
  std::map<unsigned, unsigned> operations;
};

Counts count_commands(const RankProgram& program) {
  Counts counts;
  for (const wvp_command& command : program.commands) {
    if (command.kind == WVP_CMD_COMPUTE || command.kind == WVP_CMD_COMPUTE_ASYNC) ++counts.compute;
    if (command.kind == WVP_CMD_START) ++counts.operations[command.op];
  }
  return counts;
}

std::string operations_text(const Counts& counts) {
  std::string text;
  const auto add = [&](unsigned number, const char* name) {
    if (number > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", number, name);
  };
  add(counts.compute, "compute");
#define WAFERVP_ADD(upper, value, word)                              \
  {                                                                  \
    const auto found = counts.operations.find(value);                \
    add(found == counts.operations.end() ? 0 : found->second, word); \
  }
  WVP_OPERATIONS(WAFERVP_ADD)
#undef WAFERVP_ADD
  return text;
}

std::string describe_ranks(const Plan& plan) {
  const ParallelismSpec& p = plan.scenario.workload.parallelism;
  Table table({"rank", "mp", "dp", "pp", "NPU", "weights", "gradients", "optimiser", "activations", "memory",
               "operations"});
  table.left(10);
  for (std::size_t rank = 0; rank < plan.placement.npu_of_rank.size(); ++rank) {
    const std::uint32_t npu = plan.placement.npu_of_rank[rank].value;
    const MemoryNeed& need = plan.workload.memory[npu];
    const auto bytes = [](std::uint64_t n) { return n > 0 ? format_bytes(static_cast<double>(n)) : ""; };
    table.add({std::to_string(rank), std::to_string(rank % p.mp), std::to_string(rank / p.mp / p.pp),
               std::to_string(rank / p.mp % p.pp), plan.topology.nodes[npu].name, bytes(need.weights),
               bytes(need.gradients), bytes(need.optimiser), bytes(need.activations), bytes(need.total()),
               operations_text(count_commands(plan.workload.programs[npu]))});
  }
  const auto& rings = plan.placement.worst_link_rings;
  return fmt::format(
             "\nranks: mp {} x dp {} x pp {}, rank = (dp * PP + pp) * MP + mp; an NPU has {} of memory\n",
             p.mp, p.dp, p.pp, format_bytes(static_cast<double>(plan.scenario.wafer.npu.hbm_bytes))) +
         table.text("  ") +
         fmt::format("\nrings on the most loaded link: mp {}, dp {}, pp {}\n", rings[0], rings[2], rings[1]);
}

std::string describe_communicators(const Workload& workload) {
  Table table({"communicator", "kind", "size", "grid", "NPUs"});
  table.left(1);
  table.left(4);
  for (const Communicator& comm : workload.communicators) {
    std::vector<std::string> members;
    for (const NpuId npu : comm.members) members.push_back(std::to_string(npu.value));
    table.add({comm.name, traffic_name(comm.kind), std::to_string(comm.members.size()),
               comm.dim_x > 0 ? fmt::format("{} x {}", comm.dim_x, comm.dim_y) : "",
               join_words(members, 20)});
  }
  return table.empty() ? "" : "\ncommunicators\n" + table.text("  ");
}

std::uint32_t parse_rank(const std::string& text, const std::string& typed, std::size_t ranks) {
  std::uint32_t rank = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, rank);
  if (parsed.ec != std::errc() || parsed.ptr != end || rank >= ranks) {
    throw UsageError(
        fmt::format("--between {}: expected FROM:TO, two ranks of 0..{}", quote(typed), ranks - 1));
  }
  return rank;
}

std::string route_line(const Plan& plan, std::uint32_t from, std::uint32_t to) {
  const NpuId a = plan.placement.npu_of_rank[from], b = plan.placement.npu_of_rank[to];
  std::string text = fmt::format("  {} -> {} (npu{} -> npu{}):", from, to, a.value, b.value);
  Time latency = 0;
  for (const LinkId id : route(plan.topology, a, b)) {
    text += ' ' + plan.topology.link(id).name;
    latency += plan.topology.link(id).latency_ps;
  }
  return text + (a == b ? " the same NPU\n" : ", " + format_time(latency) + '\n');
}

std::string describe_between(const Plan& plan, const std::string& between) {
  const auto ranks = static_cast<std::uint32_t>(plan.placement.npu_of_rank.size());
  const std::size_t colon = std::min(between.find(':'), between.size());
  const std::string to = colon < between.size() ? between.substr(colon + 1) : "";
  return "\nroute between ranks\n" + route_line(plan, parse_rank(between.substr(0, colon), between, ranks),
                                                parse_rank(to, between, ranks));
}

std::string describe_routes(const Plan& plan) {
  if (plan.topology.kind == FabricKind::kFred) {
    return describe_fred_routes(plan.scenario, plan.topology, plan.placement, plan.workload);
  }
  const auto ranks = static_cast<std::uint32_t>(plan.placement.npu_of_rank.size());
  std::string text = "\nroutes between ranks\n";
  for (std::uint32_t from = 0; from < ranks; ++from) {
    for (std::uint32_t to = 0; to < ranks; ++to) {
      if (from != to) text += route_line(plan, from, to);
    }
  }
  return text;
}

std::string describe(const std::string& title, const Document& document, const DescribeOptions& options) {
  std::vector<Issue> warnings;
  const Scenario scenario = read_scenario(document, &warnings);
  print_warnings(warnings);
  try {
    const Topology topology = build_topology(scenario.wafer);
    std::vector<std::string> told;
    const Placement placement = place_workers(scenario.wafer, topology, scenario.workload, told);
    Workload workload = build_workload(scenario, topology, placement);
    relieve(scenario, topology, workload);
    const Plan plan{scenario, topology, placement, workload};
    std::string text = title + '\n' + describe_modules(plan) + describe_links(topology) +
                       describe_ranks(plan) + describe_communicators(workload) +
                       describe_fred(scenario, topology, workload) +
                       describe_compression(scenario, topology, workload) +
                       "\nroutes: " + describe_cycles(topology, scenario.wafer.io.channels) + '\n';
    told.insert(told.end(), workload.warnings.begin(), workload.warnings.end());
    const std::vector<std::string> conflicts = routing_warnings(scenario, topology, workload);
    told.insert(told.end(), conflicts.begin(), conflicts.end());
    for (const std::string& warning : told) note("warning: " + title + ": " + warning + '\n');
    if (options.routes) text += describe_routes(plan);
    if (!options.between.empty()) text += describe_between(plan, options.between);
    return text;
  } catch (const ScenarioError& error) {
    throw ScenarioError(locate(document, error.issues()));
  }
}

}  // namespace

int describe_command(const DescribeOptions& options) {
  const Document document = read_document(options.file, options.overrides);
  if (!is_study(document)) {
    if (!options.variant.empty()) throw UsageError("--variant: " + options.file + " is a scenario, no study");
    print(describe(title_of(read_scenario(document).name, options.file), document, options));
    return kOk;
  }
  const Study study = read_study(document);
  std::vector<std::string> names;
  std::string text;
  for (const Variant& variant : study.variants) {
    names.push_back(variant.name);
    if (!options.variant.empty() && options.variant != variant.name) continue;
    if (!text.empty()) text += '\n';
    text +=
        describe(title_of(study.name, options.file) + ", variant " + variant.name, variant.document, options);
  }
  if (text.empty()) {
    const std::string near = nearest_word(options.variant, names);
    throw UsageError("--variant " + quote(options.variant) + ": expected one of " + join_words(names) +
                     (near.empty() ? "" : "; did you mean " + near + '?'));
  }
  print(text);
  return kOk;
}

}  // namespace wafervp::cli
