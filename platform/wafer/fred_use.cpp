// SPDX-License-Identifier: Apache-2.0
#include "wafer/fred_use.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "wafer/comm_table.h"
#include "wafervp/hal.h"

namespace wafervp {
namespace {

/// Handles count from the communicator's first: the all-reduce, then the sum to each member, then the copy
/// from each.
enum class FlowKind { kAllReduce, kReduce, kMulticast };
struct Use {
  FlowKind kind;
  std::uint32_t member = 0;  ///< by its place in the group; not of an all-reduce
  friend bool operator<(const Use& a, const Use& b) {
    return std::make_pair(a.kind, a.member) < std::make_pair(b.kind, b.member);
  }
};

/// What one command uses of its communicator's flows.
void add_uses(const wvp_command& command, const wvp_comm& comm, std::set<Use>& uses) {
  if (wvp_algorithm_of(&command, &comm) != WVP_ALG_IN_SWITCH) return;
  switch (command.op) {
    case WVP_OP_REDUCE_SCATTER:
      for (std::uint32_t i = 0; i < comm.size; ++i) uses.insert({FlowKind::kReduce, i});
      break;
    case WVP_OP_ALL_GATHER:
      for (std::uint32_t i = 0; i < comm.size; ++i) uses.insert({FlowKind::kMulticast, i});
      break;
    case WVP_OP_BROADCAST:
      uses.insert({FlowKind::kMulticast, command.root});
      break;
    case WVP_OP_LOAD:
      for (std::uint32_t i = 0; i < comm.io_controllers; ++i) uses.insert({FlowKind::kMulticast, i});
      break;
    case WVP_OP_STORE:
      for (std::uint32_t i = 0; i < comm.io_controllers; ++i) uses.insert({FlowKind::kReduce, i});
      break;
    default:
      uses.insert({FlowKind::kAllReduce, 0});
      break;
  }
}

std::uint32_t offset_of(const Use& use, std::uint32_t members) {
  switch (use.kind) {
    case FlowKind::kAllReduce:
      return 0;
    case FlowKind::kReduce:
      return 1 + use.member;
    case FlowKind::kMulticast:
      break;
  }
  return 1 + members + use.member;
}

std::string operation_text(const Use& use) {
  switch (use.kind) {
    case FlowKind::kAllReduce:
      return "all_reduce";
    case FlowKind::kReduce:
      return "reduce to member " + std::to_string(use.member);
    case FlowKind::kMulticast:
      break;
  }
  return "multicast from member " + std::to_string(use.member);
}

std::string stream_text(const Use& use, const Topology& topology, const Communicator& group) {
  const std::string& io = topology.nodes[group.members[use.member].value].name;
  return use.kind == FlowKind::kMulticast ? "from " + io : "to " + io;
}

/// Such flows never pass at the same time, whatever the switches do: the end's link takes one packet at a
/// time.
bool share_an_end(const FredFlow& a, const FredFlow& b) {
  const auto meet = [](const std::vector<unsigned>& some, const std::vector<unsigned>& others) {
    return std::find_first_of(some.begin(), some.end(), others.begin(), others.end()) != some.end();
  };
  return meet(a.inputs, b.inputs) || meet(a.outputs, b.outputs);
}

std::vector<unsigned> ends_of(const std::vector<NpuId>& npus) {
  std::vector<unsigned> ends;
  for (const NpuId npu : npus) ends.push_back(npu.value);
  return ends;
}

}  // namespace

FredUse fred_use(const Topology& topology, const Workload& workload, const TreeFlows& trees) {
  const CommTable table(workload.communicators, trees);
  std::vector<std::set<Use>> uses(workload.communicators.size());
  for (std::uint32_t n = 0; n < topology.ends(); ++n) {
    for (const wvp_command& command : workload.programs[n].commands) {
      if (command.kind != WVP_CMD_START || command.op == WVP_OP_SEND || command.op == WVP_OP_RECEIVE)
        continue;
      // All members run the same operations: one of them tells.
      const Communicator& group = workload.communicators[command.comm];
      if (group.members.front().value != n || trees.first_handle(command.comm) == 0) continue;
      add_uses(command, table.comm(command.comm, 0), uses[command.comm]);
    }
  }
  FredUse result;
  std::map<std::pair<std::uint32_t, Use>, std::vector<std::size_t>> phases_of;  // by family and step
  for (std::size_t c = 0; c < workload.communicators.size(); ++c) {
    const Communicator& group = workload.communicators[c];
    for (const Use& use : uses[c]) {
      const std::uint32_t handle =
          trees.first_handle(c) + offset_of(use, static_cast<std::uint32_t>(group.members.size()));
      const TreeFlows::Ends ends = trees.ends(handle);
      FredFlow flow{group.name, ends_of(ends.sources), ends_of(ends.sinks)};
      const bool stream = group.io_controllers > 0;
      std::vector<std::size_t>& phases = phases_of[{group.family, use}];
      const auto fits = [&](std::size_t phase) {
        const std::vector<FredFlow>& others = result.phases[phase].flows;
        return !stream && std::none_of(others.begin(), others.end(),
                                       [&](const FredFlow& other) { return share_an_end(flow, other); });
      };
      auto phase = std::find_if(phases.begin(), phases.end(), fits);
      if (phase == phases.end()) {
        std::string name = stream ? group.name + " " + stream_text(use, topology, group)
                                  : group.phase + " " + operation_text(use);
        if (!stream && !phases.empty()) name += " (" + std::to_string(phases.size() + 1) + ")";
        phase = phases.insert(phases.end(), result.phases.size());
        result.phases.push_back({std::move(name), {}});
        result.handles.emplace_back();
        result.communicators.emplace_back();
      }
      result.phases[*phase].flows.push_back(std::move(flow));
      result.handles[*phase].push_back(handle);
      result.communicators[*phase].push_back(c);
    }
  }
  return result;
}

}  // namespace wafervp
