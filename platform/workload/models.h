// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "scenario/scenario.h"

namespace wafervp {

/// A transformer by name, as `preset` gives it.
struct TransformerPreset {
  const char* name;
  std::uint32_t layers, hidden, sequence;
  double parameters;
  const char* source;
};
const std::vector<TransformerPreset>& transformer_presets();

/// The sizes that a scenario's transformer has: those of the preset, over which members that are not 0
/// go. Throws ScenarioError for an unknown preset and for sizes that are missing or beyond arithmetic.
TransformerSpec resolve_transformer(const TransformerSpec& spec);

/// Forward FLOPs of one layer for one token, 24 h^2 + a s h: matrix products of attention and MLP (2 FLOPs
/// a weight and token, 12 h^2 weights) and the products with keys and values (a = 4: full attention).
double layer_flops_per_token(const TransformerSpec& spec);

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
