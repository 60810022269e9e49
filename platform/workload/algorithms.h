// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "workload/programs.h"

namespace wafervp {

wvp_operation to_wvp(Operation operation);
wvp_algorithm to_wvp(Algorithm algorithm);
wvp_dtype to_wvp(ElementType type);
wvp_class traffic_class(TrafficKind kind);

/// Algorithm and chunks of an operation, as the scenario asks for them.
struct AlgorithmChoice {
  Algorithm algorithm = Algorithm::kAuto;
  std::uint32_t chunks = 0, active_chunks = 0;
  std::uint32_t relay_chunks = 0;  // instead of `chunks` for a relay, 0: by the members
  std::string pointer;             // of the member that named the algorithm
};
/// What /wafer/firmware says about the operation.
AlgorithmChoice firmware_choice(const FirmwareSpec& firmware, Operation operation);

/// An operation on a communicator, ready for ProgramBuilder::start once slot, addresses and (broadcast)
/// root are set. An `auto` broadcast is the switches' multicast where the fabric has it, else a relay; other
/// `auto`s are the firmware's choice. Throws ScenarioError when the algorithm cannot do the operation on this
/// group and fabric.
wvp_command make_operation(const Topology& topology, Operation operation, const AlgorithmChoice& choice,
                           const Communicator& communicator, std::uint16_t index, std::uint64_t bytes,
                           ElementType type);

}  // namespace wafervp
