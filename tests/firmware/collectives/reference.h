// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "values.h"
#include "wafervp/program.h"

namespace wafervp::test {

/// One collective as the test asks for it. What is 0 is left to the firmware.
struct Collective {
  std::uint8_t op = WVP_OP_ALL_REDUCE;
  std::uint8_t algorithm = WVP_ALG_RING;
  std::uint8_t dtype = WVP_INT32;
  std::uint64_t bytes = 0;
  std::vector<std::uint32_t> members;  ///< NPUs in rank order
  std::uint32_t dim_x = 0, dim_y = 0, x_first_share = 32768;
  std::uint32_t chunks = 0, active_chunks = 0, root = 0;
  bool flows = false;  ///< the group has in-network flows
  /// Spanning trees: the parent of each member, the root's being itself. Set by add_trees().
  std::vector<std::vector<std::uint32_t>> trees;
  std::vector<std::vector<std::uint32_t>> tree_links;  ///< of each member, as in wvp_comm

  std::uint32_t size() const { return static_cast<std::uint32_t>(members.size()); }
};

struct Span {
  std::uint64_t begin, count;
};

/// `count` as even shares of `total`, the first ones longer by one (program.h).
std::vector<Span> even_shares(std::uint64_t total, std::uint64_t count);
/// Bytes of each member's share of the buffer.
std::vector<Span> byte_shares(const Collective& collective);

/// Members whose parent is `member`, in ascending order.
std::vector<std::uint32_t> children(const std::vector<std::uint32_t>& parents, std::uint32_t member);

void add_trees(Collective& collective, const std::vector<std::vector<std::uint32_t>>& trees);

/// What each member's dst buffer holds afterwards, from what dst (all_to_all: src) held before: plain
/// loops in the order of additions that firmware/collectives/README.md states. Of a reduce_scatter only
/// the own share counts.
std::vector<Buffer> expected_result(const Collective& collective, const std::vector<Buffer>& before);

}  // namespace wafervp::test
