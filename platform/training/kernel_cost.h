// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "training/model_config.h"

namespace wafervp::training {

/// What a compute engine is asked to run, one call of StageModel each.
enum class Kernel : std::uint8_t {
  kForward,          ///< a microbatch, with embedding and head where the stage has them
  kBackward,         ///< a microbatch
  kFinishGradients,  ///< once a step: projection of constrained gradients
  kStep,             ///< once a step: AdamW
  kSetSubspace,      ///< once an update of U: projection of weights and momentum
};

/// The name in programs and reports: "forward".
const char* kernel_name(Kernel kernel);
const std::vector<Kernel>& all_kernels();

struct KernelCost {
  std::uint64_t flops = 0;  ///< an addition or a multiplication is one
  std::uint64_t bytes = 0;  ///< of memory, each tensor read or written once by each operation on it
};

/// For the cost model; `rank`: k, or 0 for the unconstrained model. Throws TrainingError for a stage that is
/// not there.
KernelCost kernel_cost(const ModelConfig& model, Stay stay, std::size_t rank, std::size_t stage,
                       Kernel kernel, std::size_t element_bytes);

/// Trained elements of a stage, which is the length of its flat gradient. Throws as kernel_cost().
std::size_t parameter_count(const ModelConfig& model, Stay stay, std::size_t rank, std::size_t stage);

}  // namespace wafervp::training
