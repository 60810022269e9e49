// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "topology/fred_routes.h"

namespace wafervp {

/// Workers on other NPUs, so that fewer flows meet.
struct MovedWorkers {
  Placement placement;
  /// Flows that still have to wait for a later round, over all phases; 0: each phase is routed at once.
  std::uint32_t waiting = 0;
  std::uint32_t tried = 0;  ///< placements
};

/// The fourth of the paper's remedies (arXiv 2406.19580): looks for a placement under which all phases of
/// `parallelism` can be routed at once. First the paper's consecutive one, then the other orders of the three
/// dimensions, then swaps of two NPUs from the best of these, up to `placements` in all; NPUs without a rank
/// take part. The result depends on nothing but the arguments. Throws std::invalid_argument when there are
/// more ranks than NPUs.
MovedWorkers move_workers(const FredWafer& wafer, const ParallelismSpec& parallelism,
                          std::uint32_t placements, std::uint64_t seed, const FredRouteOptions& options = {});

}  // namespace wafervp
