// SPDX-License-Identifier: Apache-2.0
// Do gradients of replicas go as factors where the scenario says so: matrices, bytes, FLOPs, refusals?
#include <gmock/gmock.h>

#include <cmath>

#include "abstract_machine.h"
#include "scenarios.h"

namespace wafervp::test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr std::uint64_t kHidden = 4256, kRank = 64;

std::string transformer_17b(const std::string& more = "", const std::string& gradients = R"("rank":64)") {
  return R"({"kind":"transformer","parallelism":{"mp":3,"dp":3,"pp":2},
  "transformer":{"preset":"transformer_17b"},"samples_per_replica":16,"microbatches":8,
  "gradients":{"sum":"power_sgd",)" +
         gradients + "}" + more + "}";
}

/// Commands of an NPU behind its last hand-over: kernels and sums of gradients.
std::vector<wvp_command> sums(const RankProgram& program) {
  std::vector<wvp_command> found;
  for (const wvp_command& command : starts(program, WVP_OP_ALL_REDUCE)) {
    if (command.traffic_class == WVP_CLASS_DP) found.push_back(command);
  }
  return found;
}
/// Compute that stands next to the sums.
std::vector<wvp_command> kernels(const RankProgram& program) {
  std::vector<wvp_command> found;
  for (std::size_t i = 1; i + 2 < program.commands.size(); ++i) {
    const wvp_command& next = program.commands[i + 1];
    const wvp_command& before = program.commands[i - 1];
    if (program.commands[i].kind != WVP_CMD_COMPUTE) continue;
    const bool leads = next.kind == WVP_CMD_START && next.traffic_class == WVP_CLASS_DP;
    const bool follows = before.kind == WVP_CMD_WAIT && before.slot == 1;
    if (leads || follows) found.push_back(program.commands[i]);
  }
  return found;
}

// W_qkv h x h, W_o h/3 x h, W_1 h x 4h/3 and W_2 4h/3 x h of an MP rank; parts are rounded up.
constexpr std::uint64_t kThird = 1419, kWide = 5675, kLayers = 39;
constexpr std::uint64_t kElements = kHidden * kHidden + kThird * kHidden + 2 * kHidden * kWide;
constexpr std::uint64_t kRows = kHidden + kThird + kHidden + kWide;
constexpr std::uint64_t kColumns = kHidden + kHidden + kWide + kHidden;

TEST(PowerSgd, SumsFactorsOfEachMatrix) {
  const Built built = build(scenario_of(transformer_17b()));
  // What 17e9 / 6 has beyond the matrices goes as it is, with P.
  const std::uint64_t rest = static_cast<std::uint64_t>(std::ceil(17e9 / 6)) - kLayers * kElements;
  for (std::uint32_t rank = 0; rank < 18; ++rank) {
    const RankProgram& program = built.workload.programs[built.placement.npu_of_rank[rank].value];
    const auto found = sums(program);
    ASSERT_THAT(found, SizeIs(2));
    EXPECT_EQ(found[0].bytes, 2 * (kLayers * kRank * kRows + rest));
    EXPECT_EQ(found[1].bytes, 2 * kLayers * kRank * kColumns);
  }
  EXPECT_EQ(run_abstractly(built.workload).fault, "");
}

TEST(PowerSgd, ComputesTheProductsOfItsFactors) {
  const Built built = build(scenario_of(transformer_17b()));
  const std::uint64_t product = 2 * kLayers * kElements * kRank;
  const RankProgram& program = built.workload.programs[built.placement.npu_of_rank[0].value];
  const auto found = kernels(program);
  ASSERT_THAT(found, SizeIs(3));
  EXPECT_EQ(found[0].compute_flops, product + kLayers * kElements);
  EXPECT_EQ(found[1].compute_flops, product + kLayers * 4 * kRows * kRank * (kRank + 1));
  EXPECT_EQ(found[2].compute_flops, 2 * product + kLayers * kElements);
}

TEST(PowerSgd, TakesItsTimeBesideAFixedOne) {
  const Built built =
      build(scenario_of(transformer_17b(R"(,"compute":{"mode":"fixed","fixed_ns":36800000})")));
  const RankProgram& program = built.workload.programs[built.placement.npu_of_rank[0].value];
  std::uint64_t fixed = 0;
  for (const wvp_command& command : commands(program, WVP_CMD_COMPUTE)) fixed += command.compute_ps;
  EXPECT_EQ(fixed, 36'800'000'000u);
  for (const wvp_command& kernel : kernels(program)) {
    EXPECT_EQ(kernel.compute_ps, 0u);
    EXPECT_GT(kernel.compute_flops, 0u);
  }
  EXPECT_THAT(kernels(program), SizeIs(3));
}

TEST(PowerSgd, NeedsMemoryForWhatIsOwed) {
  const auto gradients = [](const std::string& parameters) {
    const Built built = build(scenario_of(transformer_17b("", parameters)));
    return built.workload.memory[built.placement.npu_of_rank[0].value].gradients;
  };
  const std::uint64_t all = static_cast<std::uint64_t>(std::ceil(17e9 / 6));
  EXPECT_EQ(gradients(R"("rank":64)") - gradients(R"("rank":64,"error_feedback":false)"), 2 * all);
}

TEST(PowerSgd, WithoutReplicasChangesNothing) {
  const char* workload = R"({"kind":"transformer","parallelism":{"mp":2,"dp":1,"pp":2},
    "transformer":{"preset":"tiny"},"samples_per_replica":4,"gradients":{"sum":"power_sgd"}})";
  const Built built = build(scenario_of(workload, R"({"kind":"ring"})", "", 4));
  EXPECT_THAT(sums(built.workload.programs[0]), SizeIs(0));
}

TEST(PowerSgd, RefusesARankAtWhichNothingShrinks) {
  const auto issues = build_issues(scenario_of(transformer_17b("", R"("rank":4256)")));
  ASSERT_THAT(issues, SizeIs(1));
  EXPECT_EQ(issues[0].pointer, "/workload/gradients/rank");
  EXPECT_THAT(issues[0].text, HasSubstr("found 4256, at which no matrix of the model becomes smaller"));
}

std::string fault_of(const std::string& workload, const std::string& wafer = R"({"kind":"mesh2d"})") {
  try {
    scenario_of(workload, wafer);
  } catch (const ScenarioError& error) {
    return error.what();
  }
  return {};
}

TEST(PowerSgd, SaysWhatItDoesNotFit) {
  EXPECT_THAT(fault_of(transformer_17b(R"(,"dp_sync":"rs_ag")")),
              HasSubstr("/workload/dp_sync rs_ag leaves each replica a part of the summed gradients"));
  EXPECT_THAT(fault_of(transformer_17b(R"(,"weights":"streaming")")),
              HasSubstr("adds gradients on their way to off-wafer memory"));
  EXPECT_THAT(fault_of(R"({"kind":"resnet152","gradients":{"sum":"power_sgd"}})"),
              HasSubstr("of which /workload/kind resnet152 has no sizes"));
}

TEST(Training, SaysWhatUpdatesOfUNeed) {
  const auto training = [](const char* k, const char* pp) {
    return std::string(R"({"kind":"training","parallelism":{"dp":1,"pp":)") + pp +
           R"(},"training":{"subspace_k":)" + k + R"(,"update_every":5}})";
  };
  EXPECT_THAT(fault_of(training("0", "4")), HasSubstr("updates of U need /workload/training/subspace_k"));
  EXPECT_THAT(fault_of(training("4", "1")), HasSubstr("needs /workload/parallelism/pp 2 or more"));
}

}  // namespace
}  // namespace wafervp::test
