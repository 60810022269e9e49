// SPDX-License-Identifier: Apache-2.0
// Does the memory need follow from its formula, and is a model that does not fit refused in words?
#include <gmock/gmock.h>

#include "scenarios.h"

namespace wafervp::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* k17b = R"({"kind":"transformer","parallelism":{"mp":3,"dp":3,"pp":2},
  "transformer":{"preset":"transformer_17b"},"samples_per_replica":16,"microbatches":8})";

TEST(Memory, FollowsTheFormula) {
  const Built built = build(scenario_of(k17b));
  const MemoryNeed& need = built.workload.memory[built.placement.npu_of_rank[0].value];
  const std::uint64_t parameters = 2'833'333'334;  // 17e9 / 6, rounded up
  EXPECT_EQ(need.weights, 2 * parameters);
  EXPECT_EQ(need.gradients, 2 * parameters);
  EXPECT_EQ(need.optimiser, 12 * parameters);
  // 34 b s h / mp a layer, 39 layers, two microbatches in flight in the first of two stages under 1F1B.
  EXPECT_NEAR(static_cast<double>(need.activations), 34.0 * 2 * 1024 * 4256 / 3 * 39 * 2, 1);
  const MemoryNeed& last = built.workload.memory[built.placement.npu_of_rank[3].value];
  EXPECT_NEAR(static_cast<double>(last.activations), 34.0 * 2 * 1024 * 4256 / 3 * 39, 1);
  EXPECT_THAT(built.workload.warnings, IsEmpty());
}

TEST(Memory, RsAgSharesTheOptimiserState) {
  Scenario scenario = scenario_of(k17b);
  scenario.workload.dp_sync = DpSync::kRsAg;
  const Built built = build(scenario);
  EXPECT_EQ(built.workload.memory[built.placement.npu_of_rank[0].value].optimiser, 12 * 2'833'333'334ull / 3);
}

TEST(Memory, ErrorNamesTheParts) {
  Scenario scenario = scenario_of(k17b);
  scenario.wafer.npu.hbm_bytes = 16'000'000'000;
  scenario.memory_check = MemoryCheck::kError;
  const auto issues = build_issues(scenario);
  ASSERT_THAT(issues, SizeIs(1));
  EXPECT_EQ(issues[0].pointer, "/wafer/npu/hbm_bytes");
  EXPECT_THAT(issues[0].text, AllOf(HasSubstr("weights 5.67 GB"), HasSubstr("gradients 5.67 GB"),
                                    HasSubstr("optimiser state 34.00 GB"), HasSubstr("activations 7.71 GB"),
                                    HasSubstr("has 16.00 GB"), HasSubstr("more mp or pp")));
}

TEST(Memory, WarnRunsAndOffIsSilent) {
  Scenario scenario = scenario_of(k17b);
  scenario.wafer.npu.hbm_bytes = 16'000'000'000;
  scenario.memory_check = MemoryCheck::kWarn;
  EXPECT_THAT(build(scenario).workload.warnings, SizeIs(1));
  scenario.memory_check = MemoryCheck::kOff;
  EXPECT_THAT(build(scenario).workload.warnings, IsEmpty());
}

TEST(Values, BeyondTheBudgetAreRefusedBeforeTheyAreTaken) {
  Scenario scenario = scenario_of(k17b);
  scenario.detail.data = DataMode::kValues;
  const auto issues = build_issues(scenario);
  ASSERT_THAT(issues, SizeIs(1));
  EXPECT_EQ(issues[0].pointer, "/limits/value_bytes");
}

TEST(Values, MemoryCoversEveryBuffer) {
  const Built built = build(scenario_of(
      R"({"kind":"transformer","parallelism":{"mp":2,"dp":2,"pp":3},"transformer":{"preset":"tiny"},
          "samples_per_replica":8,"microbatches":8})"));
  for (const RankProgram& program : built.workload.programs) {
    for (const wvp_command& command : commands(program, WVP_CMD_START)) {
      EXPECT_LE(command.dst + command.bytes, built.workload.device_memory_bytes);
    }
  }
}

}  // namespace
}  // namespace wafervp::test
