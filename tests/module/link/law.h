// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "traffic.h"

namespace wafervp::test {

/// No two packets are on the wire at one time (but for `overlap` ps, 2 of which are rounding), none is
/// shorter than the rate allows, and any stretch of the wire carries no more than its rate.
void expect_wire(const std::vector<Packet>& packets, std::uint64_t bytes_per_s, Time overlap = 2);

/// What one flow may do at a link behind another one; times are those at the monitors' places.
struct Passage {
  std::vector<Packet> before;  ///< at the far end of the link before
  Time latency_before;
  std::uint32_t buffer_before;
  std::vector<Packet> after;  ///< at the far end of the link
  Time latency_after;
  std::uint64_t bytes_per_s;
};
/// Virtual cut-through (a packet starts at max(head, tail - bytes / rate) or later) and credits (it starts
/// on the link before a latency after the packet `buffer` before it has left this place, or later).
void expect_passage(const Passage& passage);

/// All that came before has come behind, in order and of the same sizes.
void expect_same_packets(const std::vector<Packet>& before, const std::vector<Packet>& after);

}  // namespace wafervp::test
