// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "topology/topology.h"

namespace wafervp {

/// What a tree does: sums the NPUs' data and gives all the sum; sums them for one end; copies one end's data
/// to the NPUs.
enum class TreeKind { kAllReduce, kReduce, kMulticast };

struct Tree {
  TreeKind kind;
  NodeId root;  ///< who gets the sum, or whose data are copied; not looked at for an all-reduce
};

/// What one node does for a tree: sums over `inputs`, and copies to `outputs`. `from_here`, `to_here`: the
/// accelerator of a mesh router takes part.
struct TreePart {
  std::vector<LinkId> inputs, outputs;
  bool from_here = false, to_here = false;
  bool empty() const { return inputs.empty() && !from_here; }
};

/// The trees of one group over the nodes of a fabric.
///  - FRED (arXiv 2406.19580): what is to be summed goes up to the lowest switch over all ends, summed at
///  each
///    switch on the way, and down to the receivers. A multicast turns downwards at each switch on its way up.
///  - mesh, I/O controllers only: from a controller of the left or right side along its row, then from each
///    node of the row up and down the column; from top and bottom along the column first. Branches without a
///    member are left out. A reduction takes the same tree the other way.
class GroupTrees {
 public:
  /// `members` as those of a Communicator: NPUs, and I/O controllers among them, which neither contribute to
  /// sums of others nor get copies.
  GroupTrees(const Topology& topology, const std::vector<NpuId>& members);

  /// NPUs that the tree sums, and ends that get the result.
  std::vector<NodeId> sources(const Tree& tree) const;
  std::vector<NodeId> sinks(const Tree& tree) const;
  /// The part of `node` that takes what comes by `input` (none: from the accelerator there); empty where
  /// there is none. Throws std::invalid_argument for a tree that the fabric does not have.
  TreePart part(const Tree& tree, NodeId node, std::optional<LinkId> input) const;
  /// Each link of the tree, in the direction of the data, every one once.
  std::vector<LinkId> links(const Tree& tree) const;

 private:
  TreePart fred_part(const Tree& tree, NodeId node, std::optional<LinkId> input) const;
  TreePart mesh_part(const Tree& tree, NodeId node, std::optional<LinkId> input) const;
  bool has_npu(std::uint32_t first_l1, std::uint32_t last_l1) const;
  /// By node, whether it is on the way between controller `root` and a member.
  const std::vector<std::uint8_t>& needed(NodeId root) const;

  const Topology& topology_;
  std::vector<NodeId> npus_;  ///< ascending
  std::vector<NodeId> io_;
  mutable std::map<std::uint32_t, std::vector<std::uint8_t>> needed_;  ///< by controller, on the mesh
};

/// The link by which a mesh node other than the controller's is reached from it, or reaches it.
LinkId mesh_tree_link(const Topology& topology, const IoSite& io, NodeId node, bool towards_io);

/// What I/O channels can have if all controllers stream to or from all of `groups` at the same time: bytes/s
/// of one tree, the rate of the most loaded link over the trees that it carries.
struct StreamRates {
  std::uint64_t load = 0, store = 0;  ///< where only they run
  std::uint64_t both = 0;             ///< loads and stores at the same time
  /// Trees on the most loaded link of the fabric, channels apart.
  std::uint32_t most_loads = 0, most_stores = 0, most_both = 0;
};
StreamRates stream_rates(const Topology& topology, const std::vector<std::vector<NpuId>>& groups);

}  // namespace wafervp
