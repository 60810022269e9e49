// SPDX-License-Identifier: Apache-2.0
#include "wafer/host_processor.h"

#include <algorithm>

namespace wafervp {

HostProcessor::HostProcessor(const Config& config, Accelerator& accelerator, Calendar& calendar)
    : accelerator_(accelerator),
      step_ps_(config.step_ps),
      context_memory_(std::make_unique<std::byte[]>(wvp_context_bytes(config.comm_count))),
      hal_{this, read32, write32, accelerator.descriptor_ring(), accelerator.completion_ring(), charge_step},
      program_(config.program),
      comms_(config.comms),
      comm_count_(config.comm_count),
      boot_(*this, Stage::kFirmware, config.npu.value) {
  accelerator.attach(*this);
  calendar.schedule(boot_, config.start);
}

void HostProcessor::boot(Time now) {
  local_ = now;
  booted_ = true;
  wvp_boot(context(), &hal_, program_, comms_, comm_count_);
}

void HostProcessor::on_completions(Time now) {
  local_ = std::max(local_, now);
  wvp_progress(context());
}

std::vector<struct wvp_waiting> HostProcessor::waiting() const {
  if (!booted_) return {};
  std::vector<struct wvp_waiting> entries(wvp_waiting(context(), nullptr, 0));
  if (!entries.empty()) {
    entries.resize(std::min<std::size_t>(
        entries.size(), wvp_waiting(context(), entries.data(), static_cast<std::uint32_t>(entries.size()))));
  }
  return entries;
}

std::uint32_t HostProcessor::read32(void* bus, std::uint32_t offset) {
  auto& self = *static_cast<HostProcessor*>(bus);
  return self.accelerator_.read32(offset, self.local_);
}

void HostProcessor::write32(void* bus, std::uint32_t offset, std::uint32_t value) {
  auto& self = *static_cast<HostProcessor*>(bus);
  self.accelerator_.write32(offset, value, self.local_);
}

void HostProcessor::charge_step(void* bus) {
  auto& self = *static_cast<HostProcessor*>(bus);
  self.local_ += self.step_ps_;
}

}  // namespace wafervp
