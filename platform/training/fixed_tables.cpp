// SPDX-License-Identifier: Apache-2.0
#include "training/fixed_tables.h"

#include "compression/gaussian.h"
#include "core/split_mix.h"
#include "training/portable_math.h"

namespace wafervp::training {
namespace {

/// So that F is independent of a U that was made from the same seed.
constexpr std::uint64_t kTokens = 0x746f6b656e73;

}  // namespace

std::shared_ptr<const compression::FixedTables> make_tables(const ModelConfig& model, std::uint64_t seed) {
  auto tables = std::make_shared<compression::FixedTables>();
  tables->tokens =
      compression::gaussian_matrix(model.vocabulary, model.dimension, SplitMix(seed ^ kTokens).next());
  tables->positions = compression::Matrix<double>(model.tokens, model.dimension);
  constexpr double kLogOfBase = 9.2103403719761827361;  // ln 10000
  for (std::size_t position = 0; position < model.tokens; ++position)
    for (std::size_t column = 0; column < model.dimension; ++column) {
      const double exponent = static_cast<double>(column / 2 * 2) / static_cast<double>(model.dimension);
      const double angle = static_cast<double>(position) * portable_exp(-kLogOfBase * exponent);
      tables->positions.row(position)[column] = column % 2 ? portable_cos(angle) : portable_sin(angle);
    }
  return tables;
}

}  // namespace wafervp::training
