// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "router/tree_router.h"

namespace wafervp {

/// A FRED switch, behavioural: unicast flows pass as through a plain switch, and configured flows are
/// summed and copied. One merged lane a port.
class FredSwitch : public TreeRouter {
 public:
  FredSwitch(sc_core::sc_module_name name, const RouterConfig& config,
             std::unique_ptr<RoutingAlgorithm> routing, NodeId node, const StageDirectory& directory,
             Calendar& calendar, MessagePool& messages, FlowTable& flows);
};

}  // namespace wafervp
