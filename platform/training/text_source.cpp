// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "core/split_mix.h"
#include "training/batch_seed.h"
#include "training/data_source.h"

namespace wafervp::training {
namespace {

class Text : public DataSource {
 public:
  Text(const ModelConfig& model, std::uint64_t seed) : model_(model), seed_(seed) {
    const std::string& alphabet = training_alphabet();
    if (model.vocabulary < alphabet.size())
      throw TrainingError(fmt::format("vocabulary: the text needs {} tokens or more, found {}",
                                      alphabet.size(), model.vocabulary));
    if (model.tokens + 1 > training_text().size())
      throw TrainingError(fmt::format("tokens: expected fewer than the {} characters of the text, found {}",
                                      training_text().size(), model.tokens));
    for (const char letter : training_text())
      ids_.push_back(static_cast<std::uint32_t>(alphabet.find(letter)));
  }

  std::size_t vocabulary() const override { return training_alphabet().size(); }

  TokenBatch batch(std::size_t step, std::size_t replica, std::size_t microbatch) const override {
    SplitMix random(batch_seed(seed_, step, replica, microbatch));
    TokenBatch result;
    for (std::size_t sequence = 0; sequence < model_.sequences; ++sequence) {
      const auto first = ids_.begin() + random.below(static_cast<std::uint32_t>(ids_.size() - model_.tokens));
      const auto end = first + static_cast<std::ptrdiff_t>(model_.tokens);
      result.ids.insert(result.ids.end(), first, end);
      result.targets.insert(result.targets.end(), first + 1, end + 1);
    }
    return result;
  }

 private:
  ModelConfig model_;
  std::uint64_t seed_;
  std::vector<std::uint32_t> ids_;
};

}  // namespace

const std::string& training_alphabet() {
  static const std::string kAlphabet = [] {
    std::string letters = training_text();
    std::sort(letters.begin(), letters.end());
    letters.erase(std::unique(letters.begin(), letters.end()), letters.end());
    return letters;
  }();
  return kAlphabet;
}

std::unique_ptr<DataSource> make_text(const ModelConfig& model, std::uint64_t seed) {
  return std::make_unique<Text>(model, seed);
}

}  // namespace wafervp::training
