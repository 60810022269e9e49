// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <initializer_list>
#include <utility>

#include "scenario/checks.h"
#include "scenario/text.h"
#include "scenario/words.h"

namespace wafervp {

namespace {

bool is_one_of(std::uint64_t value, std::initializer_list<std::uint64_t> good) {
  return std::find(good.begin(), good.end(), value) != good.end();
}

}  // namespace

void Checks::compression(const Scenario& scenario) {
  const CompressionSpec& spec = scenario.wafer.compression;
  const std::pair<const char*, CodecName> policy[] = {{"mp", spec.policy.mp},
                                                      {"pp", spec.policy.pp},
                                                      {"dp", spec.policy.dp},
                                                      {"streaming", spec.policy.streaming}};
  const auto uses = [&](CodecName codec) {
    return std::any_of(std::begin(policy), std::end(policy),
                       [&](const auto& p) { return p.second == codec; });
  };
  const bool any = std::any_of(std::begin(policy), std::end(policy),
                               [](const auto& p) { return p.second != CodecName::kNone; });
  if (spec.placement == CompressionPlacement::kOff) {
    if (any && validator_.sound({"/wafer/compression/policy", "/wafer/compression/placement"})) {
      warn("/wafer/compression/policy", "changes nothing: /wafer/compression/placement is off");
    }
    return;
  }
  const bool at_ports = spec.placement == CompressionPlacement::kFredPorts;
  if (at_ports) compression_at_ports(scenario);
  if (!any) warn("/wafer/compression/placement", "changes nothing: the policy names no codec");
  if (spec.policy.streaming != CodecName::kNone) {
    if (spec.placement == CompressionPlacement::kNpu) {
      validator_.fault("/wafer/compression/policy/streaming",
                       std::string("found ") + to_word(spec.policy.streaming) +
                           "; what comes from I/O controllers is compressed there: placement npu_and_io is "
                           "needed, found " +
                           to_word(spec.placement));
    }
    needs_io(scenario, "/wafer/compression/policy/streaming", "a codec of streams");
  }
  const CodecSpec& codec = spec.codec;
  if (scenario.detail.data == DataMode::kValues && codec.values != MessageValues::kWorkload) {
    validator_.fault(
        "/wafer/compression/codec/values",
        std::string("found ") + to_word(codec.values) +
            "; with /detail/data values messages carry the type of the workload: expected workload");
  }
  if (!at_ports && uses(CodecName::kSubspace) && validator_.sound({"/wafer/compression/codec/k"})) {
    const std::uint64_t width = row_width(scenario);
    if (codec.k == 0) {
      validator_.fault("/wafer/compression/codec/k",
                       "found 0; the subspace codec needs its dimension, 1 up to the width");
    } else if (width != 0 && codec.k > width) {
      validator_.fault("/wafer/compression/codec/k", "found " + std::to_string(codec.k) +
                                                         "; expected at most the width of a row, " +
                                                         std::to_string(width));
    }
    if (!is_one_of(codec.id_bytes, {0, 2, 4, 8})) {
      validator_.fault("/wafer/compression/codec/id_bytes",
                       "found " + std::to_string(codec.id_bytes) + "; expected 0, 2, 4 or 8");
    }
    const TrainingSpec& model = scenario.workload.training;
    const bool training = scenario.workload.kind == WorkloadKind::kTraining;
    if (training && validator_.sound({"/workload/training"})) {
      if (model.subspace_k == 0) {
        validator_.fault(
            "/workload/training/subspace_k",
            "found 0: the subspace codec would drop what lies outside of its subspace; expected the codec's "
            "k, " +
                std::to_string(codec.k) +
                ", or another codec for the unconstrained model (to see what it drops: the codec's k, and "
                "stay \"free\")");
      } else if (model.subspace_k != codec.k) {
        validator_.fault("/wafer/compression/codec/k",
                         "found " + std::to_string(codec.k) + ", but /workload/training/subspace_k is " +
                             std::to_string(model.subspace_k) + "; both ends have one U");
      }
      if (codec.id_bytes == 0 && model.stay != TrainingStay::kFree) {
        validator_.fault("/wafer/compression/codec/id_bytes",
                         "found 0; with values the receiver needs the token ids: expected 2, 4 or 8");
      }
    }
    if (scenario.detail.data == DataMode::kValues && !training) {
      for (const auto& [name, used] : policy) {
        if (used != CodecName::kSubspace) continue;
        validator_.fault(std::string("/wafer/compression/policy/") + name,
                         "found subspace with /detail/data values: the values of this workload have no token "
                         "ids and no U; use data none, or another codec");
      }
    }
  }
  for (const auto& [name, used] : policy) {
    if (at_ports || (used != CodecName::kSubspace && used != CodecName::kLowRank && used != CodecName::kZfp))
      continue;
    if (row_width(scenario) != 0) continue;
    validator_.fault(std::string("/wafer/compression/policy/") + name,
                     std::string("found ") + to_word(used) +
                         ", which works on rows: /wafer/compression/codec/width is needed");
  }
}

/// Units that see one packet at a time, between switches that see values.
void Checks::compression_at_ports(const Scenario& scenario) {
  const CompressionSpec& spec = scenario.wafer.compression;
  if (scenario.wafer.fabric.kind != FabricKind::kFred) {
    validator_.fault("/wafer/compression/placement",
                     std::string("found fred_ports, which needs a fabric of kind fred, found ") +
                         to_word(scenario.wafer.fabric.kind));
  }
  const auto why_not = [](CodecName codec) -> const char* {
    switch (codec) {
      case CodecName::kSubspace:
      case CodecName::kLowRank:
        return "works on the rows of a whole message";
      case CodecName::kTopK:
        return "chooses among the rows of a whole message";
      case CodecName::kThreshold:
        return "keeps a threshold for each tensor and sender";
      default:
        return nullptr;
    }
  };
  for (const auto& [name, codec] :
       {std::pair{"mp", spec.policy.mp}, std::pair{"pp", spec.policy.pp}, std::pair{"dp", spec.policy.dp},
        std::pair{"streaming", spec.policy.streaming}}) {
    if (codec == CodecName::kNone) continue;
    const std::string pointer = std::string("/wafer/compression/policy/") + name,
                      found = std::string("found ") + to_word(codec);
    if (const char* why = why_not(codec)) {
      validator_.fault(
          pointer,
          found + ", which " + why +
              "; at ports (/wafer/compression/placement) each packet is compressed by itself: expected "
              "bypass, cast, int8, int4, lossless or zfp");
    } else if (scenario.detail.data == DataMode::kValues && codec != CodecName::kBypass &&
               codec != CodecName::kLossless) {
      validator_.fault(
          pointer, found +
                       " with /detail/data values: values do not change at ports, and this codec loses some "
                       "of theirs at each; use data none, bypass or lossless");
    }
  }
}

std::uint64_t row_width(const Scenario& scenario) {
  if (scenario.wafer.compression.codec.width != 0) return scenario.wafer.compression.codec.width;
  if (scenario.workload.kind == WorkloadKind::kTraining) return scenario.workload.training.dimension;
  return scenario.workload.kind == WorkloadKind::kTransformer ? scenario.workload.transformer.hidden : 0;
}

}  // namespace wafervp
