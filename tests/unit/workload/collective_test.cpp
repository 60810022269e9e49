// SPDX-License-Identifier: Apache-2.0
// Does a micro-benchmark run what the scenario says on the groups that it says?
#include <gmock/gmock.h>

#include "abstract_machine.h"
#include "scenarios.h"

namespace wafervp::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* kFredD = R"({"kind":"fred","fred":{"in_network":true}})";

std::string collective(const std::string& members, const std::string& rest = "") {
  return R"({"kind":"collective","collective":{)" + members + "}" + rest + "}";
}

TEST(Collective, WholeWaferIsOneGroupInNpuOrder) {
  const Built built = build(scenario_of(collective(R"("bytes":419430400,"repeats":3,"chunks":16)")));
  ASSERT_THAT(built.workload.communicators, SizeIs(1));
  const AbstractRun run = run_abstractly(built.workload);
  EXPECT_EQ(run.fault, "");
  EXPECT_EQ(run.operations.at({"all", WVP_OP_ALL_REDUCE}), 3u);
  const auto sums = starts(built.workload.programs[7], WVP_OP_ALL_REDUCE);
  ASSERT_THAT(sums, SizeIs(3));
  EXPECT_EQ(sums[0].bytes, 419'430'400u);
  EXPECT_EQ(sums[0].chunks, 16u);
  EXPECT_THAT((std::vector<std::uint32_t>{sums[0].sequence, sums[1].sequence, sums[2].sequence}),
              ElementsAre(0, 1, 2));
}

TEST(Collective, GroupsOfADimensionRunAtOnce) {
  const Built built = build(scenario_of(
      collective(R"("groups":"dp","operation":"all_reduce")", R"(,"parallelism":{"mp":2,"dp":5,"pp":2})")));
  const AbstractRun run = run_abstractly(built.workload);
  EXPECT_EQ(run.fault, "");
  EXPECT_EQ(run.operations.size(), 4u);
  for (const Communicator& c : built.workload.communicators) {
    EXPECT_EQ(c.kind, TrafficKind::kDp);
    EXPECT_THAT(c.members, SizeIs(5));
  }
}

TEST(Collective, PipelineBroadcastIsAHandOverForward) {
  const std::string workload =
      collective(R"("groups":"pp","operation":"broadcast")", R"(,"parallelism":{"mp":2,"dp":5,"pp":2})");
  const Built mesh = build(scenario_of(workload));
  ASSERT_THAT(mesh.workload.communicators, SizeIs(5));
  for (std::uint32_t dp = 0; dp < 5; ++dp) {
    const auto npu = [&](std::uint32_t rank) { return mesh.placement.npu_of_rank[4 * dp + rank]; };
    EXPECT_THAT(mesh.workload.communicators[dp].members, ElementsAre(npu(0), npu(2), npu(3)));
  }
  const wvp_command relay = starts(mesh.workload.programs[0], WVP_OP_BROADCAST).at(0);
  EXPECT_EQ(relay.algorithm, WVP_ALG_RELAY);
  EXPECT_EQ(relay.chunks, 64u);
  EXPECT_EQ(run_abstractly(mesh.workload).fault, "");
  const Built fred = build(scenario_of(workload, kFredD));
  EXPECT_EQ(starts(fred.workload.programs[0], WVP_OP_BROADCAST).at(0).algorithm, WVP_ALG_IN_SWITCH);
}

TEST(Collective, AMiddleStageIsInTwoHandOversAtOnce) {
  const Built built = build(scenario_of(collective(R"("groups":"pp","operation":"broadcast","repeats":2)",
                                                   R"(,"parallelism":{"mp":2,"dp":2,"pp":5})")));
  EXPECT_EQ(run_abstractly(built.workload).fault, "");
  const NpuId middle = built.placement.npu_of_rank[2];
  EXPECT_THAT(starts(built.workload.programs[middle.value], WVP_OP_BROADCAST), SizeIs(4));
}

TEST(Collective, ExplicitGroupAndOthersIdle) {
  const Built built = build(scenario_of(collective(R"("ranks":[7,3,11],"operation":"all_gather")")));
  EXPECT_THAT(built.workload.communicators[0].members, ElementsAre(NpuId{7}, NpuId{3}, NpuId{11}));
  EXPECT_THAT(built.workload.programs[0].commands, SizeIs(1));
  EXPECT_EQ(built.workload.programs[0].commands[0].kind, WVP_CMD_END);
  EXPECT_EQ(run_abstractly(built.workload).fault, "");
}

TEST(Collective, LateAbsentAndDifferentRanks) {
  const Built late = build(scenario_of(collective(R"("start_ns":{"3":1000.5})")));
  EXPECT_EQ(late.workload.programs[3].commands[0].kind, WVP_CMD_COMPUTE);
  EXPECT_EQ(late.workload.programs[3].commands[0].compute_ps, 1'000'500u);
  EXPECT_EQ(late.workload.programs[2].commands[0].kind, WVP_CMD_START);
  EXPECT_EQ(run_abstractly(late.workload).fault, "");

  const Built absent = build(scenario_of(collective(R"("absent":[5])")));
  EXPECT_THAT(absent.workload.programs[5].commands, SizeIs(1));
  EXPECT_THAT(run_abstractly(absent.workload).fault, HasSubstr("waits for ever"));

  const Built other = build(scenario_of(collective(R"("bytes_of":{"4":16})")));
  EXPECT_EQ(starts(other.workload.programs[4], WVP_OP_ALL_REDUCE).at(0).bytes, 16u);
  EXPECT_THAT(run_abstractly(other.workload).fault, HasSubstr("disagrees"));
}

