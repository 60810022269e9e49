// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "topology/topology.h"

namespace wafervp {

/// Trees on which a group reduces and broadcasts equal parts of its data at the same time.
struct SpanningTrees {
  /// Of each tree the parent of each member, as an index into the group; the root is its own parent.
  std::vector<std::vector<std::uint32_t>> parents;
  std::uint32_t depth = 0;  ///< edges between the root and the farthest member, of the deepest tree
  std::uint64_t rate = 0;   ///< bytes per microsecond of the group's data that all trees take together
};

/// Trees for groups of two or more members that communicate at the same time, by group.
///
/// Each tree edge carries its tree's part of the data once each way, so that the most loaded link decides:
/// the trees are chosen to use all links as evenly as they can (a packing of spanning trees; on a mesh of n
/// nodes and e edges no more than e / (n - 1) of the link rate is possible, Tutte and Nash-Williams 1961). A
/// greedy start, then exchanges of single edges until none helps; as many trees, eight at most, as still
/// bring something.
std::vector<SpanningTrees> spanning_trees(const Topology& topology,
                                          const std::vector<std::vector<NpuId>>& groups);

/// The trees as member `index` sees them: wvp_comm.tree_links.
std::vector<std::uint32_t> tree_links(const SpanningTrees& trees, std::uint32_t index);

}  // namespace wafervp
