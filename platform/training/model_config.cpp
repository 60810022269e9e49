// SPDX-License-Identifier: Apache-2.0
#include "training/model_config.h"

#include <fmt/format.h>

namespace wafervp::training {
namespace {

void need(bool right, const char* what, const std::string& expected, const std::string& found) {
  if (!right) throw TrainingError(fmt::format("{}: expected {}, found {}", what, expected, found));
}

void need_size(const char* what, std::size_t value, std::size_t least, std::size_t most) {
  need(value >= least && value <= most, what, fmt::format("{} to {}", least, most), std::to_string(value));
}

}  // namespace

std::size_t ModelConfig::first_block(std::size_t stage) const {
  const std::size_t longer = blocks % stages;
  return stage * (blocks / stages) + (stage < longer ? stage : longer);
}

double OptimizerConfig::rate_at(std::size_t step) const {
  if (step < warm_up_steps)
    return learning_rate * static_cast<double>(step + 1) / static_cast<double>(warm_up_steps);
  if (step >= steps) return 0;
  return learning_rate * static_cast<double>(steps - step) / static_cast<double>(steps - warm_up_steps);
}

void check(const ModelConfig& config) {
  need_size("dimension", config.dimension, 1, 4096);
  need_size("heads", config.heads, 1, config.dimension);
  need(config.dimension % config.heads == 0, "heads",
       fmt::format("a divisor of dimension {}", config.dimension), std::to_string(config.heads));
  need_size("hidden", config.hidden, 1, 1u << 16);
  need_size("vocabulary", config.vocabulary, 2, 1u << 16);
  need_size("tokens", config.tokens, 1, 4096);
  need_size("stages", config.stages, 1, 1024);
  need_size("blocks", config.blocks, config.stages, 4096);
  need_size("sequences", config.sequences, 1, 4096);
  need_size("microbatches", config.microbatches, 1, 4096);
  need_size("replicas", config.replicas, 1, 4096);
}

void check(const OptimizerConfig& config) {
  const auto need_share = [](const char* what, double value) {
    need(value >= 0 && value < 1, what, "0 or more and below 1", fmt::format("{}", value));
  };
  need(config.learning_rate > 0 && config.learning_rate <= 10, "learning_rate", "above 0 and up to 10",
       fmt::format("{}", config.learning_rate));
  need_size("steps", config.steps, 1, 1u << 30);
  need_size("warm_up_steps", config.warm_up_steps, 0, 1u << 30);
  need(config.weight_decay >= 0 && config.weight_decay <= 10, "weight_decay", "0 to 10",
       fmt::format("{}", config.weight_decay));
  need_share("beta1", config.beta1);
  need_share("beta2", config.beta2);
  need(config.epsilon > 0 && config.epsilon <= 1, "epsilon", "above 0 and up to 1",
       fmt::format("{}", config.epsilon));
}

}  // namespace wafervp::training
