// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/arena.h"
#include "link/link.h"
#include "router/tree_router.h"

namespace wafervp {

/// Lanes of a FRED switch: links without latency from the switch to itself, behind its other ports. Flows
/// that its μswitches cannot carry at the same time share one, so that their packets take turns.
struct FredLanes {
  std::vector<std::uint64_t> bytes_per_s;  ///< of each
  std::uint32_t train_packets = 4;
  bool packet_grain = false;
  LinkId first_id;  ///< their order on the calendar, behind all links
};

/// A FRED switch: unicast flows pass as through a plain switch, and configured flows are summed and copied,
/// as the arithmetic of their stage says. One merged lane a port.
class FredSwitch : public TreeRouter {
 public:
  /// `config`: without the ports of the lanes.
  FredSwitch(sc_core::sc_module_name name, const RouterConfig& config,
             std::unique_ptr<RoutingAlgorithm> routing, NodeId node, const StageDirectory& directory,
             Calendar& calendar, MessagePool& messages, FlowTable& flows, const FredLanes& lanes = {},
             Arena* arena = nullptr);

  /// What the lanes have carried, for tests.
  const std::vector<std::unique_ptr<Link>>& lanes() const { return lanes_; }

 private:
  std::vector<std::unique_ptr<Link>> lanes_;
};

}  // namespace wafervp
