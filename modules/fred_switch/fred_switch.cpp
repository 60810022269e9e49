// SPDX-License-Identifier: Apache-2.0
#include "fred_switch/fred_switch.h"

#include <string>
#include <utility>

namespace wafervp {
namespace {

RouterConfig with_lanes(RouterConfig config, std::size_t lanes) {
  config.inputs += static_cast<unsigned>(lanes);
  config.outputs += static_cast<unsigned>(lanes);
  return config;
}

}  // namespace

FredSwitch::FredSwitch(sc_core::sc_module_name name, const RouterConfig& config,
                       std::unique_ptr<RoutingAlgorithm> routing, NodeId node,
                       const StageDirectory& directory, Calendar& calendar, MessagePool& messages,
                       FlowTable& flows, const FredLanes& lanes, Arena* arena)
    : TreeRouter(name, with_lanes(config, lanes.bytes_per_s.size()), std::move(routing), node, directory,
                 calendar, messages, flows) {
  for (unsigned k = 0; k < lanes.bytes_per_s.size(); ++k) {
    LinkConfig link;
    link.id = LinkId(lanes.first_id.value + k);
    link.rate = Rate(lanes.bytes_per_s[k]);
    link.latency = 0;
    link.buffer_packets = 2;  // no way of credits to cover
    link.train_packets = lanes.train_packets;
    link.packet_grain = lanes.packet_grain;
    lanes_.push_back(std::make_unique<Link>(("lane" + std::to_string(k)).c_str(), link, calendar, arena));
    out[config.outputs + k].bind(lanes_.back()->in);
    lanes_.back()->out.bind(in[config.inputs + k]);
    lanes_.back()->set_target(*this, config.inputs + k);
    set_output_link(config.outputs + k, *lanes_.back());
  }
}

}  // namespace wafervp
