// SPDX-License-Identifier: Apache-2.0
#include "wafer/link_config.h"

#include <array>

#include "core/split_mix.h"
#include "link/path_holders.h"
#include "topology/picoseconds.h"
#include "wafervp/registers.h"

namespace wafervp {

namespace {

/// MP, PP, DP, then streams of weights, which have the class of control.
Preemption mp_pp_dp(const Scenario& scenario, NodeKind from) {
  Preemption made;
  made.level[WVP_CLASS_MP] = 1;
  made.level[WVP_CLASS_PP] = 2;
  made.level[WVP_CLASS_DP] = 3;
  made.level[WVP_CLASS_CONTROL] = 4;
  if (from == NodeKind::kFredL1 || from == NodeKind::kFredUpper) {
    made.reconfiguration = ps_of_ns(scenario.wafer.fabric.flow_control.reconfiguration_ns);
  }
  return made;
}

/// Each link draws its errors for itself.
GoBackN go_back_n(const Scenario& scenario, const LinkSpec& link, LinkId id) {
  const FabricSpec& fabric = scenario.wafer.fabric;
  GoBackN made;
  made.on = true;
  made.charged = fabric.flow_control.acknowledgements == Acknowledgements::kCharged;
  made.errors.bit_error_rate = fabric.errors.bit_error_rate;
  made.errors.seed = SplitMix(scenario.seed ^ (std::uint64_t{id.value} << 32)).next();
  for (const ScriptedError& error : fabric.errors.script) {
    if (error.link == link.name) made.errors.script.push_back(error.packet);
  }
  return made;
}

}  // namespace

void hold_classes(const Scenario& scenario, AcceleratorConfig& config) {
  const FlowControlSpec& flow_control = scenario.wafer.fabric.flow_control;
  if (flow_control.preemption == PreemptionKind::kOff) return;
  config.hold_quiet = ps_of_ns(flow_control.hold_ns);
  config.class_level = mp_pp_dp(scenario, NodeKind::kNpu).level;
}

std::shared_ptr<PathHolders> holders_of_wafer(const Scenario& scenario) {
  const FlowControlSpec& flow_control = scenario.wafer.fabric.flow_control;
  return flow_control.hold_scope == HoldScope::kWafer ? std::make_shared<PathHolders>() : nullptr;
}

LinkConfig link_config(const Scenario& scenario, const Topology& topology, LinkId id) {
  const FlowControlSpec& flow_control = scenario.wafer.fabric.flow_control;
  const LinkSpec& link = topology.link(id);
  LinkConfig config;
  config.id = id;
  config.rate = Rate(link.bytes_per_s).under_header(kPacketBytes, flow_control.header_bytes);
  config.latency = link.latency_ps;
  config.buffer_packets = link.buffer_packets;
  config.train_packets = scenario.detail.train_packets;
  config.packet_grain = scenario.detail.grain == Grain::kPacket;
  config.header_bytes = flow_control.header_bytes;
  if (flow_control.preemption == PreemptionKind::kMpPpDp) {
    config.preemption = mp_pp_dp(scenario, topology.nodes[link.from.value].kind);
  }
  if (flow_control.retransmission == Retransmission::kGoBackN) {
    config.go_back_n = go_back_n(scenario, link, id);
  }
  return config;
}

SiteLinkConfig site_link_config(const Scenario& scenario, const Topology& topology, LinkId id) {
  const SitesSpec& sites = scenario.wafer.sites;
  const LinkSpec& link = topology.link(id);
  SiteLinkConfig config;
  config.id = id;
  config.rate = Rate(link.bytes_per_s);
  config.latency = link.latency_ps;
  config.latency_occupies = sites.latency == SiteLatency::kOccupies;
  config.distribution = sites.jitter == JitterKind::kUniform  ? Jitter::kUniform
                        : sites.jitter == JitterKind::kNormal ? Jitter::kNormal
                                                              : Jitter::kNone;
  config.jitter = ps_of_ns(sites.jitter_ns);
  config.seed = SplitMix(scenario.seed ^ (std::uint64_t{id.value} << 32)).next();
  return config;
}

std::vector<std::pair<LinkId, LinkId>> link_pairs(const Topology& topology) {
  std::vector<std::pair<LinkId, LinkId>> pairs;
  for (std::uint32_t k = 0; k < topology.links.size(); ++k) {
    for (const LinkId back : topology.outputs[topology.links[k].to.value]) {
      if (topology.link(back).to == topology.links[k].from) pairs.emplace_back(LinkId(k), back);
    }
  }
  return pairs;
}

}  // namespace wafervp
