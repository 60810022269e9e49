// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "accelerator/accelerator.h"
#include "core/calendar.h"
#include "wafervp/hal.h"

namespace wafervp {

/// A control processor that runs the C firmware on the host. It is serial: what firmware does at one
/// completion begins when the work before it is done, and each schedule step costs `step_ps`, also one that
/// the message engine takes.
class alignas(64) HostProcessor final : public ControlProcessor {
 public:
  struct Config {
    NpuId npu;
    const wvp_command* program = nullptr;  ///< ends with WVP_CMD_END; stays readable for the whole run
    const wvp_comm* comms = nullptr;       ///< the same
    std::uint32_t comm_count = 0;
    Time step_ps = 0;  ///< firmware.step_ns
    Time start = 0;    ///< boots at this time
  };

  /// Attaches itself to the accelerator and posts the boot.
  /// The firmware's state lies in `arena`.
  HostProcessor(const Config& config, Accelerator& accelerator, Calendar& calendar, Arena& arena);
  HostProcessor(const HostProcessor&) = delete;
  HostProcessor& operator=(const HostProcessor&) = delete;

  void on_completions(Time now) override;
  void prepare(std::uint32_t cookie) const override;
  bool charges_steps() const override { return step_ps_ != 0; }
  Time charge_step(Time now) override;

  /// End of the work that firmware has done so far; may be ahead of the calendar.
  Time busy_until() const { return local_; }
  /// What the rank waits for, for a deadlock report; empty before the boot.
  std::vector<struct wvp_waiting> waiting() const;

 private:
  static std::uint32_t read32(void* bus, std::uint32_t offset);
  static void write32(void* bus, std::uint32_t offset, std::uint32_t value);
  static void charge_step(void* bus);

  void boot(Time now);
  RegisterFile& registers_;
  Time local_ = 0;
  Time step_ps_;
  wvp_context* context_;
  wvp_hal hal_;
  bool booted_ = false;
  const wvp_command* program_;
  const wvp_comm* comms_;
  std::uint32_t comm_count_;
  CalendarCall<HostProcessor, &HostProcessor::boot> boot_;
};

}  // namespace wafervp
