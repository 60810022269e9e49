// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace wafervp {

using Json = nlohmann::ordered_json;

/// The typed scenario. The descriptor table (descriptors.cpp) gives names, units, defaults, ranges,
/// schema, documentation and messages of every member; this file only gives the types.

enum class FabricKind { kRing, kSwitch, kMesh2d, kFred };
enum class Grain { kAuto, kPacket };
enum class BufferRule { kRoundTrip, kPaper };
enum class PreemptionKind { kOff, kMpPpDp };
enum class HoldScope { kPath, kWafer };
enum class Retransmission { kOff, kGoBackN };
enum class Acknowledgements { kCounted, kCharged };
enum class DataMode { kNone, kValues };
enum class MemoryCheck { kError, kWarn, kOff };
enum class WorkloadKind { kResnet152, kTransformer, kTraining, kCollective };
enum class ComputeMode { kPhysical, kFixed };
enum class PlacementKind { kMpPpDp, kRowMajor, kSearched, kExplicit };
enum class PipelineSchedule { kGpipe, k1f1b };
enum class TrainingData { kChain, kText };
enum class TrainingStay { kRowWise, kProjected, kReparametrised, kFree };
enum class DpSync { kAllReduce, kRsAg };
/// How gradients of replicas are added: as they are, or as factors of low rank.
enum class GradientSum { kAllReduce, kPowerSgd };
enum class WeightMode { kStationary, kStreaming };
enum class StreamReach { kAll, kGroup };
enum class WriteBack { kOverlapped, kSerial };
/// Names as in firmware/include/wafervp/program.h.
enum class Algorithm { kAuto, kRing, kHierarchical, kInSwitch, kDirect, kRelay, kRingBoth, kTree, kBest };
enum class Operation {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kBroadcast,
  kAllToAll,
  kSend,
  kBarrier,
  kLoad,
  kStore,
  kLoadAndStore  // both at the same time
};
/// Of site links: what messages share, and how long one has it.
enum class SiteWires { kSeparate, kSharedInbound };
enum class SiteLatency { kPipelined, kOccupies };
enum class JitterKind { kNone, kUniform, kNormal };
enum class ElementType { kFp32, kFp16, kBf16, kInt32, kFp64 };
/// What is done about in-network flows that cannot all be routed at once: the four remedies of arXiv
/// 2406.19580.
enum class FredRemedy { kSerialise, kMoreMiddles, kEndpointRing, kMoveWorkers };

