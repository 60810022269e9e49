// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "fred_network/rounds.h"

namespace wafervp {

/// Flows of a phase, in lanes: those of one lane pass one at a time, and lanes know nothing of each other.
struct LaneChoice {
  std::vector<FlowSet> lanes;  ///< of two flows or more; the other flows never wait
  std::vector<FlowSet>
      sets;  ///< all sets of flows that may come to pass at once: one of each lane, and the others
};

/// As few flows in lanes as a search finds, at most `rounds` in one, so that each of the sets can run at the
/// same time. `meet(a, b)`: the two flows pass a common switch, where their lane can stand. None where the
/// search gives up.
std::optional<LaneChoice> choose_lanes(std::size_t flows, std::size_t rounds, std::uint64_t most_checks,
                                       const CanRun& can_run,
                                       const std::function<bool(std::size_t, std::size_t)>& meet);

}  // namespace wafervp
