// SPDX-License-Identifier: Apache-2.0
#include "wafer/host_processor.h"

#include <algorithm>
#include <cstddef>

#include "accelerator/register_file.h"

namespace wafervp {

namespace {

// Zeroed, as the firmware wants it.
wvp_context* make_context(Arena& arena) {
  return reinterpret_cast<wvp_context*>(arena.make_array<std::byte>(wvp_context_bytes()));
}

}  // namespace

HostProcessor::HostProcessor(const Config& config, Accelerator& accelerator, Calendar& calendar, Arena& arena)
    : registers_(accelerator.registers()),
      step_ps_(config.step_ps),
      context_(make_context(arena)),
      hal_{this,
           read32,
           write32,
           accelerator.descriptor_ring(),
           accelerator.completion_ring(),
           accelerator.walk_table(),
           charge_step},
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
  wvp_boot(context_, &hal_, program_, comms_, comm_count_);
}

void HostProcessor::on_completions(Time now) {
  local_ = std::max(local_, now);
  wvp_progress(context_);
}

void HostProcessor::prepare(std::uint32_t cookie) const { wvp_prepare(context_, cookie); }

Time HostProcessor::charge_step(Time now) {
  local_ = std::max(local_, now) + step_ps_;
  return local_;
}

std::vector<struct wvp_waiting> HostProcessor::waiting() const {
  if (!booted_) return {};
  std::vector<struct wvp_waiting> entries(wvp_waiting(context_, nullptr, 0));
  if (!entries.empty()) {
    entries.resize(std::min<std::size_t>(
        entries.size(), wvp_waiting(context_, entries.data(), static_cast<std::uint32_t>(entries.size()))));
  }
  return entries;
}

std::uint32_t HostProcessor::read32(void* bus, std::uint32_t offset) {
  auto& self = *static_cast<HostProcessor*>(bus);
  return self.registers_.read32(offset, self.local_);
}

void HostProcessor::write32(void* bus, std::uint32_t offset, std::uint32_t value) {
  auto& self = *static_cast<HostProcessor*>(bus);
  self.registers_.write32(offset, value, self.local_);
}

void HostProcessor::charge_step(void* bus) {
  auto& self = *static_cast<HostProcessor*>(bus);
  self.local_ += self.step_ps_;
}

}  // namespace wafervp
