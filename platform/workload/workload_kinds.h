// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workload/program_builder.h"
#include "workload/programs.h"

namespace wafervp {

/// What each kind of workload fills in; build_workload does what is common.
struct Draft {
  explicit Draft(const Topology& topology) : builders(topology.ends()), memory(topology.ends()) {}
  std::vector<Communicator> communicators;
  std::vector<ProgramBuilder> builders;  // by NPU, then by I/O controller
  std::vector<MemoryNeed> memory;        // likewise
  std::vector<TrainingPlace> training;   // by NPU
  std::vector<std::string> warnings;
};

/// Throws ScenarioError at `pointer` when programs of so many commands would not fit in memory.
void check_commands(const std::string& pointer, double commands);

/// One file each: resnet_workload.cpp, transformer_workload.cpp, streaming_workload.cpp,
/// training_workload.cpp, collective_workload.cpp.
Draft build_resnet(const Scenario& scenario, const Topology& topology, const Placement& placement);
Draft build_transformer(const Scenario& scenario, const Topology& topology, const Placement& placement);
/// A transformer whose weights come from off-wafer memory (weights: streaming).
Draft build_streaming(const Scenario& scenario, const Topology& topology, const Placement& placement);
/// A model that is really trained; its kernels are numbered as in training_kernels.h.
Draft build_training(const Scenario& scenario, const Topology& topology, const Placement& placement);
Draft build_collective(const Scenario& scenario, const Topology& topology, const Placement& placement);

}  // namespace wafervp
