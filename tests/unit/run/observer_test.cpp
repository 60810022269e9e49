// SPDX-License-Identifier: Apache-2.0
// Breakdown and collectives from the marks of the firmware: parts sum to the whole, overlap is not exposed.
#include "run/observer.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "run/log.h"

namespace wafervp {
namespace {

const NpuId kFirst(0), kSecond(1);

wvp_command start(std::uint8_t op, std::uint16_t comm, std::uint64_t bytes, std::uint32_t sequence = 0) {
  wvp_command command{};
  command.kind = WVP_CMD_START;
  command.op = op;
  command.algorithm = WVP_ALG_RING;
  command.comm = comm;
  command.bytes = bytes;
  command.sequence = sequence;
  return command;
}

wvp_command message(std::uint8_t op, std::uint8_t traffic_class) {
  wvp_command command = start(op, 0, 100);
  command.traffic_class = traffic_class;
  return command;
}

wvp_command plain(std::uint8_t kind) {
  wvp_command command{};
  command.kind = kind;
  return command;
}

/// Commands by number: 0-3 collectives of mp, dp, input_load and weight_streaming, 4 and 5 messages, 6 and 7
/// further all-reduces of mp, 8 computes in the background, 9 ends.
Workload two_npus() {
  Workload workload;
  const std::vector<NpuId> both = {kFirst, kSecond};
  const auto group = [&](const char* name, TrafficKind kind) {
    Communicator made;
    made.name = name;
    made.kind = kind;
    made.members = both;
    workload.communicators.push_back(made);
  };
  group("mp", TrafficKind::kMp);
  group("dp", TrafficKind::kDp);
  group("input", TrafficKind::kInputLoad);
  group("weights", TrafficKind::kWeightStreaming);
  RankProgram program;
  program.commands = {start(WVP_OP_ALL_REDUCE, 0, 1000, 0),  start(WVP_OP_ALL_GATHER, 1, 2000, 0),
                      start(WVP_OP_BROADCAST, 2, 3000, 0),   start(WVP_OP_BROADCAST, 3, 4000, 0),
                      message(WVP_OP_RECEIVE, WVP_CLASS_PP), message(WVP_OP_SEND, WVP_CLASS_MP),
                      start(WVP_OP_ALL_REDUCE, 0, 1000, 1),  start(WVP_OP_ALL_REDUCE, 0, 5000, 2),
                      plain(WVP_CMD_COMPUTE_ASYNC),          plain(WVP_CMD_END)};
  workload.programs = {program, program};
  return workload;
}

Time sum_of(const Breakdown& parts) {
  return parts.compute + parts.input_load + parts.mp + parts.dp + parts.pp + parts.weight_streaming +
         parts.idle;
}

class Observer : public testing::Test {
 protected:
  void wait(std::uint32_t command, Time begin, Time end) {
    observer.on_phase(kFirst, WVP_PHASE_WAIT, command, begin);
    observer.on_phase(kFirst, WVP_PHASE_RESUME, command, end);
  }
  Breakdown parts(Time total) { return observer.breakdown(kFirst, total); }

