// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "compression/message.h"
#include "training/data_source.h"
#include "training/gradient_factors.h"
#include "training/stage_model.h"

namespace wafervp::training {

/// A tensor on its way from one stage to the next (or back).
struct Crossing {
  std::size_t boundary = 0;  ///< between stage `boundary` and the one after it
  compression::Direction direction = compression::Direction::kForward;
  std::size_t replica = 0;
  std::uint32_t microbatch = 0;
  const std::vector<std::uint32_t>* ids = nullptr;  ///< one a row
};

struct LocalConfig {
  ModelConfig model;
  OptimizerConfig optimizer;
  /// How gradients of replicas are added; none: as they are.
  std::optional<FactorConfig> power_sgd;
  /// Of replica 0's gradients at the last boundary.
  std::uint64_t update_every = 0;  ///< steps between updates of U; 0: U is fixed
  double update_step = 0.3;        ///< of the Grassmann update
};

/// All stages of all replicas in one process, one microbatch after the other: the reference for runs through
/// simulated hardware, and the way to try a codec. T: float or double.
template <class T>
class LocalTrainer {
 public:
  /// What becomes of a tensor between two stages; none: it arrives as it was.
  using Boundary = std::function<Matrix<T>(const Crossing&, Matrix<T>)>;
  /// Called after an update of U, before the next step.
  using Updated = std::function<void(const std::shared_ptr<const Subspace>&)>;

  /// `subspace`: null for the unconstrained model. `data` outlives the trainer.
  LocalTrainer(const LocalConfig& config, const DataSource& data, std::shared_ptr<const FixedTables> tables,
               std::shared_ptr<const Subspace> subspace, Boundary boundary = {}, Updated updated = {});

  /// One step of the optimizer; the mean loss before it, in nats a token.
  double step();
  /// The rest of the steps of the optimizer's configuration; the loss of each.
  std::vector<double> run();
  /// Forward and backward passes of a step without the optimizer's; the mean loss.
  double pass();
  StageModel<T>& stage(std::size_t replica, std::size_t index) {
    return *stages_.at(replica * config_.model.stages + index);
  }

 private:
  StageModel<T>& last_stage(std::size_t replica) { return stage(replica, config_.model.stages - 1); }
  void add_replicas();
  void add_factors();
  void update_subspace();

  LocalConfig config_;
  const DataSource& data_;
  Boundary boundary_;
  Updated updated_;
  std::vector<std::unique_ptr<StageModel<T>>> stages_;  ///< replica by replica
  std::vector<FactorLayout> layouts_;                   ///< by stage, with PowerSGD
  std::vector<GradientFactors<T>> factors_;             ///< replica by replica
  std::size_t steps_done_ = 0;
};

extern template class LocalTrainer<float>;
extern template class LocalTrainer<double>;

}  // namespace wafervp::training
