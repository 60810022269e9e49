// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scenario/scenario.h"
#include "topology/placement.h"
#include "topology/topology.h"
#include "wafervp/program.h"
#include "workload/spanning_trees.h"

namespace wafervp {

/// What an operation's time is counted as in the breakdown.
enum class TrafficKind : std::uint8_t { kMp, kDp, kPp, kInputLoad, kWeightStreaming };

/// A group of NPUs that communicate, perhaps with I/O controllers; its index is wvp_command.comm of every
/// member.
struct Communicator {
  std::string name;  // "mp[dp=0,pp=1]"
  TrafficKind kind;
  std::vector<NpuId> members;           // in rank order; I/O controller k is NpuId(npus + k)
  std::uint32_t io_controllers = 0;     // of the members, the first ones
  std::uint32_t family = 0;             // the same for groups that communicate at the same time
  wvp_tensor tensor = WVP_TENSOR_NONE;  // what its messages hold
  std::string phase;                    // of a family: "mp", "pp forward"
  bool in_network = true;               // false: end points do it even where the switches could
  /// Bytes/s at which an end makes the packets of a load or store; 0: all are there at once.
  std::uint64_t pace = 0;
  std::uint32_t dim_x = 0, dim_y = 0;
  std::uint32_t x_first_share = 65536;
  /// As in wvp_comm, bytes per microsecond: what is left of the slowest link of a ring of all members,
  /// inside x and inside y, and of an in-network flow, when all groups of this kind communicate at once.
  std::uint64_t ring_rate = 0, x_rate = 0, y_rate = 0, flow_rate = 0;
  Time hop_latency_ps = 0;  // of the longest hop of the ring of all members
  /// Only where the scenario asks for them: of a ring both ways round, all of its data counted, and trees.
  std::uint64_t both_rate = 0;
  SpanningTrees trees;
};

/// The program of one NPU. NPUs without a rank have an empty program (END only).
struct RankProgram {
  std::vector<wvp_command> commands;
};

/// Bytes of HBM that an NPU's share of the training state takes (assumptions: README.md).
struct MemoryNeed {
  std::uint64_t weights = 0, gradients = 0, optimiser = 0, activations = 0;
  std::uint64_t total() const { return weights + gradients + optimiser + activations; }
};

/// Of kind training: which part of the model an NPU has, and where its kernels find their values, by
/// microbatch. What a stage does not have is empty.
struct TrainingPlace {
  std::uint32_t replica = 0, stage = 0;
  std::vector<std::uint64_t> inputs, outputs;                    // activations
  std::vector<std::uint64_t> output_gradients, input_gradients;  // by them
  std::uint64_t gradients = 0;                                   // of the parameters, all in a row
  std::uint64_t first_factors = 0, second_factors = 0;           // instead, with PowerSGD
  std::uint64_t basis = 0;                                       // U, where it is updated
};

/// What the wafer executes: one program per NPU, and the groups that the programs name.
struct Workload {
  std::vector<Communicator> communicators;
  std::vector<RankProgram> programs;      // by NPU, then by I/O controller
  std::vector<MemoryNeed> memory;         // likewise
  std::vector<TrainingPlace> training;    // by NPU, of kind training
  std::uint64_t device_memory_bytes = 0;  // highest device address + 1 that the programs use, over all NPUs
  std::vector<std::string> warnings;      // "/workload/collective/bytes: ..."
};

/// Turns the scenario's workload into programs. Throws ScenarioError (scenario/errors.h) when the
/// workload does not fit (memory_check error) or a combination is unsupported.
Workload build_workload(const Scenario& scenario, const Topology& topology, const Placement& placement);

}  // namespace wafervp
