// SPDX-License-Identifier: Apache-2.0
// Does the control processor run its program as program.h says: several operations in flight, messages
// between two ranks, computations, waits, marks and charges?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session.h"

namespace wafervp::test {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

wvp_command message(std::uint8_t op, std::uint32_t peer, std::uint64_t bytes, std::uint64_t address,
                    std::uint8_t slot, std::uint32_t sequence = 0,
                    std::uint8_t traffic_class = WVP_CLASS_PP) {
  wvp_command command{};
  command.kind = WVP_CMD_START;
  command.op = op;
  command.traffic_class = traffic_class;
  command.slot = slot;
  command.root = peer;
  command.sequence = sequence;
  command.bytes = bytes;
  command.src = command.dst = address;
  return command;
}

wvp_command compute(std::uint8_t kind, std::uint8_t slot = 0) {
  wvp_command command{};
  command.kind = kind;
  command.slot = slot;
  command.compute_ps = 1000;
  return command;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> marks(const MockNpu& npu) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> list;
  for (const PhaseMark& mark : npu.phases) list.emplace_back(mark.kind, mark.command);
  return list;
}

Collective random_collective(std::mt19937_64& random, Session& session) {
  static constexpr std::pair<std::uint8_t, std::uint8_t> kKinds[] = {
      {WVP_OP_ALL_REDUCE, WVP_ALG_RING},
      {WVP_OP_ALL_REDUCE, WVP_ALG_HIERARCHICAL},
      {WVP_OP_ALL_REDUCE, WVP_ALG_IN_SWITCH},
      {WVP_OP_REDUCE_SCATTER, WVP_ALG_RING},
      {WVP_OP_REDUCE_SCATTER, WVP_ALG_IN_SWITCH},
      {WVP_OP_ALL_GATHER, WVP_ALG_RING},
      {WVP_OP_ALL_GATHER, WVP_ALG_HIERARCHICAL},
      {WVP_OP_ALL_GATHER, WVP_ALG_IN_SWITCH},
      {WVP_OP_BROADCAST, WVP_ALG_RELAY},
      {WVP_OP_BROADCAST, WVP_ALG_DIRECT},
      {WVP_OP_BROADCAST, WVP_ALG_IN_SWITCH},
      {WVP_OP_ALL_TO_ALL, WVP_ALG_DIRECT},
      {WVP_OP_REDUCE_SCATTER, WVP_ALG_HIERARCHICAL}};
  Collective collective;
  std::tie(collective.op, collective.algorithm) = kKinds[random() % std::size(kKinds)];
  collective.dtype = static_cast<std::uint8_t>(random() % 5);
  collective.dim_x = static_cast<std::uint32_t>(1 + random() % 4);
  collective.dim_y = static_cast<std::uint32_t>(1 + random() % 3);
  collective.members = session.pick_members(collective.dim_x * collective.dim_y);
  collective.bytes = (random() % 300) * wvp_dtype_bytes(collective.dtype);
  collective.chunks = static_cast<std::uint32_t>(1 + random() % 12);
  collective.active_chunks = static_cast<std::uint32_t>(random() % 4);
  collective.root = static_cast<std::uint32_t>(random() % collective.members.size());
  collective.flows = true;
  return collective;
}

TEST(Program, ManyOperationsInFlight) {
  for (std::uint64_t seed = 1; seed <= 40; seed++) {
    std::mt19937_64 random(seed);
    Session session(14, seed);
    session.options.lazy = seed % 3 == 0;
    session.options.descriptor_entries = seed % 2 ? 64 : 8;
    for (int i = 0; i < 40; i++) session.add(random_collective(random, session));
    ASSERT_EQ(session.run(Session::Order::kAllTogether), "") << "seed " << seed;
  }
}

// A flow adds what comes first from each member to what comes first from the others.
TEST(Program, OperationsOnOneGroupKeepTheOrderOfItsFlows) {
  for (std::uint64_t seed = 1; seed <= 40; seed++) {
    Session session(5, seed);
    session.options.lazy = seed % 2;
    session.options.descriptor_entries = 8;
    Collective collective;
    collective.members = session.pick_members(5);
    collective.flows = true;
    collective.algorithm = WVP_ALG_IN_SWITCH;
    collective.bytes = 4 * 300;
    for (std::uint32_t i = 0; i < 24; i++) {
      collective.op = i % 3 == 1 ? WVP_OP_REDUCE_SCATTER : i % 3 == 2 ? WVP_OP_ALL_GATHER : WVP_OP_ALL_REDUCE;
      collective.chunks = 1 + i * 7 % 10;
      collective.active_chunks = i % 4;
      session.add(collective, i > 0);
    }
    ASSERT_EQ(session.run(Session::Order::kAllTogether), "") << "seed " << seed;
  }
}

// Operations that hold all shared strands on some ranks must not starve others on other ranks.
TEST(Program, StrandsAreNotStarved) {
  for (std::uint64_t seed = 1; seed <= 6; seed++) {
    Session session(6, seed);
    for (int i = 0; i < 16; i++) {
      Collective collective;
      collective.members = session.pick_members(4);
      collective.bytes = 4 * 300;
      collective.chunks = 60;
      session.add(collective);
    }
    ASSERT_EQ(session.run(Session::Order::kEachInItsOwn), "") << "seed " << seed;
  }
}

TEST(Program, SendsAndReceivesMatchByClassAndSequence) {
  for (std::uint64_t seed = 1; seed <= 50; seed++) {
    MockOptions options;
    options.seed = seed;
    options.memory_bytes = 4096;
    MockWafer wafer(2, options);
    std::vector<wvp_command> sender, receiver;
    for (std::uint8_t i = 0; i < 6; i++) {
      sender.push_back(
          message(WVP_OP_SEND, 1, 10u + i, 100u * i, i, i / 2, i % 2 ? WVP_CLASS_PP : WVP_CLASS_DP));
      for (std::uint32_t k = 0; k < 10u + i; k++)
        wafer.npu(0).memory[100u * i + k] = static_cast<std::uint8_t>(16 * i + k);
    }
    for (std::uint8_t i = 6; i-- > 0;) {  // in the opposite order
      receiver.push_back(message(WVP_OP_RECEIVE, 0, 10u + i, 1000u + 100u * i, i, i / 2,
                                 i % 2 ? WVP_CLASS_PP : WVP_CLASS_DP));
    }
    sender.push_back(message(WVP_OP_RECEIVE, 1, 0, 0, 7));
    receiver.push_back(message(WVP_OP_SEND, 0, 0, 0, 7));
    sender.push_back({});
    receiver.push_back({});
    wafer.load(0, sender, {});
    wafer.load(1, receiver, {});
    ASSERT_TRUE(wafer.run());
    EXPECT_EQ(wafer.left_over(), 0u);
    for (std::uint32_t i = 0; i < 6; i++) {
      for (std::uint32_t k = 0; k < 10 + i; k++) {
        ASSERT_EQ(wafer.npu(1).memory[1000 + 100 * i + k], static_cast<std::uint8_t>(16 * i + k));
      }
    }
  }
}

TEST(Program, NobodyLeavesABarrierBeforeAllHaveEntered) {
  for (std::uint32_t ranks = 1; ranks <= 20; ranks++) {
    for (const bool flows : {false, true}) {
      MockOptions options;
      options.seed = ranks;
      MockWafer wafer(ranks, options);
      Collective barrier;
      barrier.op = WVP_OP_BARRIER;
      barrier.algorithm = WVP_ALG_AUTO;
      barrier.bytes = 1000000;  // means nothing
      for (std::uint32_t i = 0; i < ranks; i++) barrier.members.push_back(i);
      if (flows) wafer.add_flow(9, {barrier.members, barrier.members});
      for (std::uint32_t i = 0; i < ranks; i++) {
        wafer.load(i, {compute(WVP_CMD_COMPUTE), start_command(barrier, 0, 0), wait_command(0), {}},
                   {make_comm(barrier, 3, i, flows ? 9 : 0)});
      }
      wafer.on_end = [&](std::uint32_t, std::uint32_t) {
        for (std::uint32_t i = 0; i < ranks; i++) EXPECT_FALSE(wafer.npu(i).phases.empty());
      };
      ASSERT_TRUE(wafer.run());
      EXPECT_EQ(wafer.left_over(), 0u);
      std::uint32_t rounds = 0;
      while (1u << rounds < ranks) rounds++;
      EXPECT_EQ(wafer.npu(0).sent_messages, flows && ranks > 1 ? 1 : rounds);
    }
  }
}

TEST(Program, MarksSayWhatTheProgramWaitsFor) {
  MockOptions options;
  options.memory_bytes = 64;
  MockWafer wafer(2, options);
  wafer.load(0,
             {compute(WVP_CMD_COMPUTE),
              message(WVP_OP_RECEIVE, 1, 8, 0, 5),
              compute(WVP_CMD_COMPUTE_ASYNC, 2),
              wait_command(3),
              wait_command(5),
              {}},
             {});
  wafer.load(1, {compute(WVP_CMD_COMPUTE_ASYNC, 4), wait_command(4), message(WVP_OP_SEND, 0, 8, 0, 0), {}},
             {});
  ASSERT_TRUE(wafer.run());
  EXPECT_THAT(marks(wafer.npu(1)),
              ElementsAre(std::make_pair(WVP_PHASE_WAIT, 0u), std::make_pair(WVP_PHASE_RESUME, 0u),
                          std::make_pair(WVP_PHASE_OP_BEGIN, 2u), std::make_pair(WVP_PHASE_OP_END, 2u)));
  // A computation blocks without a mark; a wait for an idle slot passes; END waits for the computation of
  // slot 2.
  EXPECT_THAT(marks(wafer.npu(0)),
              ElementsAre(std::make_pair(WVP_PHASE_OP_BEGIN, 1u), std::make_pair(WVP_PHASE_WAIT, 1u),
                          std::make_pair(WVP_PHASE_OP_END, 1u), std::make_pair(WVP_PHASE_RESUME, 1u)));
}

TEST(Program, NothingToDoEndsAtOnce) {
  Session session(3, 1);
  Collective collective;
  collective.members = {0, 1, 2};
  session.add(collective);  // zero bytes
  ASSERT_EQ(session.run(), "");
  EXPECT_THAT(marks(session.wafer().npu(1)),
              ElementsAre(std::make_pair(WVP_PHASE_OP_BEGIN, 0u), std::make_pair(WVP_PHASE_OP_END, 0u)));
  EXPECT_EQ(session.wafer().npu(1).descriptors, 0u);
}

/// One collective on ranks 0 .. n-1; returns rank 0 after the run.
MockNpu& run_on_first(Session& session, Collective collective, std::uint32_t ranks) {
  collective.members.clear();
  for (std::uint32_t i = 0; i < ranks; i++) collective.members.push_back(i);
  session.add(collective);
  EXPECT_EQ(session.run(), "");
  return session.wafer().npu(0);
}

// ASTRA-sim's endpoint delay: k messages cost k + 1 charges for each chunk.
TEST(Program, ChargesOncePerStrandAndMessage) {
  Collective collective;
  collective.bytes = 4 * 8 * 100;
  collective.chunks = 3;
  {
    Session session(8, 1);
    EXPECT_EQ(run_on_first(session, collective, 8).charges, 3u * (14 + 1));
  }
  collective.op = WVP_OP_REDUCE_SCATTER;
  {
    Session session(8, 1);
    EXPECT_EQ(run_on_first(session, collective, 8).charges, 3u * (7 + 1));
  }
  collective.op = WVP_OP_ALL_REDUCE;
  collective.algorithm = WVP_ALG_HIERARCHICAL;
  collective.dim_x = 4;
  collective.dim_y = 2;
  {
    Session session(8, 1);  // three chunks of each order; 2 * 3 + 2 * 1 messages
    EXPECT_EQ(run_on_first(session, collective, 8).charges, 6u * (8 + 1));
  }
}

// The hot path: a step is one descriptor, one doorbell and one completion; a chunk has two completions
// more, the end of its last send and of its last copy.
// Of 30 messages firmware takes the first of the gathering half and the last two; the message engine the
// others.
TEST(Program, FirmwareSeesToTheEndsOfAPhaseAndTheEngineWalksBetween) {
  Session session(16, 1);
  Collective collective;
  collective.bytes = 4 * 16 * 10;
  MockNpu& npu = run_on_first(session, collective, 16);
  EXPECT_EQ(npu.walked_steps, 30u - 3);
  EXPECT_EQ(npu.descriptors, 3u + 1);
  EXPECT_EQ(npu.doorbells, 3u + 1);
  EXPECT_EQ(npu.completions, 3u + 2);
  EXPECT_EQ(npu.charges, 30u + 1);
  EXPECT_LE(npu.head_writes, npu.completions);
}

// facts of FRED: between switches (y) first, then the oldest chunk.
TEST(Program, HierarchicalInOneOrderGivesPriorityToThePhaseBetweenSwitches) {
  Session session(4, 1);
  Collective collective;
  collective.algorithm = WVP_ALG_HIERARCHICAL;
  collective.bytes = 4 * 64;
  collective.chunks = 2;
  collective.dim_x = collective.dim_y = 2;
  collective.x_first_share = 65536;
  collective.active_chunks = 1;
  // A chunk: one send in x, two in y, one in x.
  EXPECT_THAT(run_on_first(session, collective, 4).priorities,
              ElementsAreArray({0x80000000u, 0u, 0u, 0x80000000u, 0x80000001u, 1u, 1u, 0x80000001u}));
}

// Both orders at once: the earlier phase goes first. Per chunk 1 + 2 + 1 sends.
TEST(Program, HierarchicalInTwoOrdersGivesPriorityToTheEarlierPhase) {
  Session session(4, 1);
  Collective collective;
  collective.algorithm = WVP_ALG_HIERARCHICAL;
  collective.bytes = 4 * 64;
  collective.chunks = 1;
  collective.dim_x = collective.dim_y = 2;
  collective.active_chunks = 1;
  EXPECT_THAT(run_on_first(session, collective, 4).priorities,
              ElementsAreArray({0u, 1u, 1u, 2u, 0u, 1u, 1u, 2u}));
}

// What comes at one time is handled by operation, strand and step, in whatever order it was written.
TEST(Program, TheOrderOfCompletionsAtOneTimeDoesNotMatter) {
  std::vector<std::uint64_t> expected;
  for (std::uint64_t seed = 1; seed <= 20; seed++) {
    Session session(12, seed);
    session.options.values = false;
    session.options.patient = true;
    Collective collective;
    collective.algorithm = WVP_ALG_HIERARCHICAL;
    collective.bytes = 4 * 1200;
    collective.dim_x = 4;
    collective.dim_y = 3;
    collective.chunks = 5;
    const MockNpu& npu = run_on_first(session, collective, 12);
    if (expected.empty()) expected = npu.sent_tags;
    ASSERT_EQ(npu.sent_tags, expected);
  }
}

TEST(Program, ContextIsSmall) { EXPECT_LE(wvp_context_bytes(), 4u * 1024); }

}  // namespace
}  // namespace wafervp::test
