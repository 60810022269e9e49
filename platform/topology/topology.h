// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/ids.h"
#include "core/time.h"
#include "scenario/scenario.h"

namespace wafervp {

enum class NodeKind { kNpu, kIoController, kSwitch, kFredL1, kFredUpper };

struct NodeSpec {
  NodeKind kind;
  std::string name;            // "npu7", "io3", "l1_2", "l2", "switch"
  std::uint32_t x = 0, y = 0;  // place in the mesh; FRED: (index inside, L1 number), or (level, index in it)
};
/// A directed link. Ports of a node count its links in the order of this list, inputs and outputs
/// apart; port 0 of an NPU's router is the accelerator, its links follow from 1.
struct LinkSpec {
  NodeId from, to;
  std::uint64_t bytes_per_s;
  Time latency_ps;
  std::uint32_t buffer_packets;  // of one flow, at the receiving end
  std::string name;              // "x2y1->x3y1", "npu3->l1_0", "l1_0->l2", "site0->site1"
  /// Of a site link: the wire on which it takes turns, with others of the same number.
  std::uint32_t wire = kNoWire;
  static constexpr std::uint32_t kNoWire = ~0u;
  bool between_sites() const { return wire != kNoWire; }
};
/// Where an I/O controller hangs, and on the mesh which dimension its trees take first: on the left and right
/// side the row, on top and bottom the column.
struct IoSite {
  NodeId at;  // the NPU whose router it is, or the L1 switch
  bool row_first = true;
};
/// A level of FRED switches.
struct FredLevel {
  std::uint32_t first;     // node of its first switch
  std::uint32_t switches;  // in all
  std::uint32_t children;  // switches of the level below on each; level 1: NPUs
};
/// The graph of the wafer: NPUs are nodes 0 .. npus-1, the I/O controllers follow, then the switches.
struct Topology {
  FabricKind kind;
  std::uint32_t npus = 0;
  std::uint32_t columns = 0, rows = 0;   // mesh2d: of a site; fred: NPUs per L1 and L1 switches
  std::uint32_t sites = 1, gateway = 0;  // alike, with consecutive NPUs; number of the gateway in its site
  bool in_network = false;
  std::vector<IoSite> io;              // node npus + k is controller k
  std::vector<FredLevel> fred_levels;  // level 1 first
  Time switch_latency_ps = 0;
  std::vector<NodeSpec> nodes;
  std::vector<LinkSpec> links;
  /// Links of each node in port order: outputs[n][k] and inputs[n][k] is the (k+1)-th link of node n in
  /// the order of `links`.
  std::vector<std::vector<LinkId>> outputs, inputs;

  const LinkSpec& link(LinkId id) const { return links[id.value]; }
  /// NPUs and I/O controllers, where messages begin and end.
  std::uint32_t ends() const { return npus + static_cast<std::uint32_t>(io.size()); }
  std::uint32_t npus_per_site() const { return npus / sites; }
  std::uint32_t site_of(NodeId node) const { return sites == 1 ? 0 : node.value / npus_per_site(); }
  bool is_io(NodeId node) const { return node.value >= npus && node.value < ends(); }
};

/// Builds the graph from a validated scenario. Order of the links, which fixes the ports:
///  - ring: for each NPU, clockwise (to the next number), then counter-clockwise; one link each way for
///    two NPUs, none for one;
///  - mesh2d: for each NPU in row order, to x+1, x-1, y+1, y-1, as far as they are there;
///  - several sites: the links of each site, then for each site those to the others, by their numbers;
///  - switch: for each NPU, up, then down; the switch is the node after the NPUs;
///  - fred: the same to the NPU's L1 switch, then level by level for each switch up and down, up to the one
///    switch of the last level. The slices of a lane are merged;
///  - I/O controllers: for each, to its router or L1 switch, then back; behind the mesh's links, on FRED
///    between those of the NPUs and those of the switches. On the mesh one for each side of a boundary NPU:
///    left, right, top, bottom; on FRED as evenly over the L1 switches as can be, the first ones one more.
/// Throws ScenarioError where the fabric's shape and wafer.npus differ and for a name in `link_rates`
/// that no link has.
Topology build_topology(const WaferSpec& wafer);

/// Controllers that a fabric can have: 0, and on the mesh one for each boundary side of an NPU.
std::uint32_t mesh_io_controllers(const Mesh2dSpec& mesh);

/// Links from `from` to `to` as the fabric's routers choose them (dimension order on the mesh, the
/// shorter way on a ring with ties clockwise, up and down on switches); empty when from == to.
std::vector<LinkId> route(const Topology& topology, NpuId from, NpuId to);

/// The link on which a packet for `to` leaves `at`, which is not `to`'s node.
LinkId next_link(const Topology& topology, NodeId at, NpuId to);

}  // namespace wafervp
