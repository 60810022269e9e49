// SPDX-License-Identifier: Apache-2.0
#include "workload/communicators.h"
#include "workload/errors.h"
#include "workload/gradient_sync.h"
#include "workload/models.h"
#include "workload/workload_kinds.h"

namespace wafervp {

// Every replica computes forward and backward on its images, then all sum up their gradients.
Draft build_resnet(const Scenario& scenario, const Topology& topology, const Placement& placement) {
  const WorkloadSpec& workload = scenario.workload;
  const ParallelismSpec& p = workload.parallelism;
  if (p.mp != 1 || p.pp != 1) {
    refuse("/workload/parallelism", "resnet152 is data parallel only: expected mp 1 and pp 1, found mp " +
                                        std::to_string(p.mp) + ", pp " + std::to_string(p.pp));
  }
  if (workload.microbatches != 1) {
    refuse("/workload/microbatches",
           "resnet152 takes its samples at once: expected 1, found " + std::to_string(workload.microbatches));
  }
  check_commands("/workload/iterations", 6.0 * workload.iterations * p.dp);
  Draft draft(topology);
  CommunicatorSet communicators(topology, scenario.wafer.firmware);
  const std::vector<NpuId> members = groups(p, placement, GroupKind::kDp).front();
  communicators.add(TrafficKind::kDp, {{"dp", members}}, scenario.wafer.firmware.all_reduce);

  constexpr auto kParameters = static_cast<std::uint64_t>(kResnet152Parameters);
  const std::uint64_t gradients = kParameters * kGradientBytes;
  const double forward = kResnet152ForwardFlops * workload.samples_per_replica;
  const double weights = static_cast<double>(kParameters * kWeightBytes);
  for (const NpuId npu : members) {
    ProgramBuilder& program = draft.builders[npu.value];
    const std::uint64_t address = program.allocate(gradients);
    for (std::uint32_t i = 0; i < workload.iterations; ++i) {
      program.compute(forward, weights);
      program.compute(forward * kBackwardOverForward, 2 * weights);
      append_gradient_sync(scenario, topology, communicators[0], 0, 0, address, gradients, program);
      program.end_step(workload.compute);
    }
    MemoryNeed& need = draft.memory[npu.value];
    need.weights = kParameters * kWeightBytes;
    need.gradients = gradients;
    need.optimiser = kParameters * kOptimiserBytes / (workload.dp_sync == DpSync::kRsAg ? p.dp : 1);
    need.activations = static_cast<std::uint64_t>(kResnet152ActivationBytes) * workload.samples_per_replica;
  }
  draft.communicators = communicators.take();
  return draft;
}

}  // namespace wafervp
