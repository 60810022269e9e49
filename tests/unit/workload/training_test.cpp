// SPDX-License-Identifier: Apache-2.0
// Do the programs of a training step hold the FLOPs, bytes and counts of the models' formulas?
#include <gmock/gmock.h>

#include <cmath>

#include "abstract_machine.h"
#include "scenarios.h"

namespace wafervp::test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* k17b = R"({"kind":"transformer","parallelism":{"mp":3,"dp":3,"pp":2},
  "transformer":{"preset":"transformer_17b"},"samples_per_replica":16,"microbatches":8})";
constexpr const char* kResnet = R"({"kind":"resnet152","parallelism":{"dp":20},"samples_per_replica":16})";

double flops(const RankProgram& program) {
  double sum = 0;
  for (const wvp_command& command : commands(program, WVP_CMD_COMPUTE)) {
    sum += static_cast<double>(command.compute_flops);
  }
  return sum;
}
std::uint64_t fixed_ps(const RankProgram& program) {
  std::uint64_t sum = 0;
  for (const wvp_command& command : commands(program, WVP_CMD_COMPUTE)) sum += command.compute_ps;
  return sum;
}

TEST(Resnet152, ComputesThreeForwardsAndSumsAllGradientsOnce) {
  const Built built = build(scenario_of(kResnet));
  for (const RankProgram& program : built.workload.programs) {
    EXPECT_DOUBLE_EQ(flops(program), 3 * 23e9 * 16);  // 2.23 ms at 494.5 TFLOP/s
    const auto sums = starts(program, WVP_OP_ALL_REDUCE);
    ASSERT_THAT(sums, SizeIs(1));
    EXPECT_EQ(sums[0].bytes, 120'400'000u);
    EXPECT_EQ(sums[0].dtype, WVP_FP16);
    EXPECT_EQ(sums[0].traffic_class, WVP_CLASS_DP);
  }
  EXPECT_EQ(run_abstractly(built.workload).fault, "");
}

TEST(Resnet152, RsAgIsTwoOperations) {
  Scenario scenario = scenario_of(kResnet);
  scenario.workload.dp_sync = DpSync::kRsAg;
  const AbstractRun run = run_abstractly(build(scenario).workload);
  EXPECT_EQ(run.fault, "");
  EXPECT_EQ(run.operations.size(), 2u);
  EXPECT_EQ(run.operations.at({"dp", WVP_OP_REDUCE_SCATTER}), 1u);
  EXPECT_EQ(run.operations.at({"dp", WVP_OP_ALL_GATHER}), 1u);
}

