// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "training/stage_model.h"

namespace wafervp::training {

/// Training data. What a microbatch holds follows from the seed and its place alone, so that each stage can
/// make it by itself.
class DataSource {
 public:
  virtual ~DataSource() = default;
  /// Tokens are 0 .. vocabulary() - 1.
  virtual std::size_t vocabulary() const = 0;
  /// Nats a token that no model can go below; 0 where it is not known.
  virtual double entropy_floor() const { return 0; }
  virtual TokenBatch batch(std::size_t step, std::size_t replica, std::size_t microbatch) const = 0;
};

/// A synthetic chain of second order. The token before the last one, modulo kChainClasses, picks one of as
/// many tables; the last one picks a row of it, with four different successors of probabilities kChainOdds.
/// All rows have the same odds, so that their entropy, 1.063 nats, is the entropy rate of the chain.
std::unique_ptr<DataSource> make_chain(const ModelConfig& model, std::uint64_t seed);
constexpr double kChainOdds[4] = {0.60, 0.20, 0.15, 0.05};
constexpr std::size_t kChainClasses = 4;

/// Characters of a short text that comes with the program, from places that the seed picks.
std::unique_ptr<DataSource> make_text(const ModelConfig& model, std::uint64_t seed);
/// The text, and the characters in it, in the order of their tokens.
const std::string& training_text();
const std::string& training_alphabet();

}  // namespace wafervp::training
