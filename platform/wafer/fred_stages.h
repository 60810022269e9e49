// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "topology/fred_configurations.h"
#include "topology/fred_plan.h"
#include "topology/fred_slice.h"
#include "wafer/fred_use.h"
#include "wafer/tree_flows.h"

namespace wafervp {

/// What the switches of a FRED wafer are told of the flows that a plan carries: the parts that TreeFlows
/// knows, the ports of the μswitches that they meet, and the lane that some of them pass one at a time. A
/// lane is a link from a switch to itself, behind its other ports: the sum goes through it before it is
/// copied.
class FredStages final : public StageDirectory {
 public:
  /// `configurations` of the plan: the switches are structural; none: behavioural. All must outlive this.
  FredStages(const Topology& topology, const TreeFlows& trees, const FredUse& use, const FredPlan& plan,
             const FredConfigurations* configurations);

  StageConfig find(NodeId node, std::uint32_t group, unsigned input) const override;
  /// The lanes of a switch: how many rounds share a port's rate in each (FredLane::rounds).
  const std::vector<unsigned>& lanes(NodeId node) const;

 private:
  struct Flow {
    std::size_t phase, flow, set;
    std::size_t in_set;                   ///< place of the flow in its set
    std::optional<std::size_t> crossing;  ///< of the set's routes; none inside one L1
    std::optional<unsigned> lane_node;    ///< switch (number in FredSlice) and number of its lane there
    unsigned lane = 0;
  };
  /// A flow's ports at one switch: chip of the root, and ports of its network by port of the switch.
  struct Ports {
    std::size_t chip;
    std::vector<unsigned> inputs, outputs;
  };
  unsigned ports(NodeId node) const;
  bool waits(const Flow& flow, unsigned at, NodeId node, std::uint32_t group, const StageConfig& stage) const;
  Ports network_ports(const Flow& flow, unsigned at, const StageConfig& stage) const;
  unsigned network_port(const Flow& flow, unsigned at, unsigned port, bool input, std::size_t& chip) const;

  const Topology& topology_;
  const TreeFlows& trees_;
  const FredPlan& plan_;
  const FredConfigurations* configurations_;
  FredSlice slice_;
  std::map<std::uint32_t, Flow> flows_;              ///< by handle
  std::map<unsigned, std::vector<unsigned>> lanes_;  ///< by switch
};

}  // namespace wafervp
