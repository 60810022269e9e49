// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace wafervp::training {

/// A decoder transformer that is small enough to be trained for real: pre-RMSNorm without gain, causal
/// attention, ReLU^2 in the feed-forward part, no bias, positions added to the residual stream.
struct ModelConfig {
  std::size_t dimension = 64;    ///< d, a multiple of heads
  std::size_t heads = 4;         ///< h
  std::size_t hidden = 256;      ///< f, width of the feed-forward part
  std::size_t vocabulary = 64;   ///< V
  std::size_t tokens = 32;       ///< n, of a sequence
  std::size_t blocks = 4;        ///< spread over the stages as evenly as can be, the first ones one more
  std::size_t stages = 4;        ///< of the pipeline
  std::size_t sequences = 4;     ///< of a microbatch
  std::size_t microbatches = 4;  ///< of a step, on each replica
  std::size_t replicas = 1;      ///< of the pipeline; their gradients are added
  std::uint64_t seed = 1;        ///< of the initial weights; the split over stages does not change them

  /// Rows of a boundary tensor.
  std::size_t rows() const { return sequences * tokens; }
  std::size_t tokens_per_step() const { return rows() * microbatches * replicas; }
  /// Blocks of a stage, and the index of its first one.
  std::size_t blocks_of(std::size_t stage) const {
    return blocks / stages + (stage < blocks % stages ? 1 : 0);
  }
  std::size_t first_block(std::size_t stage) const;
};

/// How the constrained matrices of a subspace model stay in S = Col(U). Matrices that are not constrained
/// always take plain AdamW.
enum class Stay : std::uint8_t {
  kRowWise,         ///< one second moment a row (mean of the squares), so that steps keep to S by themselves
  kProjected,       ///< plain AdamW, then W <- W U U^T
  kReparametrised,  ///< W = A U^T; A is what is trained, added over replicas and kept
};

/// AdamW with a linear warm-up and a linear decay to zero.
struct OptimizerConfig {
  double learning_rate = 3e-3;
  std::size_t warm_up_steps = 50;
  std::size_t steps = 1500;  ///< after which the learning rate is zero
  double weight_decay = 0.01;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double epsilon = 1e-8;
  Stay stay = Stay::kRowWise;
  /// kRowWise: W <- W U U^T after every so many steps, as rounding leads out of S; 0: never.
  std::size_t project_every = 0;

  /// Of the step with this index, from 0.
  double rate_at(std::size_t step) const;
};

/// A call that does not fit the model or its state. The text says what was expected and what was found.
class TrainingError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throw TrainingError naming the first field out of its range.
void check(const ModelConfig& config);
void check(const OptimizerConfig& config);

}  // namespace wafervp::training
