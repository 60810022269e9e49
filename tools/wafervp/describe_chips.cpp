// SPDX-License-Identifier: Apache-2.0
#include "describe_chips.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "errors.h"
#include "topology/fred_phases.h"
#include "topology/fred_routes.h"

namespace wafervp::cli {
namespace {

// The paper's construction (arXiv 2406.19580): five slices, of which each L1 chip has four ports towards L2.
constexpr unsigned kUpPorts = 4, kSlices = 5;

FredWafer wafer_of(const Topology& topology, const ChipOptions& options) {
  FredWafer wafer;
  wafer.l1s.assign(topology.rows, FredL1{topology.columns, 0});
  wafer.up_ports = topology.rows > 1 ? kUpPorts : 0;
  wafer.middles = options.middles;
  wafer.l2_chips = topology.rows > 1 ? options.l2_chips : 1;
  wafer.slices = kSlices;
  try {
    check(wafer);
  } catch (const std::invalid_argument& error) {
    throw UsageError(
        fmt::format("--middles {} --l2-chips {}: {}", options.middles, options.l2_chips, error.what()));
  }
  return wafer;
}

std::string rounds_text(const std::vector<FredFlow>& flows,
                        const std::vector<std::vector<std::size_t>>& rounds) {
  std::string text = fmt::format("  one after the other they take {} rounds:\n", rounds.size());
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    text += fmt::format("    {}:", round + 1);
    for (const std::size_t flow : rounds[round]) text += ' ' + flows[flow].name;
    text += '\n';
  }
  return text +
         "  other ways out: more middle networks (--middles), a ring between the NPUs (in_network false), "
         "another placement\n";
}

std::string indented(const std::string& lines) {
  std::string text;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    text += "  " + lines.substr(at, end - at) + '\n';
    at = end + 1;
  }
  return text;
}

}  // namespace

std::string describe_chips(const Topology& topology, const Placement& placement,
                           const ParallelismSpec& parallelism, const ChipOptions& options) {
  if (topology.kind != FabricKind::kFred) return "";
  const FredWafer wafer = wafer_of(topology, options);
  std::string text = fmt::format("\nchips: {} slices, each of", kSlices);
  for (const auto& [shape, count] : count_chips(wafer)) {
    text += fmt::format(" {} {}", count / kSlices, name_of(shape));
  }
  text += "; I/O controllers are not counted\n";
  for (const FredPhase& phase : fred_phases(parallelism, placement)) {
    const FredRoutes routes = route(wafer, phase.flows);
    text += fmt::format("\nphase {}: {} flows at the same time{}\n", phase.name, phase.flows.size(),
                        routes.status == RoutingStatus::kRouted ? "" : ", which do not go together");
    text += indented(describe(wafer, phase.flows, routes));
    if (routes.status != RoutingStatus::kRouted)
      text += rounds_text(phase.flows, serialise(wafer, phase.flows));
  }
  return text;
}

}  // namespace wafervp::cli
