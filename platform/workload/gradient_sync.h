// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/gradient_factors.h"
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

/// Where a rank's factors of its gradients are.
struct FactorBuffers {
  std::uint64_t first = 0, second = 0;
};
FactorBuffers allocate_factors(const training::FactorLayout& layout, ElementType type,
                               ProgramBuilder& program);

/// Appends the same by PowerSGD: P of all matrices, its all_reduce (with what goes as it is), Q, its
/// all_reduce, and the gradients from both. Throws ScenarioError where no matrix would shrink.
void append_power_sgd(const Scenario& scenario, const Topology& topology, const Communicator& communicator,
                      std::uint16_t index, unsigned slot, const training::FactorLayout& layout,
                      const FactorBuffers& buffers, ProgramBuilder& program, ElementType type);

}  // namespace wafervp
