// SPDX-License-Identifier: Apache-2.0
#include "workload/algorithms.h"

#include "scenario/words.h"
#include "workload/errors.h"

namespace wafervp {
namespace {

bool is_reduction_or_gather(Operation operation) {
  return operation == Operation::kAllReduce || operation == Operation::kReduceScatter ||
         operation == Operation::kAllGather;
}

/// Empty when the algorithm can do the operation, else why it cannot.
std::string objection(const Topology& topology, Operation operation, Algorithm algorithm,
                      const Communicator& communicator) {
  const std::string what = std::string(to_word(algorithm)) + " cannot do " + to_word(operation);
  switch (algorithm) {
    case Algorithm::kAuto:
      return {};
    case Algorithm::kTree:
      return operation == Operation::kAllReduce ? "" : what;
    case Algorithm::kRing:
    case Algorithm::kRingBoth:
    case Algorithm::kBest:
      return is_reduction_or_gather(operation) ? "" : what;
    case Algorithm::kHierarchical:
      if (!is_reduction_or_gather(operation)) return what;
      if (communicator.dim_x != 0) return {};
      return "hierarchical needs a group that is a full grid in rank order (rectangle of the mesh, equal "
             "parts "
             "of FRED L1 switches, at least 2 by 2); " +
             communicator.name + " with " + std::to_string(communicator.members.size()) + " members is none";
    case Algorithm::kInSwitch:
      if (!is_reduction_or_gather(operation) && operation != Operation::kBroadcast &&
          operation != Operation::kBarrier) {
        return what;
      }
      return topology.in_network ? "" : "in_switch needs a fred fabric with in_network true";
    case Algorithm::kDirect:
      return operation == Operation::kBroadcast || operation == Operation::kAllToAll ? "" : what;
    case Algorithm::kRelay:
      return operation == Operation::kBroadcast ? "" : what;
  }
  return {};
}

/// Of a broadcast that is relayed. Between two NPUs of different sites there is nothing to relay, and each
/// chunk would have a latency and a codec of its own.
std::uint32_t relay_chunks(const Topology& topology, const Communicator& communicator) {
  constexpr std::uint32_t kRelayed = 64;
  const std::vector<NpuId>& members = communicator.members;
  const bool between_sites = members.size() == 2 && topology.site_of(NodeId(members[0].value)) !=
                                                        topology.site_of(NodeId(members[1].value));
  return between_sites ? 1 : kRelayed;
}

}  // namespace

wvp_operation to_wvp(Operation operation) {
  switch (operation) {
    case Operation::kAllReduce:
      return WVP_OP_ALL_REDUCE;
    case Operation::kReduceScatter:
      return WVP_OP_REDUCE_SCATTER;
    case Operation::kAllGather:
      return WVP_OP_ALL_GATHER;
    case Operation::kBroadcast:
      return WVP_OP_BROADCAST;
    case Operation::kAllToAll:
      return WVP_OP_ALL_TO_ALL;
    case Operation::kSend:
      return WVP_OP_SEND;
    case Operation::kLoad:
      return WVP_OP_LOAD;
    case Operation::kStore:
      return WVP_OP_STORE;
    case Operation::kLoadAndStore:
    case Operation::kBarrier:
      break;
  }
  return WVP_OP_BARRIER;
}

wvp_algorithm to_wvp(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::kAuto:
      return WVP_ALG_AUTO;
    case Algorithm::kRing:
      return WVP_ALG_RING;
    case Algorithm::kHierarchical:
      return WVP_ALG_HIERARCHICAL;
    case Algorithm::kInSwitch:
      return WVP_ALG_IN_SWITCH;
    case Algorithm::kDirect:
      return WVP_ALG_DIRECT;
    case Algorithm::kRingBoth:
      return WVP_ALG_RING_BOTH;
    case Algorithm::kTree:
      return WVP_ALG_TREE;
    case Algorithm::kBest:
      return WVP_ALG_BEST;
    case Algorithm::kRelay:
      break;
  }
  return WVP_ALG_RELAY;
}

wvp_dtype to_wvp(ElementType type) {
  switch (type) {
    case ElementType::kFp32:
      return WVP_FP32;
    case ElementType::kFp16:
      return WVP_FP16;
    case ElementType::kBf16:
      return WVP_BF16;
    case ElementType::kInt32:
      return WVP_INT32;
    case ElementType::kFp64:
      break;
  }
  return WVP_FP64;
}

wvp_class traffic_class(TrafficKind kind) {
  switch (kind) {
    case TrafficKind::kMp:
      return WVP_CLASS_MP;
    case TrafficKind::kPp:
      return WVP_CLASS_PP;
    default:
      return WVP_CLASS_DP;
  }
}

AlgorithmChoice firmware_choice(const FirmwareSpec& firmware, Operation operation) {
  AlgorithmChoice choice{Algorithm::kAuto, firmware.chunks, firmware.active_chunks, firmware.relay_chunks,
                         std::string("/wafer/firmware/") + to_word(operation)};
  switch (operation) {
    case Operation::kAllReduce:
      choice.algorithm = firmware.all_reduce;
      break;
    case Operation::kReduceScatter:
      choice.algorithm = firmware.reduce_scatter;
      break;
    case Operation::kAllGather:
      choice.algorithm = firmware.all_gather;
      break;
    case Operation::kBroadcast:
      choice.algorithm = firmware.broadcast;
      break;
    case Operation::kAllToAll:
      choice.algorithm = firmware.all_to_all;
      break;
    default:
      break;
  }
  return choice;
}

wvp_command make_operation(const Topology& topology, Operation operation, const AlgorithmChoice& choice,
                           const Communicator& communicator, std::uint16_t index, std::uint64_t bytes,
                           ElementType type) {
  wvp_command command{};
  command.op = static_cast<std::uint8_t>(to_wvp(operation));
  command.dtype = static_cast<std::uint8_t>(to_wvp(type));
  command.traffic_class = static_cast<std::uint8_t>(traffic_class(communicator.kind));
  command.comm = index;
  command.bytes = bytes;
  command.chunks = choice.chunks;
  command.active_chunks = choice.active_chunks;
  Algorithm algorithm = choice.algorithm;
  if (operation == Operation::kLoad || operation == Operation::kStore) {
    command.algorithm = WVP_ALG_IN_SWITCH;
    return command;
  }
  if (operation == Operation::kBroadcast) {
    if (algorithm == Algorithm::kAuto) {
      algorithm = topology.in_network ? Algorithm::kInSwitch : Algorithm::kRelay;
    }
    if (algorithm == Algorithm::kRelay) {
      command.chunks = choice.relay_chunks != 0 ? choice.relay_chunks : relay_chunks(topology, communicator);
    }
  }
  if (communicator.members.size() > 1) {
    const std::string why = objection(topology, operation, algorithm, communicator);
    if (!why.empty()) refuse(choice.pointer, why);
  }
  command.algorithm = static_cast<std::uint8_t>(to_wvp(algorithm));
  return command;
}

}  // namespace wafervp
