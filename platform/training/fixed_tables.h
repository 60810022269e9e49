// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "compression/subspace.h"
#include "training/model_config.h"

namespace wafervp::training {

/// F: normal numbers of variance 1 from the seed. PE: sines and cosines of position / 10000^(2 i / d), with a
/// sine in column 2 i and its cosine beside it.
std::shared_ptr<const compression::FixedTables> make_tables(const ModelConfig& model, std::uint64_t seed);

}  // namespace wafervp::training