TEST(Collective, SendGoesFromRootToTheNext) {
  const Built built =
      build(scenario_of(collective(R"("operation":"send","ranks":[4,9,2],"root":1,"repeats":2,"bytes":4096)",
                                   R"(,"messages":[{"from":9,"to":2,"bytes":64}])")));
  EXPECT_EQ(run_abstractly(built.workload).fault, "");
  const auto sent = starts(built.workload.programs[9], WVP_OP_SEND);
  ASSERT_THAT(sent, SizeIs(3));
  // All messages between two ranks have numbers of their own, whatever the communicator.
  EXPECT_NE(sent[0].sequence, sent[1].sequence);
  EXPECT_NE(sent[0].sequence, sent[2].sequence);
  EXPECT_NE(sent[1].sequence, sent[2].sequence);
  EXPECT_THAT(built.workload.programs[4].commands, SizeIs(1));
}

TEST(Collective, EachGroupSendsToItsOwnMembers) {
  const Built built = build(scenario_of(
      collective(R"("operation":"send","groups":"mp","repeats":2)", R"(,"parallelism":{"mp":2,"dp":10})")));
  EXPECT_EQ(run_abstractly(built.workload).fault, "");
  for (const Communicator& c : built.workload.communicators) {
    const auto sent = starts(built.workload.programs[c.members[0].value], WVP_OP_SEND);
    ASSERT_THAT(sent, SizeIs(2));
    EXPECT_EQ(sent[0].root, c.members[1].value);
  }
}

TEST(Collective, AllToAllHasRoomForLongerShares) {
  // 21 fp16 elements on 20 ranks: the first rank gets two from everybody, 80 bytes for a vector of 42.
  const Built built = build(scenario_of(collective(R"("operation":"all_to_all","bytes":42)")));
  const wvp_command command = starts(built.workload.programs[0], WVP_OP_ALL_TO_ALL).at(0);
  EXPECT_GE(built.workload.device_memory_bytes, command.dst + 80);
  EXPECT_GE(command.dst, command.src + 42);
}

TEST(Messages, StartAtTheirTimes) {
  const Built built = build(scenario_of(
      R"({"kind":"collective","messages":[{"from":0,"to":3,"bytes":4194304,"start_ns":3000},
          {"from":0,"to":2,"bytes":1048576},{"from":1,"to":3,"bytes":4194304}]})"));
  EXPECT_EQ(run_abstractly(built.workload).fault, "");
  const auto& program = built.workload.programs[0].commands;
  ASSERT_GE(program.size(), 3u);
  EXPECT_EQ(program[0].op, WVP_OP_SEND);
  EXPECT_EQ(program[0].bytes, 1'048'576u);
  EXPECT_EQ(program[1].compute_ps, 3'000'000u);
  EXPECT_EQ(program[2].bytes, 4'194'304u);
  EXPECT_THAT(starts(built.workload.programs[3], WVP_OP_RECEIVE), SizeIs(2));
}

TEST(Messages, MoreThanThereAreSlotsGoInTurn) {
  std::string messages;
  for (int i = 0; i < 30; ++i) {
    messages += R"({"from":0,"to":1,"bytes":4096},{"from":1,"to":0,"bytes":8192},)";
  }
  messages += R"({"from":2,"to":1,"bytes":4096})";
  const Built built = build(
      scenario_of(R"({"kind":"collective","collective":{"bytes":4096},"messages":[)" + messages + "]}"));
  // The abstract machine is stricter than firmware: sends wait for their receivers there.
  EXPECT_THAT(starts(built.workload.programs[0], WVP_OP_SEND), SizeIs(30));
  EXPECT_THAT(starts(built.workload.programs[0], WVP_OP_RECEIVE), SizeIs(30));
  std::uint64_t busiest = 0;
  for (const wvp_command& command : built.workload.programs[0].commands)
    busiest = std::max<std::uint64_t>(busiest, command.slot);
  EXPECT_LT(busiest, WVP_SLOTS);
  EXPECT_LE(built.workload.device_memory_bytes, 4096u + 6 * 8192 + 8 * 8192 + 4096);
}

TEST(Collective, WhatCannotRunIsRefused) {
  const auto issue = [](const std::string& workload, const std::string& fabric = R"({"kind":"mesh2d"})") {
    const auto issues = build_issues(scenario_of(workload, fabric));
    return issues.empty() ? Issue{} : issues.front();
  };
  EXPECT_EQ(issue(collective(R"("algorithm":"hierarchical","ranks":[0,1,2])")).pointer,
            "/workload/collective/algorithm");
  EXPECT_EQ(issue(collective(R"("groups":"pp")", R"(,"parallelism":{"dp":20})")).pointer,
            "/workload/collective/groups");
  EXPECT_EQ(issue(collective(R"("repeats":1000000)")).pointer, "/workload/collective/repeats");
  Scenario odd = scenario_of(collective(R"("type":"fp32","bytes":8)"));
  odd.workload.collective.bytes = 7;
  EXPECT_EQ(build_issues(odd).at(0).pointer, "/workload/collective/bytes");
  Scenario in_switch = scenario_of(collective(R"("bytes":8)"));
  in_switch.workload.collective.algorithm = Algorithm::kInSwitch;
  EXPECT_EQ(build_issues(in_switch).at(0).pointer, "/workload/collective/algorithm");
  in_switch.workload.collective.algorithm = Algorithm::kRelay;
  EXPECT_THAT(build_issues(in_switch).at(0).text, HasSubstr("cannot do"));
}

}  // namespace
}  // namespace wafervp::test
