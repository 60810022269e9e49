// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/unordered_map.hpp>
#include <deque>
#include <vector>

#include "core/fabric_protocol.h"

namespace wafervp {

/// Opens flows: walks from the sender through the nodes, which choose their output ports, and makes
/// the flow's lane at each link. A flow is opened at its first use and stays.
class FlowTable {
 public:
  /// `entry` is the node that the accelerator of `npu` injects into (its router, or itself where a link
  /// leads to a switch); `input` is the port of that node.
  void set_entry(NpuId npu, FabricNode& entry, unsigned input);

  /// The flow from `source` to `destination` in `traffic_class`. `source` != `destination`.
  /// Throws std::runtime_error when a node has no way to the destination.
  Flow& unicast(NpuId source, NpuId destination, std::uint8_t traffic_class);
  /// The flow of `source` into the in-network flow `group` (see wvp_comm.flows).
  Flow& into_group(NpuId source, std::uint32_t group, std::uint8_t traffic_class);
  /// Sources make the packets of the in-network flow `group` at this pace; told before it is opened.
  void set_pace(std::uint32_t group, const Pace& pace) { paces_.insert_or_assign(group, pace); }
  /// Opens the part of an in-network flow that leaves `node` by `output`; at the links it counts as
  /// traffic of the node's port `input`.
  Flow& from_stage(FabricNode& node, unsigned output, unsigned input, std::uint32_t group,
                   std::uint8_t traffic_class);

  /// Opens the part of an in-network flow that goes to the accelerator at its node, over no link.
  Flow& at_stage(std::uint32_t group, std::uint8_t traffic_class);

  std::size_t size() const { return flows_.size(); }

 private:
  struct Entry {
    FabricNode* node = nullptr;
    unsigned input = 0;
  };
  Flow& create(NpuId source, NpuId destination, std::uint32_t group, std::uint8_t traffic_class);
  void walk(Flow& flow, FabricNode& node, unsigned input);

  std::vector<Entry> entries_;
  std::deque<Flow> flows_;
  boost::unordered_map<std::uint64_t, Flow*> index_;
  boost::unordered_map<std::uint32_t, Pace> paces_;  ///< by in-network flow
};

}  // namespace wafervp
