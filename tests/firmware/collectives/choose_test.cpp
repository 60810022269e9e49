// SPDX-License-Identifier: Apache-2.0
// Does `auto` choose what the stated cost model says, and does automatic chunking keep its rule? The number
// of messages tells the algorithm.
#include <gtest/gtest.h>

#include "session.h"

namespace wafervp::test {
namespace {

/// Messages that rank 0 of `ranks` sends in an `auto` collective.
std::uint64_t messages(Collective collective, std::uint32_t ranks, void (*change)(wvp_comm&)) {
  MockOptions options;
  options.values = false;
  MockWafer wafer(ranks, options);
  collective.members.clear();
  for (std::uint32_t i = 0; i < ranks; i++) collective.members.push_back(i);
  wafer.add_flow(1, {collective.members, collective.members});
  for (std::uint32_t i = 0; i < ranks; i++) {
    wafer.add_flow(2 + i, {collective.members, {i}});
    MockFlow cast{{i}, collective.members};
    cast.outputs.erase(cast.outputs.begin() + i);
    wafer.add_flow(2 + ranks + i, cast);
  }
  for (std::uint32_t i = 0; i < ranks; i++) {
    wvp_comm comm = make_comm(collective, 1, i, 0);
    change(comm);
    wafer.load(i, {start_command(collective, 0, 0), wait_command(0), {}}, {comm});
  }
  EXPECT_TRUE(wafer.run());
  return wafer.npu(0).sent_messages;
}

Collective automatic(std::uint8_t op, std::uint64_t bytes) {
  Collective collective;
  collective.op = op;
  collective.algorithm = WVP_ALG_AUTO;
  collective.dtype = WVP_FP16;
  collective.bytes = bytes;
  return collective;
}

TEST(Auto, RingWithoutGridOrFlows) {
  EXPECT_EQ(messages(automatic(WVP_OP_ALL_REDUCE, 1 << 20), 20, [](wvp_comm&) {}), 38u);
  EXPECT_EQ(messages(automatic(WVP_OP_REDUCE_SCATTER, 1 << 20), 20, [](wvp_comm&) {}), 19u);
}

// 5 x 4 mesh: a ring uses one link of each NPU, the two orders use two: 2 * 19/20 * S / 750 against about
// half.
TEST(Auto, HierarchicalOnAMesh) {
  Collective collective = automatic(WVP_OP_ALL_REDUCE, 120400000);
  collective.dim_x = 5;
  collective.dim_y = 4;
  collective.x_first_share = 65536 * 11 / 24;
  // 16 chunks of each order: 4 + 2 * 3 + 4 messages x first, 3 + 2 * 4 + 3 y first.
  EXPECT_EQ(messages(collective, 20, [](wvp_comm&) {}), 16u * 14 + 16u * 14);
  // A small one has fewer chunks: 20 ranks * 2 orders * 16 KiB = 640 KiB for the first.
  collective.bytes = 2000000;
  EXPECT_EQ(messages(collective, 20, [](wvp_comm&) {}), 3u * 28);
}

// Links between rows of a tenth of the rate make the ring better than a grid that sends all through them.
TEST(Auto, RingWhereTheGridIsSlower) {
  Collective collective = automatic(WVP_OP_ALL_REDUCE, 120400000);
  collective.dim_x = 2;
  collective.dim_y = 10;
  EXPECT_EQ(messages(collective, 20, [](wvp_comm& comm) { comm.y_rate = 75000; }), 38u);
}

TEST(Auto, InSwitchWhereItIsFaster) {
  const auto flows = [](wvp_comm& comm) {
    comm.flows = 1;
    comm.ring_rate = comm.flow_rate = 3000000;
  };
  EXPECT_EQ(messages(automatic(WVP_OP_ALL_REDUCE, 1 << 26), 20, flows), 1u);
  EXPECT_EQ(messages(automatic(WVP_OP_BROADCAST, 1 << 26), 20, flows), 1u);
  // Of two ranks each sends S/2 twice in a ring and S into the flow: the ring's two hops decide.
  EXPECT_EQ(messages(automatic(WVP_OP_ALL_REDUCE, 1 << 26), 2, flows), 1u);
  // As n serial flows, no better than a ring (S against (n-1)/n * S).
  EXPECT_EQ(messages(automatic(WVP_OP_REDUCE_SCATTER, 1 << 26), 20, flows), 19u);
  // Thin flows.
  EXPECT_EQ(messages(automatic(WVP_OP_ALL_REDUCE, 1 << 26), 20,
                     [](wvp_comm& comm) {
                       comm.flows = 1;
                       comm.ring_rate = 3000000;
                       comm.flow_rate = 375000;
                     }),
            38u);
}

// `best` also weighs both ways round a ring (two strands of 38 messages) and trees, which `auto` does not
// know.
TEST(Best, TakesTheRingBothWaysOrTheTreesWhereTheyAreFaster) {
  Collective collective = automatic(WVP_OP_ALL_REDUCE, 120400000);
  const auto both = [](wvp_comm& comm) { comm.both_rate = 1500000; };
  EXPECT_EQ(messages(collective, 20, both), 38u);
  collective.algorithm = WVP_ALG_BEST;
  EXPECT_EQ(messages(collective, 20, both), 2u * 38);
  EXPECT_EQ(messages(collective, 20, [](wvp_comm& comm) { comm.both_rate = 700000; }), 38u);
  // A chain with the root, rank 0, in its middle: three ranks, of which rank 0 sends each of its 128 chunks
  // down to both others. S / 750 against 4/3 S / 750.
  collective.bytes = 20000000;
  static const std::uint32_t root[] = {1, 0, 2, 1, 2}, leaf[] = {1, 0, 0};
  EXPECT_EQ(messages(collective, 3,
                     [](wvp_comm& comm) {
                       comm.trees = comm.tree_depth = 1;
                       comm.tree_rate = comm.both_rate = 750000;
                       comm.tree_links = comm.my_index == 0 ? root : leaf;
                     }),
            2u * 128);
}

TEST(Auto, BroadcastRelaysToMoreThanOne) {
  EXPECT_EQ(messages(automatic(WVP_OP_BROADCAST, 1 << 20), 3, [](wvp_comm&) {}), 64u);
  EXPECT_EQ(messages(automatic(WVP_OP_BROADCAST, 1 << 20), 2, [](wvp_comm&) {}), 1u);
  EXPECT_EQ(messages(automatic(WVP_OP_BROADCAST, 10000), 3, [](wvp_comm&) {}), 2u);  // two packets
}

}  // namespace
}  // namespace wafervp::test
