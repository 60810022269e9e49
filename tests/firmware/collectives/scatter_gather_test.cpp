// SPDX-License-Identifier: Apache-2.0
// Are reduce_scatter, all_gather, broadcast and all_to_all right for every rank count, size and type?
#include <gtest/gtest.h>

#include "session.h"

namespace wafervp::test {
namespace {

constexpr std::uint8_t kTypes[] = {WVP_INT32, WVP_FP32, WVP_FP16, WVP_BF16};
constexpr std::uint64_t kElements[] = {0, 1, 7, 371};

std::string run_one(Collective collective, std::uint64_t elements, std::uint64_t seed, bool lazy = false) {
  Session session(24, seed);
  session.options.lazy = lazy;
  if (lazy) session.options.descriptor_entries = 4;
  collective.bytes = elements * wvp_dtype_bytes(collective.dtype);
  collective.members = session.pick_members(collective.size());
  session.add(collective);
  return session.run();
}

/// All rank counts, types and sizes with 0, 1 and 3 chunks.
void sweep(std::uint8_t op, std::uint8_t algorithm) {
  std::uint64_t seed = 1;
  for (std::uint32_t ranks = 1; ranks <= 20; ranks++) {
    for (const std::uint8_t dtype : kTypes) {
      for (const std::uint64_t elements : kElements) {
        for (const std::uint32_t chunks : {0u, 1u, 3u}) {
          Collective collective;
          collective.op = op;
          collective.algorithm = algorithm;
          collective.dtype = dtype;
          collective.members.resize(ranks);
          collective.flows = algorithm == WVP_ALG_IN_SWITCH;
          collective.chunks = chunks;
          collective.active_chunks = static_cast<std::uint32_t>(seed % 3);
          collective.root = static_cast<std::uint32_t>(seed % ranks);
          ASSERT_EQ(run_one(collective, elements, seed, seed % 5 == 0), "");
          seed++;
        }
      }
    }
  }
}

void sweep_grids(std::uint8_t op) {
  std::uint64_t seed = 1;
  for (std::uint32_t ranks = 1; ranks <= 20; ranks++) {
    for (std::uint32_t dim_x = 1; dim_x <= ranks; dim_x++) {
      if (ranks % dim_x) continue;
      for (const std::uint8_t dtype : kTypes) {
        for (const std::uint64_t elements : kElements) {
          for (const std::uint32_t share : {0u, 65536u, 30037u}) {
            Collective collective;
            collective.op = op;
            collective.algorithm = WVP_ALG_HIERARCHICAL;
            collective.dtype = dtype;
            collective.members.resize(ranks);
            collective.dim_x = dim_x;
            collective.dim_y = ranks / dim_x;
            collective.x_first_share = share;
            collective.chunks = static_cast<std::uint32_t>(1 + seed % 4);
            collective.active_chunks = static_cast<std::uint32_t>(seed % 3);
            ASSERT_EQ(run_one(collective, elements, seed, seed % 5 == 0), "");
            seed++;
          }
        }
      }
    }
  }
}

TEST(ReduceScatter, Ring) { sweep(WVP_OP_REDUCE_SCATTER, WVP_ALG_RING); }
TEST(ReduceScatter, RingBothWays) { sweep(WVP_OP_REDUCE_SCATTER, WVP_ALG_RING_BOTH); }
TEST(ReduceScatter, InSwitch) { sweep(WVP_OP_REDUCE_SCATTER, WVP_ALG_IN_SWITCH); }
TEST(ReduceScatter, Hierarchical) { sweep_grids(WVP_OP_REDUCE_SCATTER); }
TEST(AllGather, Ring) { sweep(WVP_OP_ALL_GATHER, WVP_ALG_RING); }
TEST(AllGather, RingBothWays) { sweep(WVP_OP_ALL_GATHER, WVP_ALG_RING_BOTH); }
TEST(AllGather, InSwitch) { sweep(WVP_OP_ALL_GATHER, WVP_ALG_IN_SWITCH); }
TEST(AllGather, Hierarchical) { sweep_grids(WVP_OP_ALL_GATHER); }
TEST(Broadcast, Relay) { sweep(WVP_OP_BROADCAST, WVP_ALG_RELAY); }
TEST(Broadcast, Direct) { sweep(WVP_OP_BROADCAST, WVP_ALG_DIRECT); }
TEST(Broadcast, InSwitch) { sweep(WVP_OP_BROADCAST, WVP_ALG_IN_SWITCH); }
TEST(AllToAll, Direct) { sweep(WVP_OP_ALL_TO_ALL, WVP_ALG_DIRECT); }

TEST(Broadcast, RelayPassesOnInChunks) {
  Session session(5, 3);
  Collective collective;
  collective.op = WVP_OP_BROADCAST;
  collective.algorithm = WVP_ALG_RELAY;
  collective.bytes = 1 << 20;
  collective.members = {0, 1, 2, 3, 4};
  collective.root = 3;
  session.add(collective);
  ASSERT_EQ(session.run(), "");
  // 64 chunks by default; the chain is 3, 4, 0, 1, 2.
  for (const std::uint32_t npu : {3u, 4u, 0u, 1u}) EXPECT_EQ(session.wafer().npu(npu).sent_messages, 64u);
  EXPECT_EQ(session.wafer().npu(2).sent_messages, 0u);
}

// A group larger than the strands of a rank.
TEST(AllToAll, MoreRanksThanStrands) {
  Session session(150, 9);
  Collective collective;
  collective.op = WVP_OP_ALL_TO_ALL;
  collective.algorithm = WVP_ALG_AUTO;
  collective.bytes = 4 * 700;
  collective.members = session.pick_members(150);
  session.add(collective);
  EXPECT_EQ(session.run(), "");
}

TEST(AllTypes, SizesThatAreNotWholeElements) {
  for (const std::uint8_t op : {WVP_OP_ALL_GATHER, WVP_OP_BROADCAST, WVP_OP_ALL_TO_ALL}) {
    Session session(7, 4);
    Collective collective;
    collective.op = op;
    collective.algorithm = WVP_ALG_AUTO;
    collective.dtype = WVP_FP16;
    collective.bytes = 1001;
    collective.members = session.pick_members(7);
    session.add(collective);
    EXPECT_EQ(session.run(), "");
  }
}

TEST(OneMebibyte, EachOperation) {
  for (const std::uint8_t op :
       {WVP_OP_REDUCE_SCATTER, WVP_OP_ALL_GATHER, WVP_OP_BROADCAST, WVP_OP_ALL_TO_ALL}) {
    for (const std::uint8_t dtype : kTypes) {
      Session session(6, 4);
      Collective collective;
      collective.op = op;
      collective.algorithm = op == WVP_OP_BROADCAST    ? WVP_ALG_RELAY
                             : op == WVP_OP_ALL_TO_ALL ? WVP_ALG_DIRECT
                                                       : WVP_ALG_RING;
      collective.dtype = dtype;
      collective.bytes = 1 << 20;
      collective.members = session.pick_members(6);
      session.add(collective);
      EXPECT_EQ(session.run(), "");
    }
  }
}

}  // namespace
}  // namespace wafervp::test
