// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compression/matrix.h"
#include "compression/subspace.h"
#include "training/block.h"
#include "training/head.h"
#include "training/model_config.h"
#include "training/parameter.h"

namespace wafervp::training {

using compression::FixedTables;
using compression::Subspace;

/// One microbatch: for each row (sequence by sequence) the token and the one that follows it.
struct TokenBatch {
  std::vector<std::uint32_t> ids;
  std::vector<std::uint32_t> targets;
};

/// Where a matrix stands in the flat gradient of a stage.
struct ParameterInfo {
  std::string name;  ///< "block2.w_o"
  std::size_t rows = 0;
  std::size_t columns = 0;  ///< k where the matrix is re-parametrised
  std::size_t offset = 0;   ///< elements
  bool constrained = false;
};

/// A pipeline stage: its blocks, the first one with the embedding, the last one with the LM head and the
/// loss. Any number of microbatches may be under way, in any order; the gradients do not depend on the order
/// of forward passes, and on that of backward passes only by rounding. T: float or double.
///
///   forward, backward for each microbatch -> finish_gradients -> (all-reduce of gradients()) -> step
template <class T>
class StageModel {
 public:
  /// `tables`: F (V x d) and PE (n x d), which all stages share. `subspace`: null for the unconstrained
  /// model; otherwise the rows of E, and of W_o and W_2 in all stages but the last, stay in Col(U).
  StageModel(const ModelConfig& model, const OptimizerConfig& optimizer, std::size_t stage,
             std::shared_ptr<const FixedTables> tables, std::shared_ptr<const Subspace> subspace);

  bool is_first() const { return stage_ == 0; }
  bool is_last() const { return stage_ + 1 == model_.stages; }

  /// Output activations, rows x d; none (0 x 0) on the last stage. The first stage reads tokens.ids and no
  /// input, the last one tokens.targets. Keeps what backward() needs.
  Matrix<T> forward(std::uint32_t microbatch, const Matrix<T>& input, const TokenBatch& tokens);
  /// Mean loss of a microbatch in nats, on the last stage between its forward() and the next
  /// finish_gradients().
  double loss(std::uint32_t microbatch) const;
  /// Gradient by the input, none on the first stage; `output_gradient` is not read on the last one. It is the
  /// gradient of the mean loss of the whole step, over all microbatches and replicas.
  Matrix<T> backward(std::uint32_t microbatch, const Matrix<T>& output_gradient);

  /// Ends a step's backward passes: gradients of constrained matrices are projected (kReparametrised: dW U).
  void finish_gradients();
  /// Flat, after finish_gradients(). To be added over replicas before step(), which projects what a lossy sum
  /// may have brought out of S.
  std::vector<T>& gradients() { return gradients_; }
  const std::vector<T>& gradients() const { return gradients_; }
  /// One optimizer step; the gradients are zero afterwards.
  void step();
  std::size_t steps_done() const { return steps_done_; }

  /// Matrices in the order of the flat gradient.
  const std::vector<ParameterInfo>& parameters() const { return infos_; }
  /// A matrix as the model multiplies by it (W = A U^T where it is re-parametrised).
  const Matrix<T>& weights(std::size_t parameter) const { return parameters_.at(parameter)->weights; }
  /// Replaces a matrix; one that is constrained is projected onto S.
  void set_weights(std::size_t parameter, const Matrix<T>& weights);

  /// On the last stage: from now on sums G^T G of the gradients by its input, for an update of U.
  void collect_energy();
  const compression::GradientEnergy& energy() const { return *energy_; }
  /// The next version of U, between two steps: weights and momentum are projected onto it, the energy starts
  /// from zero.
  void set_subspace(std::shared_ptr<const Subspace> subspace);
  const std::shared_ptr<const Subspace>& subspace() const { return subspace_; }

 private:
  struct Pass {
    std::vector<BlockPass<T>> blocks;
    HeadPass<T> head;
    std::vector<std::uint32_t> ids;
    bool backward_done = false;
  };

  Parameter<T>& add_parameter(const std::string& name, std::uint64_t number, std::size_t rows,
                              std::size_t columns, double deviation, bool constrained);
  Matrix<T> embed(const std::vector<std::uint32_t>& ids) const;
  void check_tables() const;
  void check_rows(const char* what, const Matrix<T>& matrix) const;
  void check_ids(const char* what, const std::vector<std::uint32_t>& ids) const;

  ModelConfig model_;
  OptimizerConfig optimizer_;
  std::size_t stage_;
  std::shared_ptr<const FixedTables> tables_;
  std::shared_ptr<const Subspace> subspace_;
  Basis<T> basis_;  ///< U in T
  std::vector<std::unique_ptr<Parameter<T>>> parameters_;
  std::vector<ParameterInfo> infos_;
  std::vector<Block<T>> blocks_;
  Parameter<T>* embedding_ = nullptr;
  std::unique_ptr<Head<T>> head_;
  std::map<std::uint32_t, Pass> passes_;
  std::vector<std::vector<BlockPass<T>>> spare_;  ///< memory of passes that are over
  BlockScratch<T> scratch_;
  std::vector<T> gradients_;
  std::unique_ptr<compression::GradientEnergy> energy_;
  std::size_t steps_done_ = 0;
  bool finished_ = false;
};

extern template class StageModel<float>;
extern template class StageModel<double>;

}  // namespace wafervp::training
