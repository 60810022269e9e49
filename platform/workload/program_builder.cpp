// SPDX-License-Identifier: Apache-2.0
#include "workload/program_builder.h"

#include <algorithm>
#include <cmath>

#include "topology/picoseconds.h"

namespace wafervp {

__extension__ using Wide = unsigned __int128;

void ProgramBuilder::compute(double flops, double hbm_bytes) {
  pending_flops_ += flops;
  pending_bytes_ += hbm_bytes;
}

void ProgramBuilder::flush_compute() {
  if (pending_flops_ == 0) return;
  wvp_command command{};
  command.kind = WVP_CMD_COMPUTE;
  command.compute_flops = static_cast<std::uint64_t>(std::llround(pending_flops_));
  command.compute_bytes = static_cast<std::uint64_t>(std::llround(pending_bytes_));
  pending_flops_ = pending_bytes_ = 0;
  if (command.compute_flops == 0) return;
  step_computes_.push_back(commands_.size());
  commands_.push_back(command);
}

void ProgramBuilder::kernel(std::uint32_t kernel, std::uint32_t argument, std::uint64_t flops,
                            std::uint64_t hbm_bytes) {
  extra(kernel, flops, hbm_bytes);
  commands_.back().sequence = argument;
  step_computes_.push_back(commands_.size() - 1);
}

void ProgramBuilder::extra(std::uint32_t kernel, std::uint64_t flops, std::uint64_t hbm_bytes) {
  flush_compute();
  wvp_command command{};
  command.kind = WVP_CMD_COMPUTE;
  command.root = kernel;
  command.compute_flops = flops;
  command.compute_bytes = hbm_bytes;
  commands_.push_back(command);
}

void ProgramBuilder::delay(Time ps) {
  flush_compute();
  if (ps == 0) return;
  wvp_command command{};
  command.kind = WVP_CMD_COMPUTE;
  command.compute_ps = ps;
  commands_.push_back(command);
}

void ProgramBuilder::start(wvp_command operation) {
  flush_compute();
  operation.kind = WVP_CMD_START;
  if (operation.op != WVP_OP_SEND && operation.op != WVP_OP_RECEIVE) {
    operation.sequence = next_sequence_[operation.comm]++;
  }
  commands_.push_back(operation);
}

void ProgramBuilder::wait(unsigned slot) {
  flush_compute();
  wvp_command command{};
  command.kind = WVP_CMD_WAIT;
  command.slot = static_cast<std::uint8_t>(slot);
  commands_.push_back(command);
}

void ProgramBuilder::run(const wvp_command& operation) {
  start(operation);
  wait(operation.slot);
}

void ProgramBuilder::end_step(const ComputeSpec& spec) {
  flush_compute();
  if (spec.mode == ComputeMode::kFixed) {
    const Wide total = ps_of_ns(spec.fixed_ns);
    Wide all = 0, before = 0;
    for (const std::size_t i : step_computes_) all += commands_[i].compute_flops;
    for (const std::size_t i : step_computes_) {
      if (all == 0) break;
      wvp_command& command = commands_[i];
      const Wide after = before + command.compute_flops;
      command.compute_ps = static_cast<std::uint64_t>(total * after / all - total * before / all);
      before = after;
      command.compute_flops = command.compute_bytes = 0;
    }
    // A command whose share is below a picosecond would mean "not fixed".
    const auto empty = [](const wvp_command& c) {
      return c.kind == WVP_CMD_COMPUTE && c.compute_ps == 0 && c.compute_flops == 0 && c.root == 0;
    };
    commands_.erase(std::remove_if(commands_.begin(), commands_.end(), empty), commands_.end());
  }
  step_computes_.clear();
}

std::uint64_t ProgramBuilder::allocate(std::uint64_t bytes) {
  const std::uint64_t address = (allocated_ + kPacketBytes - 1) / kPacketBytes * kPacketBytes;
  allocated_ = address + bytes;
  return address;
}

RankProgram ProgramBuilder::finish() {
  flush_compute();
  commands_.push_back(wvp_command{});
  commands_.back().kind = WVP_CMD_END;
  commands_.shrink_to_fit();  // it stays for the whole run
  return {std::move(commands_)};
}

}  // namespace wafervp
