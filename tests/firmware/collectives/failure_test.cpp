// SPDX-License-Identifier: Apache-2.0
// Does firmware say what is wrong: sizes that disagree, ranks that never come, combinations it refuses?
#include <gtest/gtest.h>

#include "session.h"

namespace wafervp::test {
namespace {

std::vector<std::uint32_t> first(std::uint32_t count) {
  std::vector<std::uint32_t> members(count);
  for (std::uint32_t i = 0; i < count; i++) members[i] = i;
  return members;
}

/// Loads the same collective on all its ranks; `absent` has no program, `other` differs in its bytes.
struct Deviation {
  std::uint32_t absent = ~0u, other = ~0u;
  std::uint64_t other_bytes = 0;
  std::uint32_t flows = 0;
};

void load(MockWafer& wafer, const Collective& collective, const Deviation& deviation) {
  for (std::uint32_t i = 0; i < collective.size(); i++) {
    if (i == deviation.absent) continue;
    wvp_command end{};
    auto start = start_command(collective, 0, 0);
    if (i == deviation.other) start.bytes = deviation.other_bytes;
    std::vector<wvp_command> program{wait_command(3), start, wait_command(0), end};
    wafer.load(collective.members[i], program, {make_comm(collective, 7, i, deviation.flows)});
  }
}

MockOptions sizes_only(std::uint64_t seed) {
  MockOptions options;
  options.values = false;
  options.seed = seed;
  return options;
}

std::uint64_t error64(const MockNpu& npu, std::uint32_t low, std::uint32_t high) {
  return npu.error_registers.at(low) | static_cast<std::uint64_t>(npu.error_registers.at(high)) << 32;
}

TEST(Mismatch, OfAReceive) {
  MockWafer wafer(3, sizes_only(1));
  wvp_command send{}, receive{};
  send.kind = receive.kind = WVP_CMD_START;
  send.op = WVP_OP_SEND;
  receive.op = WVP_OP_RECEIVE;
  send.root = 2;
  receive.root = 1;
  send.bytes = 5000000000u;
  receive.bytes = 16;
  wafer.load(1, {send, wait_command(0), {}}, {});
  wafer.load(2, {wait_command(4), receive, wait_command(0), {}}, {});
  EXPECT_FALSE(wafer.run());
  const MockNpu& npu = wafer.npu(2);
  EXPECT_EQ(npu.status, WVP_EXIT_SIZE_MISMATCH);
  EXPECT_EQ(npu.error_registers.at(WVP_REG_ERROR_OP), 1u);
  EXPECT_EQ(npu.error_registers.at(WVP_REG_ERROR_PEER), 1u);
  EXPECT_EQ(error64(npu, WVP_REG_ERROR_EXPECTED_LO, WVP_REG_ERROR_EXPECTED_HI), 16u);
  EXPECT_EQ(error64(npu, WVP_REG_ERROR_FOUND_LO, WVP_REG_ERROR_FOUND_HI), 5000000000u);
}

TEST(Mismatch, OfOneRankInEachCollective) {
  struct Kind {
    std::uint8_t op, algorithm;
  };
  for (const Kind kind :
       {Kind{WVP_OP_ALL_REDUCE, WVP_ALG_RING}, Kind{WVP_OP_ALL_REDUCE, WVP_ALG_HIERARCHICAL},
        Kind{WVP_OP_ALL_REDUCE, WVP_ALG_RING_BOTH}, Kind{WVP_OP_ALL_REDUCE, WVP_ALG_TREE},
        Kind{WVP_OP_REDUCE_SCATTER, WVP_ALG_RING}, Kind{WVP_OP_ALL_GATHER, WVP_ALG_RING},
        Kind{WVP_OP_BROADCAST, WVP_ALG_RELAY}, Kind{WVP_OP_BROADCAST, WVP_ALG_DIRECT},
        Kind{WVP_OP_ALL_TO_ALL, WVP_ALG_DIRECT}}) {
    for (std::uint64_t seed = 1; seed <= 20; seed++) {
      Collective collective;
      collective.op = kind.op;
      collective.algorithm = kind.algorithm;
      collective.bytes = 4096;
      collective.members = first(6);
      collective.dim_x = 3;
      collective.dim_y = 2;
      collective.chunks = 2;
      if (kind.algorithm == WVP_ALG_TREE) add_trees(collective, {{0, 0, 0, 1, 1, 2}});
      MockWafer wafer(6, sizes_only(seed));
      Deviation deviation;
      deviation.other = 4;
      deviation.other_bytes = seed % 2 ? 17 : 8192;
      load(wafer, collective, deviation);
      EXPECT_FALSE(wafer.run());
      bool named = false;
      for (std::uint32_t i = 0; i < 6; i++) {
        const MockNpu& npu = wafer.npu(i);
        if (npu.exited && npu.status != WVP_EXIT_OK) {
          named = true;
          EXPECT_EQ(npu.status, WVP_EXIT_SIZE_MISMATCH);
          EXPECT_EQ(npu.error_registers.at(WVP_REG_ERROR_OP), 1u);
          EXPECT_NE(error64(npu, WVP_REG_ERROR_EXPECTED_LO, WVP_REG_ERROR_EXPECTED_HI),
                    error64(npu, WVP_REG_ERROR_FOUND_LO, WVP_REG_ERROR_FOUND_HI));
        }
      }
      EXPECT_TRUE(named) << name_of(collective);
    }
  }
}

TEST(Waiting, NamesARankThatNeverEnters) {
  for (const std::uint8_t algorithm : {WVP_ALG_RING, WVP_ALG_HIERARCHICAL}) {
    Collective collective;
    collective.algorithm = algorithm;
    collective.bytes = 4 * 60;
    collective.members = {5, 3, 1, 0, 2, 4};
    collective.dim_x = 3;
    collective.dim_y = 2;
    collective.x_first_share = 65536;
    MockWafer wafer(6, sizes_only(1));
    Deviation deviation;
    deviation.absent = 2;  // NPU 1
    load(wafer, collective, deviation);
    EXPECT_FALSE(wafer.run());
    // NPU 5 follows NPU 1 in a ring of three, NPU 0 in one of six.
    const auto entries = wafer.npu(algorithm == WVP_ALG_RING ? 0 : 5).waiting();
    ASSERT_EQ(entries.size(), 1u);
    EXPECT_EQ(entries[0].peer, 1u);
    EXPECT_EQ(entries[0].bytes, algorithm == WVP_ALG_RING ? 40u : 80u);
    EXPECT_EQ(entries[0].command, 1u);
    EXPECT_EQ(entries[0].op, WVP_OP_ALL_REDUCE);
    EXPECT_EQ(entries[0].blocking, 1u);
    EXPECT_EQ(entries[0].step, 0u);
  }
}

TEST(Waiting, NamesTheFlowOfAnInNetworkSum) {
  Collective collective;
  collective.algorithm = WVP_ALG_IN_SWITCH;
  collective.bytes = 4000;
  collective.members = first(4);
  MockWafer wafer(4, sizes_only(1));
  wafer.add_flow(11, {collective.members, collective.members});
  Deviation deviation;
  deviation.absent = 3;
  deviation.flows = 11;
  load(wafer, collective, deviation);
  EXPECT_FALSE(wafer.run());
  const auto entries = wafer.npu(0).waiting();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].peer, WVP_FROM_FLOW | 11u);
  EXPECT_EQ(entries[0].bytes, 4000u);
}

