// SPDX-License-Identifier: Apache-2.0
#include "workload/pipeline_schedule.h"

#include <algorithm>

namespace wafervp {

std::vector<PipelineStep> pipeline_steps(PipelineSchedule schedule, std::uint32_t stages, std::uint32_t stage,
                                         std::uint32_t microbatches) {
  using Pass = PipelineStep::Pass;
  const std::uint32_t ahead =
      schedule == PipelineSchedule::kGpipe ? microbatches : std::min(stages - stage - 1, microbatches);
  std::vector<PipelineStep> steps;
  for (std::uint32_t m = 0; m < ahead; ++m) steps.push_back({Pass::kForward, m});
  for (std::uint32_t m = ahead; m < microbatches; ++m) {
    steps.push_back({Pass::kForward, m});
    steps.push_back({Pass::kBackward, m - ahead});
  }
  for (std::uint32_t m = microbatches - ahead; m < microbatches; ++m) steps.push_back({Pass::kBackward, m});
  return steps;
}

std::uint32_t microbatches_in_flight(PipelineSchedule schedule, std::uint32_t stages, std::uint32_t stage,
                                     std::uint32_t microbatches) {
  return schedule == PipelineSchedule::kGpipe ? microbatches : std::min(stages - stage, microbatches);
}

std::uint32_t layers_of_stage(std::uint32_t layers, std::uint32_t stages, std::uint32_t stage) {
  return layers / stages + (stage < layers % stages ? 1 : 0);
}

}  // namespace wafervp
