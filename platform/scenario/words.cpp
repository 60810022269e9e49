// SPDX-License-Identifier: Apache-2.0
#include "scenario/words.h"

namespace wafervp {

template <class Enum>
using Words = std::vector<std::pair<const char*, Enum>>;

template <>
const Words<FabricKind>& words_of() {
  static const Words<FabricKind> words = {{"ring", FabricKind::kRing},
                                          {"switch", FabricKind::kSwitch},
                                          {"mesh2d", FabricKind::kMesh2d},
                                          {"fred", FabricKind::kFred}};
  return words;
}
template <>
const Words<Grain>& words_of() {
  static const Words<Grain> words = {{"auto", Grain::kAuto}, {"packet", Grain::kPacket}};
  return words;
}
template <>
const Words<BufferRule>& words_of() {
  static const Words<BufferRule> words = {{"round_trip", BufferRule::kRoundTrip},
                                          {"paper", BufferRule::kPaper}};
  return words;
}
template <>
const Words<PreemptionKind>& words_of() {
  static const Words<PreemptionKind> words = {{"off", PreemptionKind::kOff},
                                              {"mp_pp_dp", PreemptionKind::kMpPpDp}};
  return words;
}
template <>
const Words<HoldScope>& words_of() {
  static const Words<HoldScope> words = {{"path", HoldScope::kPath}, {"wafer", HoldScope::kWafer}};
  return words;
}
template <>
const Words<Retransmission>& words_of() {
  static const Words<Retransmission> words = {{"off", Retransmission::kOff},
                                              {"go_back_n", Retransmission::kGoBackN}};
  return words;
}
template <>
const Words<Acknowledgements>& words_of() {
  static const Words<Acknowledgements> words = {{"counted", Acknowledgements::kCounted},
                                                {"charged", Acknowledgements::kCharged}};
  return words;
}
template <>
const Words<DataMode>& words_of() {
  static const Words<DataMode> words = {{"none", DataMode::kNone}, {"values", DataMode::kValues}};
  return words;
}
template <>
const Words<MemoryCheck>& words_of() {
  static const Words<MemoryCheck> words = {
      {"error", MemoryCheck::kError}, {"warn", MemoryCheck::kWarn}, {"off", MemoryCheck::kOff}};
  return words;
}
template <>
const Words<WorkloadKind>& words_of() {
  static const Words<WorkloadKind> words = {{"resnet152", WorkloadKind::kResnet152},
                                            {"transformer", WorkloadKind::kTransformer},
                                            {"training", WorkloadKind::kTraining},
                                            {"collective", WorkloadKind::kCollective}};
  return words;
}
template <>
const Words<ComputeMode>& words_of() {
  static const Words<ComputeMode> words = {{"physical", ComputeMode::kPhysical},
                                           {"fixed", ComputeMode::kFixed}};
  return words;
}
template <>
const Words<PlacementKind>& words_of() {
  static const Words<PlacementKind> words = {{"mp_pp_dp", PlacementKind::kMpPpDp},
                                             {"row_major", PlacementKind::kRowMajor},
                                             {"searched", PlacementKind::kSearched},
                                             {"explicit", PlacementKind::kExplicit}};
  return words;
}
template <>
const Words<PipelineSchedule>& words_of() {
  static const Words<PipelineSchedule> words = {{"gpipe", PipelineSchedule::kGpipe},
                                                {"1f1b", PipelineSchedule::k1f1b}};
  return words;
}
template <>
const Words<DpSync>& words_of() {
  static const Words<DpSync> words = {{"all_reduce", DpSync::kAllReduce}, {"rs_ag", DpSync::kRsAg}};
  return words;
}
template <>
const Words<GradientSum>& words_of() {
  static const Words<GradientSum> words = {{"all_reduce", GradientSum::kAllReduce},
                                           {"power_sgd", GradientSum::kPowerSgd}};
  return words;
}
template <>
const Words<WeightMode>& words_of() {
  static const Words<WeightMode> words = {{"stationary", WeightMode::kStationary},
                                          {"streaming", WeightMode::kStreaming}};
  return words;
}
template <>
const Words<StreamReach>& words_of() {
  static const Words<StreamReach> words = {{"all", StreamReach::kAll}, {"group", StreamReach::kGroup}};
  return words;
}
template <>
const Words<WriteBack>& words_of() {
  static const Words<WriteBack> words = {{"overlapped", WriteBack::kOverlapped},
                                         {"serial", WriteBack::kSerial}};
  return words;
}
template <>
const Words<IoPacing>& words_of() {
  static const Words<IoPacing> words = {{"none", IoPacing::kNone}, {"fair", IoPacing::kFair}};
  return words;
}
template <>
const Words<IoChannels>& words_of() {
  static const Words<IoChannels> words = {{"per_class", IoChannels::kPerClass}, {"one", IoChannels::kOne}};
  return words;
}
template <>
const Words<Algorithm>& words_of() {
  static const Words<Algorithm> words = {{"auto", Algorithm::kAuto},
                                         {"ring", Algorithm::kRing},
                                         {"hierarchical", Algorithm::kHierarchical},
                                         {"in_switch", Algorithm::kInSwitch},
                                         {"direct", Algorithm::kDirect},
                                         {"relay", Algorithm::kRelay},
                                         {"ring_both", Algorithm::kRingBoth},
                                         {"tree", Algorithm::kTree},
                                         {"best", Algorithm::kBest}};
  return words;
}
template <>
const Words<Operation>& words_of() {
  static const Words<Operation> words = {
      {"all_reduce", Operation::kAllReduce}, {"reduce_scatter", Operation::kReduceScatter},
      {"all_gather", Operation::kAllGather}, {"broadcast", Operation::kBroadcast},
      {"all_to_all", Operation::kAllToAll},  {"send", Operation::kSend},
      {"barrier", Operation::kBarrier},      {"load", Operation::kLoad},
      {"store", Operation::kStore},          {"load_and_store", Operation::kLoadAndStore}};
  return words;
}
template <>
const Words<ElementType>& words_of() {
  static const Words<ElementType> words = {{"fp32", ElementType::kFp32},
                                           {"fp16", ElementType::kFp16},
                                           {"bf16", ElementType::kBf16},
                                           {"int32", ElementType::kInt32},
                                           {"fp64", ElementType::kFp64}};
  return words;
}

template <>
const Words<FredRemedy>& words_of() {
  static const Words<FredRemedy> words = {{"serialise", FredRemedy::kSerialise},
                                          {"more_middles", FredRemedy::kMoreMiddles},
                                          {"endpoint_ring", FredRemedy::kEndpointRing},
                                          {"move_workers", FredRemedy::kMoveWorkers}};
  return words;
}
template <>
const Words<TrainingData>& words_of() {
  static const Words<TrainingData> words = {{"chain", TrainingData::kChain}, {"text", TrainingData::kText}};
  return words;
}
template <>
const Words<TrainingStay>& words_of() {
  static const Words<TrainingStay> words = {{"row_wise", TrainingStay::kRowWise},
                                            {"projected", TrainingStay::kProjected},
                                            {"reparametrised", TrainingStay::kReparametrised},
                                            {"free", TrainingStay::kFree}};
  return words;
}
template <>
const Words<SiteWires>& words_of() {
  static const Words<SiteWires> words = {{"separate", SiteWires::kSeparate},
                                         {"shared_inbound", SiteWires::kSharedInbound}};
  return words;
}
template <>
const Words<SiteLatency>& words_of() {
  static const Words<SiteLatency> words = {{"pipelined", SiteLatency::kPipelined},
                                           {"occupies", SiteLatency::kOccupies}};
  return words;
}
template <>
const Words<JitterKind>& words_of() {
  static const Words<JitterKind> words = {
      {"none", JitterKind::kNone}, {"uniform", JitterKind::kUniform}, {"normal", JitterKind::kNormal}};
  return words;
}

template <>
const Words<CompressionPlacement>& words_of() {
  static const Words<CompressionPlacement> words = {{"off", CompressionPlacement::kOff},
                                                    {"npu", CompressionPlacement::kNpu},
                                                    {"npu_and_io", CompressionPlacement::kNpuAndIo},
                                                    {"fred_ports", CompressionPlacement::kFredPorts}};
  return words;
}
template <>
const Words<CompressedLinks>& words_of() {
  static const Words<CompressedLinks> words = {{"between_switches", CompressedLinks::kBetweenSwitches},
                                               {"all", CompressedLinks::kAll}};
  return words;
}
template <>
const Words<CompressionPreset>& words_of() {
  static const Words<CompressionPreset> words = {{"kernel", CompressionPreset::kKernel},
                                                 {"unit", CompressionPreset::kUnit}};
  return words;
}
template <>
const Words<UnitForwarding>& words_of() {
  static const Words<UnitForwarding> words = {{"preset", UnitForwarding::kPreset},
                                              {"packets", UnitForwarding::kPackets},
                                              {"messages", UnitForwarding::kMessages}};
  return words;
}
template <>
const Words<CodecName>& words_of() {
  static const Words<CodecName> words = {{"none", CodecName::kNone},
                                         {"bypass", CodecName::kBypass},
                                         {"cast", CodecName::kCast},
                                         {"int8", CodecName::kInt8},
                                         {"int4", CodecName::kInt4},
                                         {"top_k", CodecName::kTopK},
                                         {"threshold", CodecName::kThreshold},
                                         {"low_rank", CodecName::kLowRank},
                                         {"subspace", CodecName::kSubspace},
                                         {"lossless", CodecName::kLossless},
                                         {"zfp", CodecName::kZfp}};
  return words;
}
template <>
const Words<MessageValues>& words_of() {
  static const Words<MessageValues> words = {{"workload", MessageValues::kWorkload},
                                             {"fp64", MessageValues::kFp64},
                                             {"fp32", MessageValues::kFp32},
                                             {"bf16", MessageValues::kBf16},
                                             {"fp16", MessageValues::kFp16}};
  return words;
}
template <>
const Words<WireType>& words_of() {
  static const Words<WireType> words = {{"values", WireType::kValues},
                                        {"fp64", WireType::kFp64},
                                        {"fp32", WireType::kFp32},
                                        {"bf16", WireType::kBf16},
                                        {"fp16", WireType::kFp16}};
  return words;
}
template <>
const Words<NarrowType>& words_of() {
  static const Words<NarrowType> words = {
      {"fp32", NarrowType::kFp32}, {"bf16", NarrowType::kBf16}, {"fp16", NarrowType::kFp16}};
  return words;
}

std::uint32_t element_bytes(ElementType type) {
  switch (type) {
    case ElementType::kFp16:
    case ElementType::kBf16:
      return 2;
    case ElementType::kFp64:
      return 8;
    case ElementType::kFp32:
    case ElementType::kInt32:
      break;
  }
  return 4;
}

const std::vector<TransformerPreset>& transformer_presets() {
  // name, layers, hidden, sequence, parameters, attention factor: 4 s h FLOPs a layer and token are the
  // two products of the attention, forward.
  static const std::vector<TransformerPreset> presets = {
      {"transformer_17b",
       {"transformer_17b", 78, 4256, 1024, 17e9, 4},
       "arXiv 2406.19580; sizes of Turing-NLG"},
      {"gpt3", {"gpt3", 96, 12288, 2048, 175e9, 4}, "arXiv 2005.14165"},
      {"transformer_1t",
       {"transformer_1t", 128, 25600, 2048, 1e12, 4},
       "arXiv 2406.19580; sizes of arXiv 2104.04473"},
      {"large", {"large", 48, 1600, 1024, 1.558e9, 4}, "sizes of GPT-2 XL"},
      {"medium", {"medium", 24, 1024, 1024, 355e6, 4}, "sizes of GPT-2 medium"},
      {"small", {"small", 12, 768, 1024, 124e6, 4}, "sizes of GPT-2"},
      {"tiny", {"tiny", 4, 256, 128, 3.2e6, 4}, "for quick tests"},
  };
  return presets;
}

}  // namespace wafervp
