// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "scenario/scenario.h"

namespace wafervp {

/// Forward FLOPs of one layer for one token, 24 h^2 + a s h: matrix products of attention and MLP (2 FLOPs
/// a weight and token, 12 h^2 weights) and the products with keys and values (a = 4: full attention).
inline double layer_flops_per_token(const TransformerSpec& spec) {
  const double h = spec.hidden, s = spec.sequence;
  return 24 * h * h + spec.attention_flops_factor * s * h;
}

/// Throws ScenarioError where sizes of the model do not fit the parallelism or the microbatches, or its FLOPs
/// or bytes are beyond 64 bits.
void check_transformer(const WorkloadSpec& workload, const TransformerSpec& model);

/// ResNet-152 (He et al. 2016), 224 x 224 images.
inline constexpr double kResnet152Parameters = 60.2e6;
inline constexpr double kResnet152ForwardFlops = 23e9;  // of one image
/// Outputs of convolutions of one image (Radosavovic et al. 2020 count 22.6 M); each is kept again after
/// its normalisation, 2 bytes each. An assumption.
inline constexpr double kResnet152ActivationBytes = 22.6e6 * 2 * 2;

/// A backward pass costs twice the forward one: gradients of inputs and of weights.
inline constexpr double kBackwardOverForward = 2;
inline constexpr std::uint64_t kGradientBytes = 2;    // fp16
inline constexpr std::uint64_t kWeightBytes = 2;      // fp16
inline constexpr std::uint64_t kOptimiserBytes = 12;  // fp32 master copy, momentum, variance (Adam)

}  // namespace wafervp