  Workload workload = two_npus();
  RunHooks hooks;
  RunLog log{hooks, {kFirst, kSecond}};
  RunObserver observer{workload, {true}, log};
};

TEST_F(Observer, PartsSumToTheTotal) {
  observer.on_compute(kFirst, 0, 100);
  wait(0, 150, 200);
  observer.on_exit(kFirst, WVP_EXIT_OK, 210);
  const Breakdown found = parts(300);
  EXPECT_EQ(found.compute, 100u);
  EXPECT_EQ(found.mp, 50u);
  EXPECT_EQ(found.idle, 150u);
  EXPECT_EQ(sum_of(found), 300u);
  const Breakdown other = observer.breakdown(kSecond, 300);
  EXPECT_EQ(other.idle, 300u);
}

TEST_F(Observer, AWaitUnderAComputationIsNotExposed) {
  observer.on_compute(kFirst, 0, 100);
  wait(1, 20, 80);
  EXPECT_EQ(parts(100).dp, 0u);
  EXPECT_EQ(sum_of(parts(100)), 100u);
}

TEST_F(Observer, AWaitBeyondAComputationIsExposedFromItsEnd) {
  observer.on_compute(kFirst, 0, 100);
  wait(1, 40, 160);
  EXPECT_EQ(parts(200).dp, 60u);
  EXPECT_EQ(parts(200).compute, 100u);
  EXPECT_EQ(parts(200).idle, 40u);
}

TEST_F(Observer, ComputationsWithoutAGapAreOne) {
  observer.on_compute(kFirst, 10, 50);
  observer.on_compute(kFirst, 50, 70);
  observer.on_compute(kFirst, 70, 100);
  wait(1, 20, 130);
  EXPECT_EQ(parts(130).dp, 30u);
  EXPECT_EQ(parts(130).compute, 90u);
  EXPECT_EQ(sum_of(parts(130)), 130u);
}

TEST_F(Observer, CountsByTheKindOfTheGroupAndTheClassOfAMessage) {
  wait(0, 0, 1);
  wait(1, 10, 12);
  wait(2, 20, 24);
  wait(3, 30, 38);
  wait(4, 40, 56);
  wait(5, 60, 92);
  const Breakdown found = parts(100);
  EXPECT_EQ(found.mp, 1u + 32u);
  EXPECT_EQ(found.dp, 2u);
  EXPECT_EQ(found.input_load, 4u);
  EXPECT_EQ(found.weight_streaming, 8u);
  EXPECT_EQ(found.pp, 16u);
  EXPECT_EQ(found.idle, 37u);
}

TEST_F(Observer, AWaitForTheComputeEngineIsNotCommunication) {
  observer.on_compute(kFirst, 0, 50);
  wait(8, 10, 60);
  EXPECT_EQ(parts(60).compute, 50u);
  EXPECT_EQ(parts(60).idle, 10u);
}

TEST_F(Observer, KnowsSinceWhenARankIsBlocked) {
  EXPECT_EQ(observer.blocked_since(kFirst), kNever);
  observer.on_phase(kFirst, WVP_PHASE_WAIT, 0, 77);
  EXPECT_EQ(observer.blocked_since(kFirst), 77u);
  observer.on_phase(kFirst, WVP_PHASE_RESUME, 0, 99);
  EXPECT_EQ(observer.blocked_since(kFirst), kNever);
}

TEST_F(Observer, CountsExitsAndTheShareThatIsDone) {
  EXPECT_EQ(observer.share_done(), 0.0);
  observer.on_phase(kFirst, WVP_PHASE_OP_BEGIN, 4, 10);
  EXPECT_DOUBLE_EQ(observer.share_done(), 5.0 / 20);
  observer.on_phase(kFirst, WVP_PHASE_OP_END, 1, 20);  // an earlier command takes nothing back
  EXPECT_DOUBLE_EQ(observer.share_done(), 5.0 / 20);
  observer.on_exit(kFirst, WVP_EXIT_OK, 30);
  EXPECT_DOUBLE_EQ(observer.share_done(), 0.5);
  EXPECT_FALSE(observer.failed());
  observer.on_exit(kSecond, WVP_EXIT_SIZE_MISMATCH, 40);
  EXPECT_DOUBLE_EQ(observer.share_done(), 1.0);
  EXPECT_EQ(observer.exits(), 2u);
  EXPECT_TRUE(observer.failed());
  EXPECT_EQ(observer.exit_code(kSecond), static_cast<std::uint32_t>(WVP_EXIT_SIZE_MISMATCH));
  EXPECT_EQ(observer.end_of(kSecond), 40u);
}

TEST_F(Observer, TimesCollectivesFromTheFirstEntryToTheLastEnd) {
  const auto run = [&](std::uint32_t command, Time first, Time second, Time first_end, Time second_end) {
    observer.on_phase(kFirst, WVP_PHASE_OP_BEGIN, command, first);
    observer.on_phase(kSecond, WVP_PHASE_OP_BEGIN, command, second);
    observer.on_phase(kFirst, WVP_PHASE_OP_END, command, first_end);
    observer.on_phase(kSecond, WVP_PHASE_OP_END, command, second_end);
  };
  run(0, 30, 10, 100, 120);    // 110
  run(6, 200, 230, 260, 250);  // 60: the same kind and size again
  run(7, 300, 300, 400, 400);  // another size
  observer.on_phase(kFirst, WVP_PHASE_OP_BEGIN, 1, 500);
  observer.on_phase(kFirst, WVP_PHASE_OP_END, 1, 600);  // the other member has not ended
  const auto found = observer.collectives();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].op, WVP_OP_ALL_REDUCE);
  EXPECT_EQ(found[0].bytes, 1000u);
  EXPECT_EQ(found[0].count, 2u);
  EXPECT_EQ(found[0].sum, 170u);
  EXPECT_EQ(found[0].min, 60u);
  EXPECT_EQ(found[0].max, 110u);
  EXPECT_EQ(found[1].bytes, 5000u);
  EXPECT_EQ(found[1].count, 1u);
}

