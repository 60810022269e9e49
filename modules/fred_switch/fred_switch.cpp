// SPDX-License-Identifier: Apache-2.0
#include "fred_switch/fred_switch.h"

#include <utility>

namespace wafervp {

FredSwitch::FredSwitch(sc_core::sc_module_name name, const RouterConfig& config,
                       std::unique_ptr<RoutingAlgorithm> routing, NodeId node,
                       const StageDirectory& directory, Calendar& calendar, MessagePool& messages,
                       FlowTable& flows)
    : TreeRouter(name, config, std::move(routing), node, directory, calendar, messages, flows) {}

}  // namespace wafervp
