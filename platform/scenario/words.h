// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "scenario/scenario.h"

namespace wafervp {

/// The words of an enumeration as they stand in a scenario, in the order of its values.
template <class Enum>
const std::vector<std::pair<const char*, Enum>>& words_of();

/// The word of one value.
template <class Enum>
const char* to_word(Enum value) {
  for (const auto& [word, known] : words_of<Enum>()) {
    if (known == value) return word;
  }
  return "?";
}

template <>
const std::vector<std::pair<const char*, FabricKind>>& words_of();
template <>
const std::vector<std::pair<const char*, Grain>>& words_of();
template <>
const std::vector<std::pair<const char*, BufferRule>>& words_of();
template <>
const std::vector<std::pair<const char*, PreemptionKind>>& words_of();
template <>
const std::vector<std::pair<const char*, HoldScope>>& words_of();
template <>
const std::vector<std::pair<const char*, Retransmission>>& words_of();
template <>
const std::vector<std::pair<const char*, Acknowledgements>>& words_of();
template <>
const std::vector<std::pair<const char*, DataMode>>& words_of();
template <>
const std::vector<std::pair<const char*, MemoryCheck>>& words_of();
template <>
const std::vector<std::pair<const char*, WorkloadKind>>& words_of();
template <>
const std::vector<std::pair<const char*, ComputeMode>>& words_of();
template <>
const std::vector<std::pair<const char*, PlacementKind>>& words_of();
template <>
const std::vector<std::pair<const char*, PipelineSchedule>>& words_of();
template <>
const std::vector<std::pair<const char*, DpSync>>& words_of();
template <>
const std::vector<std::pair<const char*, GradientSum>>& words_of();
template <>
const std::vector<std::pair<const char*, WeightMode>>& words_of();
template <>
const std::vector<std::pair<const char*, StreamReach>>& words_of();
template <>
const std::vector<std::pair<const char*, WriteBack>>& words_of();
template <>
const std::vector<std::pair<const char*, IoPacing>>& words_of();
template <>
const std::vector<std::pair<const char*, IoChannels>>& words_of();
template <>
const std::vector<std::pair<const char*, Algorithm>>& words_of();
template <>
const std::vector<std::pair<const char*, Operation>>& words_of();
template <>
const std::vector<std::pair<const char*, ElementType>>& words_of();
template <>
const std::vector<std::pair<const char*, FredRemedy>>& words_of();
template <>
const std::vector<std::pair<const char*, CompressionPlacement>>& words_of();
template <>
const std::vector<std::pair<const char*, CompressedLinks>>& words_of();
template <>
const std::vector<std::pair<const char*, CompressionPreset>>& words_of();
template <>
const std::vector<std::pair<const char*, UnitForwarding>>& words_of();
template <>
const std::vector<std::pair<const char*, CodecName>>& words_of();
template <>
const std::vector<std::pair<const char*, MessageValues>>& words_of();
template <>
const std::vector<std::pair<const char*, WireType>>& words_of();
template <>
const std::vector<std::pair<const char*, NarrowType>>& words_of();
template <>
const std::vector<std::pair<const char*, TrainingData>>& words_of();
template <>
const std::vector<std::pair<const char*, TrainingStay>>& words_of();
template <>
const std::vector<std::pair<const char*, SiteWires>>& words_of();
template <>
const std::vector<std::pair<const char*, SiteLatency>>& words_of();
template <>
const std::vector<std::pair<const char*, JitterKind>>& words_of();

/// Bytes of one element.
std::uint32_t element_bytes(ElementType type);

/// Elements of a row of a message, for compression; 0: a message is one row.
std::uint64_t row_width(const Scenario& scenario);

/// A transformer whose sizes need not be spelt out.
struct TransformerPreset {
  const char* name;
  TransformerSpec sizes;
  const char* source;
};
const std::vector<TransformerPreset>& transformer_presets();

}  // namespace wafervp
