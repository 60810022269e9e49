// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "workload/errors.h"
#include "workload/workload_kinds.h"

namespace wafervp {
namespace {

std::string gigabytes(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f GB", static_cast<double>(bytes) / 1e9);
  return text;
}

/// What an NPU lacks, how its bytes are made up, and what would help.
std::string memory_message(std::uint32_t npu, const MemoryNeed& need, std::uint64_t capacity) {
  return "NPU " + std::to_string(npu) + " needs " + gigabytes(need.total()) + " (weights " +
         gigabytes(need.weights) + ", gradients " + gigabytes(need.gradients) + ", optimiser state " +
         gigabytes(need.optimiser) + ", activations " + gigabytes(need.activations) + ") and has " +
         gigabytes(capacity) +
         "; more mp or pp, a smaller batch or more microbatches, or dp_sync rs_ag (optimiser state shared "
         "over "
         "dp) would reduce it; memory.check warn runs it all the same";
}

void check_memory(const Scenario& scenario, Draft& draft) {
  if (scenario.memory_check == MemoryCheck::kOff) return;
  const std::uint64_t capacity = scenario.wafer.npu.hbm_bytes;
  const auto most = std::max_element(draft.memory.begin(), draft.memory.end(),
                                     [](const auto& a, const auto& b) { return a.total() < b.total(); });
  if (most->total() <= capacity) return;
  const std::string pointer = "/wafer/npu/hbm_bytes";
  const std::string text =
      memory_message(static_cast<std::uint32_t>(most - draft.memory.begin()), *most, capacity);
  if (scenario.memory_check == MemoryCheck::kError) refuse(pointer, text);
  draft.warnings.push_back(pointer + ": " + text);
}

/// Values live in host memory: refuse before it is taken.
void check_values(const Scenario& scenario, const Draft& draft) {
  if (scenario.detail.data != DataMode::kValues) return;
  double sum = 0;
  for (const ProgramBuilder& builder : draft.builders) sum += static_cast<double>(builder.allocated());
  if (sum <= static_cast<double>(scenario.limits.value_bytes)) return;
  refuse("/limits/value_bytes", "the buffers of all NPUs take " + std::to_string(std::llround(sum)) +
                                    " bytes with detail.data values, found a limit of " +
                                    std::to_string(scenario.limits.value_bytes) +
                                    "; raise the limit, send less, or use detail.data none");
}

/// Simulated time ends after 106 days: a computation that takes longer is refused before the run.
void check_compute(const Scenario& scenario, const Workload& workload) {
  constexpr double kLongest = 9e6;  // seconds
  const double rate = scenario.wafer.npu.peak_flops_per_s * scenario.wafer.npu.compute_efficiency;
  if (rate < 1) refuse("/wafer/npu/peak_flops_per_s", "times compute_efficiency is below 1 FLOP/s");
  for (const RankProgram& program : workload.programs) {
    for (const wvp_command& command : program.commands) {
      if (command.kind != WVP_CMD_COMPUTE || command.compute_ps != 0) continue;
      const double seconds = static_cast<double>(command.compute_flops) / rate;
      const std::uint64_t memory = scenario.wafer.npu.hbm_bytes_per_s;
      const double moved =
          memory == 0 ? 0 : static_cast<double>(command.compute_bytes) / static_cast<double>(memory);
      if (std::max(seconds, moved) <= kLongest) continue;
      refuse(seconds >= moved ? "/wafer/npu/peak_flops_per_s" : "/wafer/npu/hbm_bytes_per_s",
             "a computation of the workload takes " + std::to_string(std::llround(std::max(seconds, moved))) +
                 " s at this rate; at most 9000000 s are simulated");
    }
  }
}

}  // namespace

void check_commands(const std::string& pointer, double commands) {
  constexpr double kMostCommands = 1 << 25;  // about 3 GB
  if (commands > kMostCommands) {
    refuse(pointer, "the programs of all ranks would take about " +
                        std::to_string(std::llround(std::min(commands, 1e15) / 1e6)) +
                        " million commands, at most 33 million are handled");
  }
}

Workload build_workload(const Scenario& scenario, const Topology& topology, const Placement& placement) {
  Draft draft = [&] {
    switch (scenario.workload.kind) {
      case WorkloadKind::kResnet152:
        return build_resnet(scenario, topology, placement);
      case WorkloadKind::kTransformer:
        if (scenario.workload.weights == WeightMode::kStreaming) {
          return build_streaming(scenario, topology, placement);
        }
        return build_transformer(scenario, topology, placement);
      case WorkloadKind::kTraining:
        return build_training(scenario, topology, placement);
      case WorkloadKind::kCollective:
        break;
    }
    return build_collective(scenario, topology, placement);
  }();
  check_memory(scenario, draft);
  check_values(scenario, draft);

  Workload workload;
  workload.communicators = std::move(draft.communicators);
  workload.memory = std::move(draft.memory);
  workload.warnings = std::move(draft.warnings);
  workload.training = std::move(draft.training);
  for (ProgramBuilder& builder : draft.builders) {
    workload.device_memory_bytes = std::max(workload.device_memory_bytes, builder.allocated());
    workload.programs.push_back(builder.finish());
  }
  check_compute(scenario, workload);
  return workload;
}

}  // namespace wafervp