TEST(Waiting, NamesAComputationThatDoesNotEnd) {
  MockWafer wafer(1, sizes_only(1));
  wvp_command compute{};
  compute.kind = WVP_CMD_COMPUTE;
  wvp_command endless{};
  endless.kind = WVP_CMD_START;
  endless.op = WVP_OP_RECEIVE;
  endless.slot = 9;
  endless.root = 0;
  endless.bytes = 12;
  wafer.load(0, {compute, endless, wait_command(2), {}}, {});
  EXPECT_FALSE(wafer.run());
  const auto entries = wafer.npu(0).waiting();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].op, WVP_OP_RECEIVE);
  EXPECT_EQ(entries[0].command, 1u);
  EXPECT_EQ(entries[0].bytes, 12u);
}

std::uint32_t status_of(const wvp_command& start, const wvp_comm& comm) {
  MockWafer wafer(4, sizes_only(1));
  wvp_command nothing{};
  nothing.kind = WVP_CMD_WAIT;
  wafer.load(0, {nothing, start, wait_command(start.slot % WVP_SLOTS), {}}, {comm});
  wafer.run();
  const MockNpu& npu = wafer.npu(0);
  if (npu.exited && npu.status != WVP_EXIT_OK) {
    EXPECT_EQ(npu.error_registers.at(WVP_REG_ERROR_OP), 1u);
    EXPECT_EQ(npu.error_registers.at(WVP_REG_ERROR_PEER), 0xffffffffu);
  }
  return npu.exited ? npu.status : 0;
}

