// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "topology/topology.h"

namespace wafervp {

/// Which algorithms a bound speaks of, where the fabric itself does not add or copy.
enum class Sharing {
  /// Those in which every member works on an equal share, as each end-point algorithm of the firmware
  /// does: an all_reduce sends and receives (n-1)/n of the vector twice at every member.
  kEven,
  /// All: a tree may spare a member with few links, which then sends and receives its vector once.
  kAny,
};

/// Least time in ps in which an algorithm can do the operation on the group: the larger of port bound
/// (bytes a member must send or receive over the sum of its usable links) and cut bound (bytes that must
/// cross a cut of the fabric), without latency. Links count that the fabric's routes between members
/// use. In-network sums and copies are allowed for where `topology.in_network` (all_reduce: each NPU
/// sends and receives its vector once). `bytes` as in wvp_command; the root of a broadcast may be any
/// member; send goes from the first member to the second. Formulas: bounds.cpp.
Time lower_bound(const Topology& topology, Operation operation, const std::vector<NpuId>& group,
                 std::uint64_t bytes, Sharing sharing = Sharing::kEven);

}  // namespace wafervp
