// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "wafer/tree_flows.h"
#include "wafervp/program.h"
#include "workload/programs.h"

namespace wafervp {

/// The communicators as the firmware sees them.
class CommTable {
 public:
  CommTable(const std::vector<Communicator>& communicators, const TreeFlows& trees);
  /// Communicator `index` as its member number `member` sees it. Points into the table.
  wvp_comm comm(std::size_t index, std::uint32_t member) const;

 private:
  const std::vector<Communicator>& communicators_;
  const TreeFlows& trees_;
  std::vector<std::vector<std::uint32_t>> members_;  ///< by communicator, shared by its members
  /// By communicator with trees of unicasts: of each member.
  std::vector<std::vector<std::vector<std::uint32_t>>> tree_links_;
};

}  // namespace wafervp
