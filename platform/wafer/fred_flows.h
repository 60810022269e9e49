// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "fred_switch/collective_stage.h"
#include "topology/topology.h"
#include "workload/programs.h"

namespace wafervp {

/// The in-network flows of a FRED fabric: numbers them for each communicator as wvp_comm.flows says, and
/// tells each switch its part (arXiv 2406.19580: members of one L1 switch are reduced there, one stream
/// goes up, is reduced at L2, sent to the touched L1 switches and multicast down).
class FredFlows final : public StageDirectory {
 public:
  FredFlows(const Topology& topology, const std::vector<Communicator>& communicators);

  /// First handle of communicator `index`; 0 where there is none (no in-network fabric, or one member).
  std::uint32_t first_handle(std::size_t index) const { return first_.at(index); }
  StageConfig find(NodeId node, std::uint32_t group, unsigned input) const override;
  /// "all_reduce of mp[dp=0,pp=1]", for reports.
  std::string describe(std::uint32_t group) const;
  /// Members whose packets the flow sums, and members that get the result.
  struct Ends {
    std::vector<NpuId> sources, sinks;
  };
  Ends ends(std::uint32_t group) const;

 private:
  struct Place {
    std::size_t communicator;
    std::uint32_t offset;  ///< 0 all-reduce, 1 + j reduce to j, 1 + n + j multicast from j
  };
  Place place_of(std::uint32_t group) const;

  /// A communicator's members as the switches see them.
  struct Shape {
    std::vector<NpuId> members;      ///< by number, that is by L1 switch and port
    std::vector<std::uint32_t> l1s;  ///< touched L1 switches
  };

  const Topology& topology_;
  const std::vector<Communicator>& communicators_;
  std::vector<std::uint32_t> first_;
  std::vector<Shape> shapes_;                                   ///< by communicator
  std::vector<std::pair<std::uint32_t, std::size_t>> handles_;  ///< first handle and communicator, ascending
};

}  // namespace wafervp
