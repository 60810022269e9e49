// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "router/collective_stage.h"
#include "topology/topology.h"
#include "topology/trees.h"
#include "workload/programs.h"

namespace wafervp {

/// The trees of a wafer, by their handles: numbers them for each communicator as wvp_comm.flows says, and
/// tells each switch, or mesh router, its part.
class TreeFlows final : public StageDirectory {
 public:
  TreeFlows(const Topology& topology, const std::vector<Communicator>& communicators);

  /// First handle of communicator `index`; 0 where there is none: one member, or neither switches that
  /// reduce nor I/O controllers among the members.
  std::uint32_t first_handle(std::size_t index) const { return first_.at(index); }
  StageConfig find(NodeId node, std::uint32_t group, unsigned input) const override;
  /// "all_reduce of mp[dp=0,pp=1]", for reports.
  std::string describe(std::uint32_t group) const;
  /// Members whose packets the tree sums, and members that get the result.
  struct Ends {
    std::vector<NpuId> sources, sinks;
  };
  Ends ends(std::uint32_t group) const;

 private:
  struct Place {
    std::size_t communicator;
    Tree tree;
  };
  Place place_of(std::uint32_t group) const;

  const Topology& topology_;
  const std::vector<Communicator>& communicators_;
  std::vector<std::uint32_t> first_;
  std::vector<GroupTrees> trees_;                               ///< by communicator
  std::vector<std::pair<std::uint32_t, std::size_t>> handles_;  ///< first handle and communicator, ascending
};

}  // namespace wafervp
