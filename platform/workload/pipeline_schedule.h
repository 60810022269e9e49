// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "scenario/scenario.h"

namespace wafervp {

struct PipelineStep {
  enum class Pass : std::uint8_t { kForward, kBackward } pass;
  std::uint32_t microbatch;
};

/// Order of a stage's passes. gpipe (Huang et al. 2019): all forward, then all backward. 1f1b (Narayanan et
/// al. 2019, PipeDream-Flush): stages - stage - 1 forward passes to fill the pipeline, then one forward and
/// one backward in turn, then the backward passes that are left.
std::vector<PipelineStep> pipeline_steps(PipelineSchedule schedule, std::uint32_t stages, std::uint32_t stage,
                                         std::uint32_t microbatches);

/// Most microbatches whose activations a stage holds at once.
std::uint32_t microbatches_in_flight(PipelineSchedule schedule, std::uint32_t stages, std::uint32_t stage,
                                     std::uint32_t microbatches);

/// Layers of a stage: as even as can be, the first stages one more.
std::uint32_t layers_of_stage(std::uint32_t layers, std::uint32_t stages, std::uint32_t stage);

}  // namespace wafervp