TEST(Resnet152, FixedComputeSumsExactly) {
  Scenario scenario = scenario_of(kResnet);
  scenario.workload.compute = {ComputeMode::kFixed, 110'123.457};
  scenario.workload.iterations = 2;
  for (const RankProgram& program : build(scenario).workload.programs) {
    EXPECT_EQ(fixed_ps(program), 2 * 110'123'457u);
    EXPECT_EQ(flops(program), 0);
  }
}

TEST(Resnet152, RefusesModelParallelism) {
  Scenario scenario = scenario_of(kResnet);
  scenario.workload.parallelism = {2, 10, 1};
  const auto issues = build_issues(scenario);
  ASSERT_THAT(issues, SizeIs(1));
  EXPECT_EQ(issues[0].pointer, "/workload/parallelism");
}

TEST(Transformer17b, ComputeIsThatOfTheFormula) {
  // 3 * 16 sequences * 1024 tokens * 78 layers * (24 h^2 + 4 s h), over 6 NPUs of a replica: 584 ms at
  // 494.5 TFLOP/s (292 ms at 989).
  const Built built = build(scenario_of(k17b));
  const double expected = 3.0 * 16 * 1024 * 78 * (24.0 * 4256 * 4256 + 4.0 * 1024 * 4256) / 6;
  EXPECT_NEAR(expected / 494.5e12, 0.584, 0.001);
  for (std::uint32_t rank = 0; rank < 18; ++rank) {
    const RankProgram& program = built.workload.programs[built.placement.npu_of_rank[rank].value];
    EXPECT_NEAR(flops(program) / expected, 1, 1e-9);
  }
}

TEST(Transformer17b, CommunicatesAsTheFormulasSay) {
  const Built built = build(scenario_of(k17b));
  const std::uint64_t activation = 2ull * 1024 * 4256 * 2;  // b s h 2, b = 16 / 8
  for (std::uint32_t rank = 0; rank < 18; ++rank) {
    const RankProgram& program = built.workload.programs[built.placement.npu_of_rank[rank].value];
    std::uint64_t layer_sums = 0, gradient_sums = 0;
    for (const wvp_command& command : starts(program, WVP_OP_ALL_REDUCE)) {
      if (command.traffic_class == WVP_CLASS_MP) {
        EXPECT_EQ(command.bytes, activation);
        ++layer_sums;
      } else {
        EXPECT_EQ(command.bytes, 2 * static_cast<std::uint64_t>(std::ceil(17e9 / 6)));
        ++gradient_sums;
      }
    }
    EXPECT_EQ(layer_sums, 39u * 4 * 8);
    EXPECT_EQ(gradient_sums, 1u);
    for (const wvp_command& command : starts(program, WVP_OP_BROADCAST)) {
      EXPECT_EQ(command.bytes, activation);
      EXPECT_EQ(command.algorithm, WVP_ALG_RELAY);
      EXPECT_EQ(command.chunks, 64u);
      EXPECT_EQ(command.traffic_class, WVP_CLASS_PP);
    }
  }
  const AbstractRun run = run_abstractly(built.workload);
  EXPECT_EQ(run.fault, "");
  EXPECT_EQ(run.operations.at({"mp[dp=2,pp=1]", WVP_OP_ALL_REDUCE}), 39u * 4 * 8);
  EXPECT_EQ(run.operations.at({"dp[pp=1,mp=2]", WVP_OP_ALL_REDUCE}), 1u);
  EXPECT_EQ(run.operations.at({"pp[dp=0,stage=0->1]", WVP_OP_BROADCAST}), 8u);
  EXPECT_EQ(run.operations.at({"pp[dp=0,stage=1->0]", WVP_OP_BROADCAST}), 8u);
}

TEST(Transformer17b, HandsOverByMulticastWhereTheSwitchesCan) {
  const Built with = build(scenario_of(k17b, R"({"kind":"fred","fred":{"in_network":true}})"));
  for (const auto& command : starts(with.workload.programs[0], WVP_OP_BROADCAST)) {
    EXPECT_EQ(command.algorithm, WVP_ALG_IN_SWITCH);
    EXPECT_EQ(command.chunks, 0u);
  }
  const Built without = build(scenario_of(k17b, R"({"kind":"fred","fred":{"in_network":false}})"));
  for (const auto& command : starts(without.workload.programs[0], WVP_OP_BROADCAST)) {
    EXPECT_EQ(command.algorithm, WVP_ALG_RELAY);
  }
}

TEST(Transformer17b, FixedComputeSumsExactlyOnEveryRank) {
  Scenario scenario = scenario_of(k17b);
  scenario.workload.compute = {ComputeMode::kFixed, 36'800'000.001};
  const Built built = build(scenario);
  for (std::uint32_t rank = 0; rank < 18; ++rank) {
    EXPECT_EQ(fixed_ps(built.workload.programs[built.placement.npu_of_rank[rank].value]), 36'800'000'001u);
  }
}

TEST(Transformer, UnevenLayersGoToTheFirstStages) {
  const Built built = build(scenario_of(
      R"({"kind":"transformer","parallelism":{"mp":2,"dp":1,"pp":3},"transformer":{"preset":"tiny"},
          "samples_per_replica":4,"microbatches":4,"placement":{"kind":"mp_pp_dp"}})"));
  const std::size_t expected[] = {2 * 4 * 4, 1 * 4 * 4, 1 * 4 * 4};
  for (std::uint32_t stage = 0; stage < 3; ++stage) {
    EXPECT_THAT(starts(built.workload.programs[stage * 2], WVP_OP_ALL_REDUCE), SizeIs(expected[stage]));
  }
}

TEST(Transformer, HierarchicalOnAGroupWithoutGridIsRefused) {
  Scenario scenario = scenario_of(k17b);
  scenario.wafer.firmware.all_reduce = Algorithm::kHierarchical;
  const auto issues = build_issues(scenario);
  ASSERT_THAT(issues, SizeIs(1));
  EXPECT_EQ(issues[0].pointer, "/wafer/firmware/all_reduce");
  EXPECT_THAT(issues[0].text, HasSubstr("grid"));
}

TEST(Transformer, RefusesProgramsBeyondMemory) {
  Scenario scenario = scenario_of(k17b);
  scenario.workload.iterations = 10000;
  const auto issues = build_issues(scenario);
  ASSERT_THAT(issues, SizeIs(1));
  EXPECT_THAT(issues[0].text, HasSubstr("million commands"));
}

TEST(Transformer, RefusesModelsBeyondArithmetic) {
  Scenario scenario = scenario_of(k17b);
  scenario.workload.transformer.hidden = 10'000'000;
  scenario.workload.transformer.sequence = 100'000'000;
  EXPECT_THAT(build_issues(scenario), SizeIs(1));
}

}  // namespace
}  // namespace wafervp::test
