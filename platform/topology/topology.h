// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/ids.h"
#include "core/time.h"
#include "scenario/scenario.h"

namespace wafervp {

enum class NodeKind { kNpu, kSwitch, kFredL1, kFredL2 };

struct NodeSpec {
  NodeKind kind;
  std::string name;            // "npu7", "l1_2", "l2", "switch"
  std::uint32_t x = 0, y = 0;  // place in the mesh, or (index inside, L1 number)
};
/// A directed link. Ports of a node count its links in the order of this list, inputs and outputs
/// apart; port 0 of an NPU's router is the accelerator, its links follow from 1.
struct LinkSpec {
  NodeId from, to;
  std::uint64_t bytes_per_s;
  Time latency_ps;
  std::uint32_t buffer_packets;  // of one flow, at the receiving end
  std::string name;              // "x2y1->x3y1", "npu3->l1_0", "l1_0->l2"
};
/// The graph of the wafer: NPUs are nodes 0 .. npus-1.
struct Topology {
  FabricKind kind;
  std::uint32_t npus = 0;
  std::uint32_t columns = 0, rows = 0;  // mesh2d; fred: NPUs per L1 and L1 switches
  bool in_network = false;
  Time switch_latency_ps = 0;
  std::vector<NodeSpec> nodes;
  std::vector<LinkSpec> links;
  /// Links of each node in port order: outputs[n][k] and inputs[n][k] is the (k+1)-th link of node n in
  /// the order of `links`.
  std::vector<std::vector<LinkId>> outputs, inputs;

  const LinkSpec& link(LinkId id) const { return links[id.value]; }
};

/// Builds the graph from a validated scenario. Order of the links, which fixes the ports:
///  - ring: for each NPU, clockwise (to the next number), then counter-clockwise; one link each way for
///    two NPUs, none for one;
///  - mesh2d: for each NPU in row order, to x+1, x-1, y+1, y-1, as far as they are there;
///  - switch: for each NPU, up, then down; the switch is the node after the NPUs;
///  - fred: the same to the NPU's L1 switch, then for each L1 switch up to the L2 switch and down. The
///    nodes are the NPUs, the L1 switches and one L2 switch; the slices of a lane are merged.
/// Throws ScenarioError where the fabric's shape and wafer.npus differ and for a name in `link_rates`
/// that no link has.
Topology build_topology(const WaferSpec& wafer);

/// Links from `from` to `to` as the fabric's routers choose them (dimension order on the mesh, the
/// shorter way on a ring with ties clockwise, up and down on switches); empty when from == to.
std::vector<LinkId> route(const Topology& topology, NpuId from, NpuId to);

/// The link on which a packet for `to` leaves `at`, which is not `to`'s node.
LinkId next_link(const Topology& topology, NodeId at, NpuId to);

}  // namespace wafervp
