// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workload/communicators.h"

namespace wafervp {

/// Bytes/s at which the channels of the I/O controllers stream, so that no link of the wafer gets more than
/// its rate; 0 where they are not paced. All channels alike (arXiv 2406.19580: on the mesh a channel runs at
/// 0.65 of its line rate).
struct StreamPaces {
  std::uint64_t load = 0, store = 0;  ///< where only they run
  std::uint64_t both = 0;             ///< loads and stores at the same time
};
/// Of `groups` of NPUs that stream at the same time.
StreamPaces stream_paces(const Scenario& scenario, const Topology& topology,
                         const std::vector<GroupName>& groups);

}  // namespace wafervp
