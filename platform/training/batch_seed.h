// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "core/split_mix.h"

namespace wafervp::training {

/// One seed a microbatch: what it holds does not depend on what was drawn before.
inline std::uint64_t batch_seed(std::uint64_t seed, std::size_t step, std::size_t replica,
                                std::size_t microbatch) {
  for (const std::size_t part : {step, replica, microbatch}) seed = SplitMix(seed).next() + part;
  return SplitMix(seed).next();
}

}  // namespace wafervp::training