TEST(Refused, CombinationsThatNoAlgorithmCovers) {
  Collective collective;
  collective.members = first(4);
  collective.bytes = 64;
  const auto refused = [&](std::uint8_t op, std::uint8_t algorithm) {
    collective.op = op;
    collective.algorithm = algorithm;
    return status_of(start_command(collective, 0, 0), make_comm(collective, 1, 0, 0)) == WVP_EXIT_UNSUPPORTED;
  };
  for (const std::uint8_t op : {WVP_OP_ALL_REDUCE, WVP_OP_REDUCE_SCATTER, WVP_OP_ALL_GATHER}) {
    EXPECT_FALSE(refused(op, WVP_ALG_AUTO));
    EXPECT_FALSE(refused(op, WVP_ALG_RING));
    EXPECT_TRUE(refused(op, WVP_ALG_HIERARCHICAL));  // no grid
    EXPECT_TRUE(refused(op, WVP_ALG_IN_SWITCH));     // no flows
    EXPECT_TRUE(refused(op, WVP_ALG_DIRECT));
    EXPECT_TRUE(refused(op, WVP_ALG_RELAY));
    EXPECT_TRUE(refused(op, WVP_ALG_TREE));  // no trees
    EXPECT_FALSE(refused(op, WVP_ALG_RING_BOTH));
  }
  for (const std::uint8_t algorithm : {WVP_ALG_RING, WVP_ALG_RING_BOTH, WVP_ALG_HIERARCHICAL, WVP_ALG_TREE,
                                       WVP_ALG_IN_SWITCH, WVP_ALG_RELAY}) {
    EXPECT_TRUE(refused(WVP_OP_ALL_TO_ALL, algorithm));
    EXPECT_TRUE(refused(WVP_OP_BARRIER, algorithm));
    EXPECT_TRUE(refused(WVP_OP_SEND, algorithm));
  }
  EXPECT_TRUE(refused(WVP_OP_BROADCAST, WVP_ALG_RING));
  EXPECT_TRUE(refused(WVP_OP_BROADCAST, WVP_ALG_HIERARCHICAL));
  collective.dim_x = 3;
  collective.dim_y = 2;
  EXPECT_TRUE(refused(WVP_OP_ALL_REDUCE, WVP_ALG_HIERARCHICAL));  // 3 x 2 is not 4
  collective.dim_x = 2;
  EXPECT_FALSE(refused(WVP_OP_ALL_REDUCE, WVP_ALG_HIERARCHICAL));
  collective.bytes = 1 << 20;
  collective.chunks = 5000;
  EXPECT_TRUE(refused(WVP_OP_ALL_REDUCE, WVP_ALG_RING));  // more chunks than a tag can tell apart
}

TEST(Refused, MalformedCommandsAndCommunicators) {
  Collective collective;
  collective.members = first(4);
  collective.bytes = 64;
  collective.op = WVP_OP_BROADCAST;
  collective.algorithm = WVP_ALG_DIRECT;
  const wvp_command good = start_command(collective, 0, 0);
  const wvp_comm comm = make_comm(collective, 1, 0, 0);
  EXPECT_EQ(status_of(good, comm), WVP_EXIT_OK);
  const auto bad = [&](auto change) {
    wvp_command command = good;
    wvp_comm group = comm;
    change(command, group);
    EXPECT_EQ(status_of(command, group), WVP_EXIT_BAD_COMMAND);
  };
  bad([](auto& command, auto&) { command.kind = 9; });
  bad([](auto& command, auto&) { command.op = 0; });
  bad([](auto& command, auto&) { command.op = WVP_OP_STORE + 1; });
  bad([](auto& command, auto&) { command.algorithm = 9; });
  bad([](auto& command, auto&) { command.dtype = 5; });
  bad([](auto& command, auto&) { command.traffic_class = 4; });
  bad([](auto& command, auto&) { command.slot = WVP_SLOTS; });
  bad([](auto& command, auto&) { command.comm = 1; });
  bad([](auto& command, auto&) { command.root = 4; });
  bad([](auto&, auto& group) { group.size = 0; });
  bad([](auto&, auto& group) { group.my_index = 4; });
  bad([](auto&, auto& group) { group.id = 0xffff; });
}

TEST(Refused, ASlotThatIsInUse) {
  MockWafer wafer(2, sizes_only(1));
  wvp_command receive{};
  receive.kind = WVP_CMD_START;
  receive.op = WVP_OP_RECEIVE;
  receive.root = 1;
  wafer.load(0, {receive, receive, {}}, {});
  EXPECT_FALSE(wafer.run());
  EXPECT_EQ(wafer.npu(0).status, WVP_EXIT_BAD_COMMAND);
  EXPECT_EQ(wafer.npu(0).error_registers.at(WVP_REG_ERROR_OP), 1u);
}

}  // namespace
}  // namespace wafervp::test
