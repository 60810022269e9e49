// SPDX-License-Identifier: Apache-2.0
#include "workload/gradient_sync.h"

#include "workload/algorithms.h"

namespace wafervp {

void append_gradient_sync(const Scenario& scenario, const Topology& topology,
                          const Communicator& communicator, std::uint16_t index, unsigned slot,
                          std::uint64_t address, std::uint64_t bytes, ProgramBuilder& program,
                          ElementType type) {
  if (communicator.members.size() < 2) return;
  const auto append = [&](Operation operation) {
    wvp_command command =
        make_operation(topology, operation, firmware_choice(scenario.wafer.firmware, operation), communicator,
                       index, bytes, type);
    command.slot = static_cast<std::uint8_t>(slot);
    command.dst = address;
    program.run(command);
  };
  if (scenario.workload.dp_sync == DpSync::kAllReduce) {
    append(Operation::kAllReduce);
  } else {
    append(Operation::kReduceScatter);
    append(Operation::kAllGather);
  }
}

}  // namespace wafervp
