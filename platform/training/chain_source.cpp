// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "compression/gaussian.h"
#include "core/split_mix.h"
#include "training/batch_seed.h"
#include "training/data_source.h"

namespace wafervp::training {
namespace {

/// kChainOdds in parts of 20.
constexpr std::uint32_t kOddsParts = 20;
constexpr std::array<std::uint32_t, 4> kOddsBelow = {12, 16, 19, 20};

class Chain : public DataSource {
 public:
  Chain(const ModelConfig& model, std::uint64_t seed) : model_(model), seed_(seed) {
    if (model.vocabulary < kOddsBelow.size())
      throw TrainingError(fmt::format("vocabulary: the chain needs {} tokens or more, found {}",
                                      kOddsBelow.size(), model.vocabulary));
    SplitMix random(seed);
    successors_.resize(kChainClasses * model.vocabulary);
    for (auto& row : successors_)
      for (std::size_t i = 0; i < row.size(); ++i) do {
          row[i] = random.below(static_cast<std::uint32_t>(model.vocabulary));
        } while (std::find(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(i), row[i]) !=
                 row.begin() + static_cast<std::ptrdiff_t>(i));
  }

  std::size_t vocabulary() const override { return model_.vocabulary; }

  double entropy_floor() const override {
    double nats = 0;
    for (const double odds : kChainOdds) nats -= odds * compression::portable_log(odds);
    return nats;
  }

  TokenBatch batch(std::size_t step, std::size_t replica, std::size_t microbatch) const override {
    SplitMix random(batch_seed(seed_, step, replica, microbatch));
    const auto size = static_cast<std::uint32_t>(model_.vocabulary);
    TokenBatch result;
    for (std::size_t sequence = 0; sequence < model_.sequences; ++sequence) {
      std::uint32_t before = random.below(size), last = random.below(size);
      for (std::size_t position = 0; position < model_.tokens; ++position) {
        const std::uint32_t next = successor(before, last, random.below(kOddsParts));
        result.ids.push_back(last);
        result.targets.push_back(next);
        before = last;
        last = next;
      }
    }
    return result;
  }

 private:
  std::uint32_t successor(std::uint32_t before, std::uint32_t last, std::uint32_t draw) const {
    const auto& row = successors_[before % kChainClasses * model_.vocabulary + last];
    return row[static_cast<std::size_t>(std::upper_bound(kOddsBelow.begin(), kOddsBelow.end(), draw) -
                                        kOddsBelow.begin())];
  }

  ModelConfig model_;
  std::uint64_t seed_;
  std::vector<std::array<std::uint32_t, 4>> successors_;  ///< by class and last token
};

}  // namespace

std::unique_ptr<DataSource> make_chain(const ModelConfig& model, std::uint64_t seed) {
  return std::make_unique<Chain>(model, seed);
}

}  // namespace wafervp::training
