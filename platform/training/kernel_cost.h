// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "training/model_config.h"

namespace wafervp::training {

/// What a compute engine is asked to run, one call of StageModel or GradientFactors each.
enum class Kernel : std::uint8_t {
  kForward,          ///< a microbatch, with embedding and head where the stage has them
  kBackward,         ///< a microbatch
  kFinishGradients,  ///< once a step: projection of constrained gradients
  kStep,             ///< once a step: AdamW
  kSetSubspace,      ///< once an update of U: projection of weights and momentum
  kNextSubspace,     ///< once an update of U: the next one, from the energy
  kFactorP,          ///< once a step with PowerSGD: P of all matrices
  kFactorQ,          ///< likewise Q
  kExpandFactors,    ///< likewise the gradients from both
};

/// The name in programs and reports: "forward".
const char* kernel_name(Kernel kernel);
/// Those that all stages run.
const std::vector<Kernel>& all_kernels();

struct KernelCost {
  std::uint64_t flops = 0;  ///< an addition or a multiplication is one
  std::uint64_t bytes = 0;  ///< of memory, each tensor read or written once by each operation on it
};

/// For the cost model; `rank`: k, or 0 for the unconstrained model. That of the kernels of PowerSGD is
/// factor_cost(). Throws TrainingError for a stage that is not there.
KernelCost kernel_cost(const ModelConfig& model, Stay stay, std::size_t rank, std::size_t stage,
                       Kernel kernel, std::size_t element_bytes);

/// Beside the backward pass of a microbatch where the energy of its gradients is collected.
KernelCost energy_cost(const ModelConfig& model, std::size_t element_bytes);

struct MatrixSize {
  std::size_t rows = 0, columns = 0;
};

/// Trained matrices of a stage, in the order of its flat gradient (StageModel::parameters). Throws as
/// kernel_cost().
std::vector<MatrixSize> parameter_sizes(const ModelConfig& model, Stay stay, std::size_t rank,
                                        std::size_t stage);

/// Trained elements of a stage, which is the length of its flat gradient. Throws as kernel_cost().
std::size_t parameter_count(const ModelConfig& model, Stay stay, std::size_t rank, std::size_t stage);

}  // namespace wafervp::training
