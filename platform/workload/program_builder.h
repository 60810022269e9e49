// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include "workload/programs.h"

namespace wafervp {

/// Puts the program of one NPU together: merges compute that nothing separates, numbers the operations of
/// each communicator, hands out device addresses.
class ProgramBuilder {
 public:
  /// Compute of a step of training; commands follow at the next operation.
  void compute(double flops, double hbm_bytes);
  /// Compute of a step whose values the platform computes: a command of its own.
  void kernel(std::uint32_t kernel, std::uint32_t argument, std::uint64_t flops, std::uint64_t hbm_bytes);
  /// Compute beside that of the model, which takes the time of its FLOPs and bytes in every ComputeMode.
  /// `kernel`: as above, or 0.
  void extra(std::uint32_t kernel, std::uint64_t flops, std::uint64_t hbm_bytes);
  /// Compute of a fixed time that is no part of a step: what makes a rank late.
  void delay(Time ps);
  /// Enters the operation; all members of a communicator must enter its operations in the same order.
  /// `operation.sequence` is set here, but for send and receive, where the caller knows it.
  void start(wvp_command operation);
  /// Blocks until the operation in `slot` is done.
  void wait(unsigned slot);
  /// start and wait.
  void run(const wvp_command& operation);

  /// Ends one step: with ComputeMode::kFixed, shares the fixed time out over the step's compute in
  /// proportion to its FLOPs, so that the parts sum exactly.
  void end_step(const ComputeSpec& spec);

  /// A place of `bytes` in device memory, aligned to a packet.
  std::uint64_t allocate(std::uint64_t bytes);
  std::uint64_t allocated() const { return allocated_; }

  RankProgram finish();

 private:
  void flush_compute();

  std::vector<wvp_command> commands_;
  std::map<std::uint16_t, std::uint32_t> next_sequence_;
  std::vector<std::size_t> step_computes_;  // commands since the last end_step
  double pending_flops_ = 0, pending_bytes_ = 0;
  std::uint64_t allocated_ = 0;
};

}  // namespace wafervp
