// SPDX-License-Identifier: Apache-2.0
#include "workload/models.h"

#include "workload/errors.h"

namespace wafervp {

const std::vector<TransformerPreset>& transformer_presets() {
  static const std::vector<TransformerPreset> presets = {
      {"transformer_17b", 78, 4256, 1024, 17e9, "Turing-NLG; facts of the FRED paper, shape assumed"},
      {"transformer_1_3b", 24, 2048, 2048, 1.3e9, "GPT-3 XL (Brown et al. 2020, table 2.1)"},
      {"small", 12, 768, 1024, 124e6, "GPT-2 small"},
      {"tiny", 4, 256, 128, 3.2e6, "for tests"},
  };
  return presets;
}

TransformerSpec resolve_transformer(const TransformerSpec& spec) {
  TransformerSpec resolved = spec;
  if (spec.preset != "custom") {
    const TransformerPreset* found = nullptr;
    std::string names = "custom";
    for (const TransformerPreset& preset : transformer_presets()) {
      if (spec.preset == preset.name) found = &preset;
      names += std::string(", ") + preset.name;
    }
    if (found == nullptr) {
      refuse("/workload/transformer/preset", "expected one of " + names + ", found \"" + spec.preset + "\"");
    }
    if (spec.layers == 0) resolved.layers = found->layers;
    if (spec.hidden == 0) resolved.hidden = found->hidden;
    if (spec.sequence == 0) resolved.sequence = found->sequence;
    if (spec.parameters == 0) resolved.parameters = found->parameters;
  }
  const auto positive = [](double value, const char* member) {
    if (!(value > 0)) {
      refuse(std::string("/workload/transformer/") + member,
             "expected a value above 0 for a custom transformer");
    }
  };
  positive(resolved.layers, "layers");
  positive(resolved.hidden, "hidden");
  positive(resolved.sequence, "sequence");
  positive(resolved.parameters, "parameters");
  return resolved;
}

double layer_flops_per_token(const TransformerSpec& spec) {
  const double h = spec.hidden, s = spec.sequence;
  return 24 * h * h + spec.attention_flops_factor * s * h;
}

}  // namespace wafervp
