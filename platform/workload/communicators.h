// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "workload/programs.h"

namespace wafervp {

struct GroupName {
  std::string name;
  std::vector<NpuId> members;
};

/// Collects the communicators of a workload and measures what each can expect of the fabric.
class CommunicatorSet {
 public:
  CommunicatorSet(const Topology& topology, const FirmwareSpec& firmware)
      : topology_(topology), firmware_(firmware) {}

  /// Adds groups that communicate at the same time, so that they share links; returns the index of the
  /// first. With what else `algorithm` needs to know, that of their reductions; `phase`: what they are called
  /// together, empty: as their kind; `tensor`: what their messages hold. Throws ScenarioError when the
  /// indices run out.
  std::uint16_t add(TrafficKind kind, const std::vector<GroupName>& groups,
                    Algorithm algorithm = Algorithm::kAuto, const std::string& phase = "",
                    wvp_tensor tensor = WVP_TENSOR_NONE);

  /// Adds groups of all I/O controllers and some NPUs each, which load and store at the same time, at most at
  /// `pace` bytes/s a channel (0: as fast as the links let them); returns the index of the first.
  std::uint16_t add_memory(const std::vector<GroupName>& groups, std::uint64_t pace);

  const Communicator& operator[](std::size_t index) const { return communicators_[index]; }
  std::size_t size() const { return communicators_.size(); }
  std::vector<Communicator> take() { return std::move(communicators_); }

 private:
  void check_room(std::size_t groups) const;

  const Topology& topology_;
  const FirmwareSpec& firmware_;
  std::vector<Communicator> communicators_;
  std::uint32_t families_ = 0;
};

/// Columns and rows of a group that is a full grid in rank order, member (x, y) being
/// members[y * columns + x]: on the mesh equal columns in each of its rows, on FRED equal numbers of
/// NPUs in each touched L1 switch (x is inside a switch). {0, 0} where there is none or it is a line.
struct Grid {
  std::uint32_t columns = 0, rows = 0;
};
Grid grid_of(const Topology& topology, const std::vector<NpuId>& members);

/// Share of the data that goes x first so that the x and the y links of a mesh group take equally long,
/// in 1/65536. Rates in any one unit. Formula: communicators.cpp.
std::uint32_t balanced_x_first_share(Grid grid, std::uint64_t x_rate, std::uint64_t y_rate);

}  // namespace wafervp
