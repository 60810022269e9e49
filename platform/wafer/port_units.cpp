// SPDX-License-Identifier: Apache-2.0
#include "wafer/port_units.h"

#include <algorithm>
#include <string>

#include "scenario/words.h"
#include "wafervp/hal.h"
#include "workload/errors.h"

namespace wafervp {

namespace {

using compression::Cost;
using compression::Direction;

__extension__ using Wide = unsigned __int128;

bool is_switch(const Topology& topology, NodeId node) {
  const NodeKind kind = topology.nodes[node.value].kind;
  return kind == NodeKind::kFredL1 || kind == NodeKind::kFredUpper;
}

}  // namespace

PortUnits::PortUnits(const Scenario& scenario, const Topology& topology, const CompressionPlan& plan)
    : topology_(topology),
      own_buffers_(scenario.wafer.fabric.buffer_packets == 0 &&
                   scenario.wafer.fabric.flow_control.buffers == BufferRule::kRoundTrip) {
  const bool all = scenario.wafer.compression.links == CompressedLinks::kAll;
  for (const LinkSpec& link : topology.links) {
    compressed_.push_back(all || (is_switch(topology, link.from) && is_switch(topology, link.to)));
  }
  const CompressionUse use = plan.use(plan.classes().front());
  const compression::Shape packet = shape_of(use, kPacketBytes);
  const CompressionTiming timing(plan.rates());
  const Cost there = use.codec->compress_cost(packet, Direction::kBackward),
             back = use.codec->decompress_cost(packet, Direction::kBackward);
  packet_bytes_ = use.codec->wire_bytes(packet, Direction::kBackward);
  packet_ps_ = std::max({timing.busy(there), timing.busy(back), Time{1}});
  latency_ = 2 * timing.setup() + timing.fill(there, use.element) + timing.fill(back, use.element);
}

void PortUnits::apply(LinkConfig& config, const LinkSpec& link) const {
  // Rounded down: never faster than the wire, or a unit.
  const Wide on_wire = packet_bytes_ + config.header_bytes;
  const Wide by_wire = static_cast<Wide>(link.bytes_per_s) * kPacketBytes / std::max<Wide>(on_wire, 1);
  const Wide by_unit = static_cast<Wide>(kPacketBytes) * kPsPerSecond / packet_ps_;
  config.rate = Rate(static_cast<std::uint64_t>(std::max<Wide>(std::min(by_wire, by_unit), 1)));
  config.latency += latency_;
  if (!own_buffers_) return;
  // The topology's rule, for what a round trip takes now.
  const Time round_trip =
      2 * config.latency + (is_switch(topology_, link.to) ? topology_.switch_latency_ps : 0);
  const std::uint64_t packets = (config.rate.bytes(round_trip) + kPacketBytes) / kPacketBytes + 2;
  config.buffer_packets =
      std::max(config.buffer_packets, static_cast<std::uint32_t>(std::min<std::uint64_t>(packets, ~0u)));
}

std::uint64_t PortUnits::wire_bytes(std::uint64_t bytes) const {
  return static_cast<std::uint64_t>((static_cast<Wide>(bytes) * packet_bytes_ + kPacketBytes - 1) /
                                    kPacketBytes);
}

void PortUnits::add(const LinkStatistics& link, CompressionStatistics& sum) const {
  for (CompressionStatistics::Engine* engine : {&sum.egress, &sum.ingress}) {
    engine->messages += link.packets;
    engine->dense_bytes += link.bytes;
    engine->wire_bytes += wire_bytes(link.bytes);
    engine->busy_ps += link.packets * packet_ps_;
  }
}

void PortUnits::check(const CompressionPlan& plan, const Workload& workload) const {
  // Below one L1 switch nothing goes over a link between switches.
  const auto crosses = [&](const std::vector<NpuId>& members) {
    return std::any_of(members.begin(), members.end(), [&](NpuId one) {
      const LinkId up = topology_.outputs[one.value].front(),
                   first = topology_.outputs[members.front().value].front();
      return at(up) || topology_.link(up).to != topology_.link(first).to;
    });
  };
  const CompressionPlan::Class& one = plan.classes().front();
  for (const CompressionPlan::Class& other : plan.classes()) {
    if (other.codec == one.codec) continue;
    refuse(pointer_of(other),
           std::string("found ") + to_word(other.codec) + ", but " + one.name + " has " + to_word(one.codec) +
               ": all that goes over a link with units at its ends goes through one codec");
  }
  for (std::uint32_t n = 0; n < workload.programs.size(); ++n) {
    for (const wvp_command& command : workload.programs[n].commands) {
      if (command.kind != WVP_CMD_START || command.op == WVP_OP_BARRIER || command.op == WVP_OP_RECEIVE)
        continue;
      const bool alone = command.op == WVP_OP_SEND;
      const Communicator* group = alone ? nullptr : &workload.communicators[command.comm];
      if (plan.has_codec(command, group)) continue;
      if (!crosses(alone ? std::vector<NpuId>{NpuId(n), NpuId(command.root)} : group->members)) continue;
      refuse(pointer_of(one),
             std::string("found ") + to_word(one.codec) + ", but " + (alone ? "messages" : group->name) +
                 " without a codec go over the same links: all that goes over a link with units at its "
                 "ends goes through one codec");
    }
  }
}

}  // namespace wafervp