TEST_F(Observer, TracesOperationsAndComputations) {
  observer.on_compute(kFirst, 5, 25);
  observer.on_phase(kFirst, WVP_PHASE_OP_BEGIN, 0, 10);
  observer.on_phase(kFirst, WVP_PHASE_OP_BEGIN, 4, 15);
  observer.on_phase(kFirst, WVP_PHASE_OP_END, 4, 20);
  observer.on_phase(kFirst, WVP_PHASE_OP_END, 0, 30);
  const std::vector<TraceSlice> trace = observer.take_trace();
  ASSERT_EQ(trace.size(), 3u);
  EXPECT_EQ(trace[0].name, "compute");
  EXPECT_EQ(trace[1].name, "receive");
  EXPECT_EQ(trace[1].category, "pp");
  EXPECT_EQ(trace[2].name, "all_reduce");
  EXPECT_EQ(trace[2].category, "mp");
  EXPECT_EQ(trace[2].begin, 10u);
  EXPECT_EQ(trace[2].end, 30u);
}

TEST(ObserverWithoutTrace, KeepsNoSlices) {
  const Workload workload = two_npus();
  const RunHooks hooks;
  const RunLog log(hooks, {kFirst, kSecond});
  RunObserver observer(workload, {false}, log);
  for (NpuId npu : {kFirst, kSecond}) {
    observer.on_phase(npu, WVP_PHASE_OP_BEGIN, 0, 1);
    observer.on_phase(npu, WVP_PHASE_OP_END, 0, 2);
  }
  EXPECT_EQ(observer.collectives().size(), 1u);
  EXPECT_TRUE(observer.take_trace().empty());
}

// Programs as firmware runs them (a blocked program starts no computation), against a count of each ps.
TEST(ObserverAtRandom, AgreesWithACountOfEachPicosecond) {
  const Workload workload = two_npus();
  const RunHooks hooks;
  const RunLog log(hooks, {kFirst, kSecond});
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    RunObserver observer(workload, {}, log);
    constexpr Time kTotal = 2000;
    std::vector<bool> busy(kTotal, false);
    std::vector<int> blocked(kTotal, -1);  // the command
    Time now = 0, engine_free = 0;
    for (;;) {
      if (random() % 2 == 0) {  // a computation, behind what the engine has to do already
        const Time begin = std::max(now, engine_free), end = begin + 1 + random() % 60;
        if (end > kTotal) break;
        observer.on_compute(kFirst, begin, end);
        std::fill(busy.begin() + static_cast<std::ptrdiff_t>(begin),
                  busy.begin() + static_cast<std::ptrdiff_t>(end), true);
        engine_free = end;
      } else {
        const auto command = static_cast<std::uint32_t>(random() % 5);
        const Time end = now + random() % 90;
        if (end > kTotal) break;
        observer.on_phase(kFirst, WVP_PHASE_WAIT, command, now);
        observer.on_phase(kFirst, WVP_PHASE_RESUME, command, end);
        for (Time t = now; t < end; ++t) blocked[t] = static_cast<int>(command);
        now = end;
      }
      now += random() % 3 * 10;
      if (now > kTotal) break;
    }
    Breakdown expected;
    Time* const part_of[] = {&expected.mp, &expected.dp, &expected.input_load, &expected.weight_streaming,
                             &expected.pp};
    for (Time t = 0; t < kTotal; ++t) {
      ++*(busy[t] ? &expected.compute : blocked[t] >= 0 ? part_of[blocked[t]] : &expected.idle);
    }
    const Breakdown found = observer.breakdown(kFirst, kTotal);
    ASSERT_EQ(found.compute, expected.compute) << "round " << round;
    ASSERT_EQ(found.mp, expected.mp) << "round " << round;
    ASSERT_EQ(found.dp, expected.dp) << "round " << round;
    ASSERT_EQ(found.pp, expected.pp) << "round " << round;
    ASSERT_EQ(found.input_load, expected.input_load) << "round " << round;
    ASSERT_EQ(found.weight_streaming, expected.weight_streaming) << "round " << round;
    ASSERT_EQ(found.idle, expected.idle) << "round " << round;
    ASSERT_EQ(sum_of(found), kTotal);
  }
}

}  // namespace
}  // namespace wafervp
