// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "topology/topology.h"

namespace wafervp {

/// Least time in ps in which any algorithm can do the operation on the group: the larger of port bound
/// (bytes an NPU must send or receive over the sum of its links) and cut bound (bytes that must cross a
/// bisection of the fabric), without latency. In-network sums and copies are allowed for where
/// `topology.in_network` (all_reduce: each NPU sends and receives its vector once).
/// `bytes` as in wvp_command. Each bound's formula stands at its place in bounds.cpp.
Time lower_bound(const Topology& topology, Operation operation, const std::vector<NpuId>& group,
                 std::uint64_t bytes);

}  // namespace wafervp
