// SPDX-License-Identifier: Apache-2.0
#include "workload/stream_paces.h"

#include "topology/trees.h"

namespace wafervp {

StreamPaces stream_paces(const Scenario& scenario, const Topology& topology,
                         const std::vector<GroupName>& groups) {
  if (scenario.wafer.io.pacing == IoPacing::kNone) return {};
  std::vector<std::vector<NpuId>> members;
  for (const GroupName& group : groups) {
    members.push_back(group.members);
    for (std::uint32_t k = 0; k < topology.io.size(); ++k) members.back().emplace_back(topology.npus + k);
  }
  const StreamRates rates = stream_rates(topology, members);
  return {rates.load, rates.store, rates.both};
}

}  // namespace wafervp
