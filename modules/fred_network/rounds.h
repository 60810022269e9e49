// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "fred_network/colouring.h"
#include "fred_network/routing.h"

namespace wafervp {

/// Whether flows (indices, ascending) can run at the same time: kConflict where it is proved that they
/// cannot.
using CanRun = std::function<RoutingStatus(const FlowSet&)>;

struct RoundBudget {
  std::uint64_t tried = 100'000;  ///< rounds that may be given to flows
  std::uint64_t asked = 2'000;    ///< sets of flows that may be asked about
};

/// All flows in rounds, one after the other.
struct RoundChoice {
  std::vector<FlowSet> rounds;
  /// Fewer do not do, which is proved. Otherwise the budget ran out, here or in what was asked, and the
  /// rounds are the fewest that were found.
  bool fewest = true;
};

/// The fewest rounds. First fit, in the order of the flows; where that takes three or more, a search over all
/// ways to colour the flows so that no set that is known not to run together has one colour, which learns
/// those sets by asking. One round when all can run together, which is asked first. The result depends on
/// nothing but the arguments.
RoundChoice fewest_rounds(std::size_t flows, const CanRun& can_run, const RoundBudget& budget = {});

}  // namespace wafervp
