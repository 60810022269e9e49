// SPDX-License-Identifier: Apache-2.0
// Are the pipeline schedules those of the literature, and free of deadlock for every shape?
#include "workload/pipeline_schedule.h"

#include <gmock/gmock.h>

#include "abstract_machine.h"
#include "scenarios.h"

namespace wafervp::test {
namespace {

/// "F0 F1 B0 ..."
std::string text(const std::vector<PipelineStep>& steps) {
  std::string result;
  for (const PipelineStep& step : steps) {
    result += (step.pass == PipelineStep::Pass::kForward ? "F" : "B") + std::to_string(step.microbatch) + " ";
  }
  return result;
}

TEST(PipelineSchedule, GpipeGoesForwardThenBackward) {
  EXPECT_EQ(text(pipeline_steps(PipelineSchedule::kGpipe, 3, 1, 3)), "F0 F1 F2 B0 B1 B2 ");
}

TEST(PipelineSchedule, OneForwardOneBackwardAfterTheWarmUp) {
  const auto steps = [](std::uint32_t stage) {
    return text(pipeline_steps(PipelineSchedule::k1f1b, 3, stage, 4));
  };
  EXPECT_EQ(steps(0), "F0 F1 F2 B0 F3 B1 B2 B3 ");
  EXPECT_EQ(steps(1), "F0 F1 B0 F2 B1 F3 B2 B3 ");
  EXPECT_EQ(steps(2), "F0 B0 F1 B1 F2 B2 F3 B3 ");
}

TEST(PipelineSchedule, FewerMicrobatchesThanStages) {
  EXPECT_EQ(text(pipeline_steps(PipelineSchedule::k1f1b, 6, 0, 2)), "F0 F1 B0 B1 ");
  EXPECT_EQ(text(pipeline_steps(PipelineSchedule::k1f1b, 1, 0, 2)), "F0 B0 F1 B1 ");
}

TEST(PipelineSchedule, HoldsAsManyMicrobatchesAsItSays) {
  for (const auto schedule : {PipelineSchedule::kGpipe, PipelineSchedule::k1f1b}) {
    for (std::uint32_t stages = 1; stages <= 6; ++stages) {
      for (std::uint32_t stage = 0; stage < stages; ++stage) {
        for (std::uint32_t m = 1; m <= 12; ++m) {
          std::uint32_t held = 0, most = 0;
          for (const PipelineStep& step : pipeline_steps(schedule, stages, stage, m)) {
            held += step.pass == PipelineStep::Pass::kForward ? 1 : -1;
            most = std::max(most, held);
          }
          EXPECT_EQ(held, 0u);
          EXPECT_EQ(most, microbatches_in_flight(schedule, stages, stage, m));
        }
      }
    }
  }
}

TEST(Pipeline, EveryShapeEndsAndEveryStartHasItsPartners) {
  Scenario scenario = scenario_of(R"({"kind":"transformer","transformer":{"preset":"tiny","layers":7}})");
  scenario.wafer.npus = 24;
  scenario.wafer.fabric.mesh2d.columns = 6;
  scenario.workload.placement.kind = PlacementKind::kMpPpDp;
  std::uint32_t shapes = 0;
  for (const auto schedule : {PipelineSchedule::kGpipe, PipelineSchedule::k1f1b}) {
    for (const ParallelismSpec side : {ParallelismSpec{1, 1, 1}, ParallelismSpec{1, 3, 1},
                                       ParallelismSpec{3, 1, 1}, ParallelismSpec{2, 2, 1}}) {
      for (std::uint32_t pp = 1; pp <= 6; ++pp) {
        for (std::uint32_t microbatches = 1; microbatches <= 12; ++microbatches) {
          scenario.workload.schedule = schedule;
          scenario.workload.parallelism = {side.mp, side.dp, pp};
          scenario.workload.microbatches = scenario.workload.samples_per_replica = microbatches;
          scenario.workload.iterations = microbatches % 3 == 0 ? 2 : 1;
          const AbstractRun run = run_abstractly(build(scenario).workload);
          ASSERT_EQ(run.fault, "") << "mp " << side.mp << " dp " << side.dp << " pp " << pp
                                   << " microbatches " << microbatches;
          const std::uint64_t steps = scenario.workload.iterations;
          if (pp > 1) {
            EXPECT_EQ(run.operations.at({"pp[dp=0,stage=0->1]", WVP_OP_BROADCAST}), microbatches * steps);
            EXPECT_EQ(run.operations.at({"pp[dp=0,stage=1->0]", WVP_OP_BROADCAST}), microbatches * steps);
          }
          if (side.dp > 1) {
            EXPECT_EQ(run.operations.at({"dp[pp=0,mp=0]", WVP_OP_ALL_REDUCE}), steps);
          }
          ++shapes;
        }
      }
    }
  }
  EXPECT_EQ(shapes, 2u * 4 * 6 * 12);
}

TEST(AbstractMachine, SeesARankThatNeverEnters) {
  // The executor itself must be able to fail.
  Built built = build(scenario_of(R"({"kind":"resnet152"})"));
  built.workload.programs[3].commands = {wvp_command{}};
  EXPECT_NE(run_abstractly(built.workload).fault, "");
}

TEST(AbstractMachine, SeesAnotherOrder) {
  Built built = build(scenario_of(R"({"kind":"resnet152","dp_sync":"rs_ag"})"));
  for (wvp_command& command : built.workload.programs[3].commands) {
    if (command.kind == WVP_CMD_START) command.sequence ^= 1;
  }
  EXPECT_NE(run_abstractly(built.workload).fault, "");
}

}  // namespace
}  // namespace wafervp::test
