// SPDX-License-Identifier: Apache-2.0
#include "workload/gradient_sync.h"

#include "scenario/words.h"
#include "workload/algorithms.h"
#include "workload/errors.h"
#include "workload/training_kernels.h"

namespace wafervp {

namespace {

wvp_command all_reduce(const Scenario& scenario, const Topology& topology, const Communicator& communicator,
                       std::uint16_t index, unsigned slot, std::uint64_t address, std::uint64_t bytes,
                       ElementType type) {
  wvp_command command = make_operation(topology, Operation::kAllReduce,
                                       firmware_choice(scenario.wafer.firmware, Operation::kAllReduce),
                                       communicator, index, bytes, type);
  command.slot = static_cast<std::uint8_t>(slot);
  command.dst = address;
  return command;
}

}  // namespace

void append_gradient_sync(const Scenario& scenario, const Topology& topology,
                          const Communicator& communicator, std::uint16_t index, unsigned slot,
                          std::uint64_t address, std::uint64_t bytes, ProgramBuilder& program,
                          ElementType type) {
  if (communicator.members.size() < 2) return;
  if (scenario.workload.dp_sync == DpSync::kAllReduce) {
    program.run(all_reduce(scenario, topology, communicator, index, slot, address, bytes, type));
    return;
  }
  for (const Operation operation : {Operation::kReduceScatter, Operation::kAllGather}) {
    wvp_command command =
        make_operation(topology, operation, firmware_choice(scenario.wafer.firmware, operation), communicator,
                       index, bytes, type);
    command.slot = static_cast<std::uint8_t>(slot);
    command.dst = address;
    program.run(command);
  }
}

FactorBuffers allocate_factors(const training::FactorLayout& layout, ElementType type,
                               ProgramBuilder& program) {
  const std::uint64_t size = element_bytes(type);
  return {program.allocate(layout.first_size() * size), program.allocate(layout.second_size() * size)};
}

void append_power_sgd(const Scenario& scenario, const Topology& topology, const Communicator& communicator,
                      std::uint16_t index, unsigned slot, const training::FactorLayout& layout,
                      const FactorBuffers& buffers, ProgramBuilder& program, ElementType type) {
  if (communicator.members.size() < 2) return;
  if (layout.second_size() == 0) {
    refuse("/workload/gradients/rank",
           "found " + std::to_string(scenario.workload.gradients.rank) +
               ", at which no matrix of the model becomes smaller; expected a lower rank, or "
               "/workload/gradients/sum all_reduce");
  }
  const std::uint64_t size = element_bytes(type);
  const bool has_values = scenario.workload.kind == WorkloadKind::kTraining;
  const auto kernel = [&](training::Kernel which) {
    const training::KernelCost cost =
        factor_cost(layout, scenario.workload.gradients.error_feedback, which, size);
    program.extra(has_values ? kernel_number(which) : 0, cost.flops, cost.bytes);
  };
  const auto sum = [&](std::uint64_t address, std::uint64_t elements) {
    program.run(all_reduce(scenario, topology, communicator, index, slot, address, elements * size, type));
  };
  kernel(training::Kernel::kFactorP);
  sum(buffers.first, layout.first_size());
  kernel(training::Kernel::kFactorQ);
  sum(buffers.second, layout.second_size());
  kernel(training::Kernel::kExpandFactors);
}

}  // namespace wafervp