struct NpuSpec {
  double peak_flops_per_s;
  double compute_efficiency;         // 0 < e <= 1
  std::uint64_t hbm_bytes_per_s;     // read + write, roofline; 0: no memory term
  std::uint64_t hbm_bytes;           // capacity
  std::uint64_t reduce_bytes_per_s;  // 0: reductions at end points are free (as in the FRED paper)
};
struct RingSpec {
  std::uint64_t link_bytes_per_s;
  double link_latency_ns;
};
struct SwitchSpec {
  std::uint64_t link_bytes_per_s;
  double link_latency_ns;
  double switch_latency_ns;
};
struct Mesh2dSpec {
  std::uint32_t columns, rows;
  std::uint64_t link_bytes_per_s;
  double link_latency_ns;
};
struct FredSpec {
  std::uint32_t l1_switches, npus_per_l1;
  /// Switches of the level below on one of level 2, 3, ...; empty: one L2 switch over all L1.
  std::vector<std::uint32_t> upper_children;
  /// From one switch of level 2, 3, ... up, each direction; the last ones may be left out: then as much as
  /// its children have together.
  std::vector<std::uint64_t> upper_uplink_bytes_per_s;
  std::uint64_t npu_bytes_per_s;     // NPU to L1, each direction
  std::uint64_t uplink_bytes_per_s;  // L1 to L2 per L1 switch, each direction
  double link_latency_ns;
  double switch_latency_ns;
  bool in_network;  // reduce and multicast in the switches
  // Of a slice, for routing:
  std::uint32_t middles;      // m of all switches
  std::uint32_t up_ports;     // of an L1 switch; 0: as many as it has NPUs
  std::uint32_t l2_chips;     // chips that the uppermost switch is cut into
  std::uint32_t slices;       // that each switch is cut into
  std::uint64_t store_bytes;  // for the configurations of a switch
  FredRemedy remedy;
};
struct FlowControlSpec {
  BufferRule buffers;
  std::uint32_t header_bytes;
  PreemptionKind preemption;
  double reconfiguration_ns;  // with preemption, at the outputs of FRED switches
  double hold_ns;             // with preemption, of an NPU's sending
  HoldScope hold_scope;       // with hold_ns
  Retransmission retransmission;
  Acknowledgements acknowledgements;
};
struct ScriptedError {
  std::string link;
  std::uint64_t packet;  // n-th packet of the link, from 1
};
struct ErrorSpec {
  double bit_error_rate;
  std::vector<ScriptedError> script;
};
struct FabricSpec {
  FabricKind kind;
  RingSpec ring;
  SwitchSpec switch_;
  Mesh2dSpec mesh2d;
  FredSpec fred;
  std::uint32_t buffer_packets;  // per flow and hop; 0: ceil(rate * round trip / 4096) + 2
  /// Rates of single links, by name ("x2y1->x3y1"), over the rate of the kind.
  std::map<std::string, std::uint64_t> link_rates;
  FlowControlSpec flow_control;
  ErrorSpec errors;
};
enum class IoPacing { kNone, kFair };
enum class IoChannels { kPerClass, kOne };
/// Off-wafer memory.
struct IoSpec {
  std::uint32_t controllers;          // 0: none
  std::uint64_t channel_bytes_per_s;  // of one controller, each direction
  double link_latency_ns;             // controller to its NPU's router or L1 switch
  IoPacing pacing;
  IoChannels channels;
};
/// Wafers, or single NPUs, that are joined by slow links between their gateways.
struct SitesSpec {
  std::uint32_t count;    // 1: no site links
  std::uint32_t gateway;  // NPU of each site, counted from its first one
  std::uint64_t bytes_per_s;
  double latency_ns;
  SiteWires wires;
  SiteLatency latency;
  JitterKind jitter;
  double jitter_ns;
};
struct FirmwareSpec {
  double step_ns;
  Algorithm all_reduce, reduce_scatter, all_gather, broadcast, all_to_all;
  std::uint32_t chunks;         // 0: chosen by the firmware
  std::uint32_t active_chunks;  // 0: all
  std::uint32_t relay_chunks;   // chunks of a relayed broadcast, 0: chosen by the workload
  double x_first_share;         // hierarchical on a mesh; negative: balanced
};
enum class CompressionPlacement { kOff, kNpu, kNpuAndIo, kFredPorts };
enum class CompressedLinks { kBetweenSwitches, kAll };
enum class CompressionPreset { kKernel, kUnit };
enum class UnitForwarding { kPreset, kPackets, kMessages };
/// kNone: as they are.
enum class CodecName {
  kNone,
  kBypass,
  kCast,
  kInt8,
  kInt4,
  kTopK,
  kThreshold,
  kLowRank,
  kSubspace,
  kLossless,
  kZfp
};
/// Types of values, and of what goes over the wire.
enum class MessageValues { kWorkload, kFp64, kFp32, kBf16, kFp16 };
enum class WireType { kValues, kFp64, kFp32, kBf16, kFp16 };
enum class NarrowType { kFp32, kBf16, kFp16 };
/// What each traffic class goes through.
struct CompressionPolicySpec {
  CodecName mp, pp, dp, streaming;
};
/// Parameters of the codecs that the policy names.
struct CodecSpec {
  MessageValues values;
  std::uint64_t width;     // elements of a row; 0: hidden size of the model, or none
  std::uint64_t k;         // subspace; top_k: 0 by `fraction`
  std::uint64_t id_bytes;  // subspace
  WireType coefficients;   // subspace
  NarrowType cast_to;      // cast
  std::uint64_t block;     // int8, int4
  NarrowType scale;        // int8, int4
  double fraction;         // top_k
  double density;          // threshold
  std::uint64_t rank;      // low_rank
  double bits_per_value;   // zfp
  double assumed_ratio;    // 0: of the codec
};
/// 0, and negative setup: of the preset.
struct CompressionUnitSpec {
  CompressionPreset preset;
  std::uint64_t clock_hz, dense_bytes_per_s, macs_per_s, wire_bytes_per_s;
  double setup_ns;
  std::uint64_t fill_cycles;
  UnitForwarding forwarding;
};
struct CompressionSpec {
  CompressionPlacement placement;
  CompressedLinks links;  // fred_ports
  CompressionPolicySpec policy;
  CodecSpec codec;
  CompressionUnitSpec unit;
};
struct WaferSpec {
  std::uint32_t npus;
  NpuSpec npu;
  FabricSpec fabric;
  IoSpec io;
  SitesSpec sites;
  FirmwareSpec firmware;
  CompressionSpec compression;
};
struct ParallelismSpec {
  std::uint32_t mp, dp, pp;
};
struct PlacementSpec {
  PlacementKind kind;
  std::vector<std::uint32_t> npus;  // explicit: NPU of each rank, rank = (dp * PP + pp) * MP + mp
  std::uint64_t seed;               // searched
  std::uint32_t iterations;         // searched
};
struct ComputeSpec {
  ComputeMode mode;
  double fixed_ns;  // fixed: compute time of one NPU in the whole step (its share of forward and backward)
};
struct TransformerSpec {
  std::string preset;  // "transformer_17b", "tiny", ... or "custom"
  std::uint32_t layers, hidden, sequence;
  double parameters;              // of the whole model
  double attention_flops_factor;  // a of 24 h^2 + a s h FLOPs a layer and token
};
/// Weights that come from off-wafer memory layer by layer.
struct StreamingSpec {
  std::uint32_t prefetch;  // rounds of weights that are loaded ahead of the one in use
  std::uint32_t passes;    // times that the model is loaded in a step
  WriteBack write_back;
  StreamReach reach;
  bool recompute;  // activations again in the backward pass
};
/// A model that is really trained.
struct TrainingSpec {
  std::uint32_t dimension, heads, hidden, vocabulary, sequence, blocks;
  TrainingData data;
  ElementType type;
  std::uint32_t subspace_k;
  TrainingStay stay;
  std::uint32_t project_every;
  double learning_rate;
  std::uint32_t warm_up;
  double weight_decay;
  std::uint32_t update_every;  // steps between updates of U; 0: U is fixed
  double update_step;          // of the Grassmann update
};
/// Gradients between replicas.
struct GradientSpec {
  GradientSum sum;
  // power_sgd:
  std::uint32_t rank;
  bool error_feedback, warm_start;
};
struct CollectiveSpec {
  Operation operation;
  Algorithm algorithm;
  std::uint64_t bytes;  // as wvp_command.bytes
  ElementType type;
  std::uint32_t chunks, active_chunks, repeats;
  /// "all" NPUs of the wafer, or the "mp", "dp" or "pp" groups of the parallelism, at the same time.
  std::string groups;
  std::vector<std::uint32_t> ranks;        // a single explicit group (NPU numbers); empty: `groups`
  std::uint32_t root;                      // broadcast: index in the group; send: sender, to index root + 1
  std::map<std::string, double> start_ns;  // late ranks: NPU number -> when it enters
  std::vector<std::uint32_t> absent;       // NPUs that never enter (to test a deadlock report)
  std::map<std::string, std::uint64_t> bytes_of;  // NPU number -> other size (to test a mismatch report)
};
/// Point-to-point messages that run beside each other: contention cases.
struct MessageSpec {
  std::uint32_t from, to;
  std::uint64_t bytes;
  double start_ns;
};
struct WorkloadSpec {
  WorkloadKind kind;
  ParallelismSpec parallelism;
  PlacementSpec placement;
  ComputeSpec compute;
  TransformerSpec transformer;
  WeightMode weights;
  StreamingSpec streaming;
  TrainingSpec training;
  CollectiveSpec collective;
  std::vector<MessageSpec> messages;  // kind collective only, instead of or beside `collective`
  bool has_collective;                // false: `messages` only
  std::uint32_t samples_per_replica;  // resnet152: images per DP replica; transformer: sequences
  std::uint32_t microbatches;
  PipelineSchedule schedule;
  DpSync dp_sync;
  GradientSpec gradients;
  std::uint32_t iterations;
};
struct DetailSpec {
  std::string control_processor;  // "host"
  DataMode data;
  std::string fred_switch;  // "behavioural", "structural"
  Grain grain;
  std::uint32_t train_packets;
};
struct LimitsSpec {
  double time_ns;             // simulated; 0: none
  std::uint64_t value_bytes;  // data values
  double wall_s;              // 0: none
};
struct OutputsSpec {
  bool statistics;
  bool trace;
};
struct Scenario {
  std::uint32_t version;
  std::string name;
  std::string comment;
  WaferSpec wafer;
  WorkloadSpec workload;
  DetailSpec detail;
  MemoryCheck memory_check;
  LimitsSpec limits;
  OutputsSpec outputs;
  std::uint64_t seed;
};

}  // namespace wafervp
