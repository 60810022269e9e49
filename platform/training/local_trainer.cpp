// SPDX-License-Identifier: Apache-2.0
#include "training/local_trainer.h"

#include <utility>

namespace wafervp::training {

template <class T>
LocalTrainer<T>::LocalTrainer(const LocalConfig& config, const DataSource& data,
                              std::shared_ptr<const FixedTables> tables,
                              std::shared_ptr<const Subspace> subspace, Boundary boundary, Updated updated)
    : config_(config), data_(data), boundary_(std::move(boundary)), updated_(std::move(updated)) {
  check(config_.model);
  for (std::size_t replica = 0; replica < config_.model.replicas; ++replica)
    for (std::size_t index = 0; index < config_.model.stages; ++index)
      stages_.push_back(
          std::make_unique<StageModel<T>>(config_.model, config_.optimizer, index, tables, subspace));
  if (config_.update_every) last_stage(0).collect_energy();
  if (!config_.power_sgd) return;
  const std::size_t k = subspace ? subspace->rank() : 0;
  for (std::size_t index = 0; index < config_.model.stages; ++index)
    layouts_.emplace_back(parameter_sizes(config_.model, config_.optimizer.stay, k, index),
                          config_.power_sgd->rank);
  for (std::size_t replica = 0; replica < config_.model.replicas; ++replica)
    for (const FactorLayout& layout : layouts_) factors_.emplace_back(layout, *config_.power_sgd);
}

template <class T>
double LocalTrainer<T>::pass() {
  const ModelConfig& model = config_.model;
  double total = 0;
  for (std::size_t replica = 0; replica < model.replicas; ++replica) {
    std::vector<TokenBatch> batches;
    for (std::uint32_t microbatch = 0; microbatch < model.microbatches; ++microbatch) {
      batches.push_back(data_.batch(steps_done_, replica, microbatch));
      Matrix<T> x;
      for (std::size_t index = 0; index < model.stages; ++index) {
        x = stage(replica, index).forward(microbatch, x, batches.back());
        if (index + 1 < model.stages && boundary_)
          x = boundary_({index, compression::Direction::kForward, replica, microbatch, &batches.back().ids},
                        std::move(x));
      }
      total += last_stage(replica).loss(microbatch);
    }
    for (std::uint32_t microbatch = 0; microbatch < model.microbatches; ++microbatch) {
      Matrix<T> gradient;
      for (std::size_t index = model.stages; index-- > 0;) {
        gradient = stage(replica, index).backward(microbatch, gradient);
        if (index > 0 && boundary_)
          gradient = boundary_(
              {index - 1, compression::Direction::kBackward, replica, microbatch, &batches[microbatch].ids},
              std::move(gradient));
      }
    }
  }
  for (const auto& each : stages_) each->finish_gradients();
  return total / static_cast<double>(model.microbatches * model.replicas);
}

template <class T>
double LocalTrainer<T>::step() {
  const double loss = pass();
  if (config_.model.replicas > 1) config_.power_sgd ? add_factors() : add_replicas();
  for (const auto& each : stages_) each->step();
  ++steps_done_;
  if (config_.update_every && steps_done_ % config_.update_every == 0) update_subspace();
  return loss;
}

template <class T>
std::vector<double> LocalTrainer<T>::run() {
  std::vector<double> losses;
  while (steps_done_ < config_.optimizer.steps) losses.push_back(step());
  return losses;
}

/// The sum goes to all replicas.
template <class T>
void LocalTrainer<T>::add_replicas() {
  const ModelConfig& model = config_.model;
  for (std::size_t index = 0; index < model.stages; ++index) {
    std::vector<T>& sum = stage(0, index).gradients();
    for (std::size_t replica = 1; replica < model.replicas; ++replica) {
      const std::vector<T>& part = stage(replica, index).gradients();
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
    }
    for (std::size_t replica = 1; replica < model.replicas; ++replica)
      stage(replica, index).gradients() = sum;
  }
}

/// As above, by factors.
template <class T>
void LocalTrainer<T>::add_factors() {
  const ModelConfig& model = config_.model;
  const auto add = [](const std::vector<T>& part, std::vector<T>& sum) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
  };
  for (std::size_t index = 0; index < model.stages; ++index) {
    const FactorLayout& layout = layouts_[index];
    const auto factors = [&](std::size_t replica) -> GradientFactors<T>& {
      return factors_[replica * model.stages + index];
    };
    std::vector<T> first(layout.first_size()), second(layout.second_size()), part(layout.first_size());
    for (std::size_t replica = 0; replica < model.replicas; ++replica) {
      factors(replica).factor_p(stage(replica, index).gradients().data(), part.data());
      add(part, first);
    }
    part.resize(layout.second_size());
    for (std::size_t replica = 0; replica < model.replicas; ++replica) {
      factors(replica).factor_q(first.data(), part.data());
      add(part, second);
    }
    for (std::size_t replica = 0; replica < model.replicas; ++replica)
      factors(replica).expand(first.data(), second.data(), stage(replica, index).gradients().data());
  }
}

template <class T>
void LocalTrainer<T>::update_subspace() {
  const StageModel<T>& last = last_stage(0);
  const auto next = compression::grassmann_step(*last.subspace(), last.energy(), config_.update_step);
  for (const auto& each : stages_) each->set_subspace(next);
  if (updated_) updated_(next);
}

template class LocalTrainer<float>;
template class LocalTrainer<double>;

}  // namespace wafervp::training
