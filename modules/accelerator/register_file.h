// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "accelerator/accelerator.h"
#include "accelerator/completion_queue.h"
#include "accelerator/message_engine.h"

namespace wafervp {

/// The registers of one accelerator (wafervp/registers.h), as its control processor reads and writes them.
class RegisterFile {
 public:
  RegisterFile(const AcceleratorConfig& config, MessageEngine& engine, CompletionQueue& completions)
      : engine_(engine), completions_(completions), npu_(config.npu), npus_(config.npus) {}

  void set_observer(AcceleratorObserver* observer) { observer_ = observer; }

  /// `local` is the processor's time. An access that the map forbids throws BusError.
  std::uint32_t read32(std::uint32_t offset, Time local) {
    ++reads_;
    return offset == WVP_REG_DQ_HEAD ? engine_.head() : read_other(offset, local);
  }
  // The two registers that each message needs come first.
  void write32(std::uint32_t offset, std::uint32_t value, Time local) {
    ++writes_;
    if (offset == WVP_REG_DQ_DOORBELL) return engine_.doorbell(value, local);
    if (offset == WVP_REG_CQ_HEAD) return completions_.set_head(value);
    write_other(offset, value, local);
  }

  std::uint64_t reads() const { return reads_; }
  std::uint64_t writes() const { return writes_; }

 private:
  static constexpr std::uint32_t kFirstErrorRegister = WVP_REG_ERROR_OP;
  static constexpr std::size_t kErrorRegisters = (WVP_REG_ERROR_FOUND_HI - WVP_REG_ERROR_OP) / 4 + 1;

  std::uint32_t read_other(std::uint32_t offset, Time local);
  void mark(std::uint32_t kind, std::uint32_t traffic_class, std::uint32_t command, Time local);
  void write_other(std::uint32_t offset, std::uint32_t value, Time local);

  MessageEngine& engine_;
  CompletionQueue& completions_;
  std::uint64_t reads_ = 0;
  std::uint64_t writes_ = 0;
  NpuId npu_;
  std::uint32_t npus_;
  std::uint32_t time_high_ = 0;
  std::array<std::uint32_t, kErrorRegisters> errors_{};
  AcceleratorObserver* observer_ = nullptr;
};

}  // namespace wafervp
