// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workload/communicators.h"
#include "workload/program_builder.h"

namespace wafervp {

/// Appends the data-parallel synchronisation of `bytes` of gradients to a member's program, all of it
/// exposed: one all_reduce, or (rs_ag, as ZeRO does it) a reduce_scatter of gradients and an all_gather of
/// updated weights of the same size.
void append_gradient_sync(const Scenario& scenario, const Topology& topology,
                          const Communicator& communicator, std::uint16_t index, unsigned slot,
                          std::uint64_t address, std::uint64_t bytes, ProgramBuilder& program,
                          ElementType type = ElementType::kFp16);

}  // namespace wafervp
