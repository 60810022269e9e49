// SPDX-License-Identifier: Apache-2.0
#include "wafer/fred_routing.h"

#include <set>

#include "scenario/errors.h"
#include "topology/fred_built.h"

namespace wafervp {

FredRouting::FredRouting(const Scenario& scenario, const Topology& topology, const Workload& workload,
                         const TreeFlows& trees)
    : use(fred_use(topology, workload, trees)),
      plan(plan_phases(fred_wafer_of(scenario.wafer.fabric.fred, topology), use.phases,
                       scenario.wafer.fabric.fred.remedy)) {
  if (scenario.detail.fred_switch != "structural") return;
  configurations = compile(plan, scenario.wafer.fabric.fred.store_bytes);
  try {
    check_stores(*configurations);
  } catch (const ConfigurationStoreFull& full) {
    throw ScenarioError({Issue{"", 0, 0, "/wafer/fabric/fred/store_bytes", full.what()}});
  }
}

void relieve(const Scenario& scenario, const Topology& topology, Workload& workload) {
  if (topology.kind != FabricKind::kFred || scenario.wafer.fabric.fred.remedy != FredRemedy::kEndpointRing) {
    return;
  }
  const TreeFlows trees(topology, workload.communicators);
  const FredRouting routing(scenario, topology, workload, trees);
  std::set<std::size_t> out;
  for (std::size_t p = 0; p < routing.plan.phases.size(); ++p) {
    for (const std::size_t flow : routing.plan.phases[p].out_of_network) {
      out.insert(routing.use.communicators[p][flow]);
    }
  }
  for (const std::size_t group : out) workload.communicators[group].in_network = false;
  for (RankProgram& program : workload.programs) {
    for (wvp_command& command : program.commands) {
      const bool grouped =
          command.kind == WVP_CMD_START && command.op != WVP_OP_SEND && command.op != WVP_OP_RECEIVE;
      if (grouped && out.count(command.comm) != 0 && command.algorithm == WVP_ALG_IN_SWITCH)
        command.algorithm = WVP_ALG_AUTO;
    }
  }
  workload.warnings.insert(workload.warnings.end(), routing.plan.warnings.begin(),
                           routing.plan.warnings.end());
}

std::vector<std::string> routing_warnings(const Scenario& scenario, const Topology& topology,
                                          const Workload& workload) {
  if (topology.kind != FabricKind::kFred) return {};
  const TreeFlows trees(topology, workload.communicators);
  return FredRouting(scenario, topology, workload, trees).plan.warnings;
}

}  // namespace wafervp
