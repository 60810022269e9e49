// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "topology/placement.h"

namespace wafervp {

/// Placement::worst_link_rings of a placement.
std::array<std::uint32_t, 3> worst_link_rings(const Topology& topology, const ParallelismSpec& parallelism,
                                              const Placement& placement);

/// NPU of each rank on a mesh, by threshold annealing from row order: swaps of two NPUs' ranks, integer
/// costs, a generator of its own, so that every machine finds the same. Row order stays where it has no
/// link with two ring edges of one dimension.
std::vector<NpuId> search_placement(const Topology& topology, const ParallelismSpec& parallelism,
                                    std::uint64_t seed, std::uint32_t iterations);

}  // namespace wafervp
