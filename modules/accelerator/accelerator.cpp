// SPDX-License-Identifier: Apache-2.0
#include "accelerator/accelerator.h"

#include <array>
#include <stdexcept>
#include <string>

#include "accelerator/completion_queue.h"
#include "accelerator/compute_engine.h"
#include "accelerator/device_memory.h"
#include "accelerator/message_engine.h"
#include "accelerator/registers.h"
#include "accelerator/send_port.h"

namespace wafervp {

namespace {

constexpr std::uint32_t kMagic = 0x57565031u;
constexpr std::uint32_t kFirstErrorRegister = WVP_REG_ERROR_OP;
constexpr std::size_t kErrorRegisters = (WVP_REG_ERROR_FOUND_HI - WVP_REG_ERROR_OP) / 4 + 1;

std::string name_of(NpuId npu) { return "NPU " + std::to_string(npu.value); }

void check_ring(const AcceleratorConfig& config, std::uint32_t entries, const char* parameter) {
  if (entries >= 2 && entries <= (1u << 20) && (entries & (entries - 1)) == 0) return;
  throw std::invalid_argument(name_of(config.npu) + ": " + parameter + " is " + std::to_string(entries) +
                              "; expected a power of two from 2 to 1048576");
}

const AcceleratorConfig& checked(const AcceleratorConfig& config) {
  check_ring(config, config.descriptor_entries, "descriptor_entries");
  check_ring(config, config.completion_entries, "completion_entries");
  return config;
}

}  // namespace

struct Accelerator::Impl {
  Impl(const AcceleratorConfig& checked_config, Calendar& calendar, MessagePool& messages, FlowTable& flows)
      : engine(checked_config, calendar, messages, memory, completions, compute, port),
        port(checked_config.npu, checked_config.npus, calendar, messages, flows, completions),
        completions(checked_config.npu, checked_config.completion_entries, calendar),
        compute(checked_config, calendar, completions),
        memory(checked_config.npu, checked_config.memory_bytes),
        config(checked_config) {}

  MessageEngine engine;
  SendPort port;
  CompletionQueue completions;
  std::uint64_t register_reads = 0;
  std::uint64_t register_writes = 0;
  ComputeEngine compute;
  DeviceMemory memory;
  AcceleratorConfig config;
  std::uint32_t time_high = 0;
  std::array<std::uint32_t, kErrorRegisters> errors{};
  AcceleratorObserver* observer = nullptr;
  FabricLink* egress_link = nullptr;
  AcceleratorStatistics statistics;
};

Accelerator::Accelerator(sc_core::sc_module_name name, const AcceleratorConfig& config, Calendar& calendar,
                         MessagePool& messages, FlowTable& flows)
    : sc_module(name),
      egress("egress"),
      ingress("ingress"),
      impl_(std::make_unique<Impl>(checked(config), calendar, messages, flows)) {
  egress.bind(static_cast<FabricBwInterface&>(impl_->engine));
  ingress.bind(static_cast<FabricFwInterface&>(impl_->engine));
}

Accelerator::~Accelerator() = default;

void Accelerator::end_of_elaboration() { impl_->port.bind(*egress.operator->()); }

void Accelerator::attach(ControlProcessor& processor) { impl_->completions.attach(processor); }

void Accelerator::set_observer(AcceleratorObserver* observer) {
  impl_->observer = observer;
  impl_->compute.set_observer(observer);
}

void Accelerator::set_egress_link(FabricLink& link) { impl_->egress_link = &link; }

std::uint32_t Accelerator::read32(std::uint32_t offset, Time local) {
  ++impl_->register_reads;
  return offset == WVP_REG_DQ_HEAD ? impl_->engine.head() : read_other(offset, local);
}

// The two registers that each message needs.
void Accelerator::write32(std::uint32_t offset, std::uint32_t value, Time local) {
  Impl& impl = *impl_;
  ++impl.register_writes;
  if (offset == WVP_REG_DQ_DOORBELL) return impl.engine.doorbell(value, local);
  if (offset == WVP_REG_CQ_HEAD) return impl.completions.set_head(value);
  write_other(offset, value, local);
}

std::uint32_t Accelerator::read_other(std::uint32_t offset, Time local) {
  Impl& impl = *impl_;
  switch (offset) {
    case WVP_REG_CQ_TAIL:
      return impl.completions.tail();
    case WVP_REG_CQ_HEAD:
      return impl.completions.head();
    case WVP_REG_TIME_LO:
      impl.time_high = static_cast<std::uint32_t>(local >> 32);
      return static_cast<std::uint32_t>(local);
    case WVP_REG_TIME_HI:
      return impl.time_high;
    case WVP_REG_ID:
      return kMagic;
    case WVP_REG_NPU:
      return impl.config.npu.value;
    case WVP_REG_NPUS:
      return impl.config.npus;
    case WVP_REG_DQ_SIZE:
      return impl.engine.ring_size();
    case WVP_REG_CQ_SIZE:
      return impl.completions.size();
    case WVP_REG_ERROR_OP:
    case WVP_REG_ERROR_PEER:
    case WVP_REG_ERROR_EXPECTED_LO:
    case WVP_REG_ERROR_EXPECTED_HI:
    case WVP_REG_ERROR_FOUND_LO:
    case WVP_REG_ERROR_FOUND_HI:
      return impl.errors[(offset - kFirstErrorRegister) / 4];
    default:
      accelerator_registers().refuse_read(name_of(impl.config.npu), offset);
  }
}

void Accelerator::write_other(std::uint32_t offset, std::uint32_t value, Time local) {
  Impl& impl = *impl_;
  switch (offset) {
    case WVP_REG_PHASE:
      if (impl.observer != nullptr) {
        impl.observer->on_phase(impl.config.npu, value >> 24, value & 0xffffffu, local);
      }
      return;
    case WVP_REG_EXIT:
      if (impl.observer != nullptr) impl.observer->on_exit(impl.config.npu, value, local);
      return;
    case WVP_REG_ERROR_OP:
    case WVP_REG_ERROR_PEER:
    case WVP_REG_ERROR_EXPECTED_LO:
    case WVP_REG_ERROR_EXPECTED_HI:
    case WVP_REG_ERROR_FOUND_LO:
    case WVP_REG_ERROR_FOUND_HI:
      impl.errors[(offset - kFirstErrorRegister) / 4] = value;
      return;
    default:
      accelerator_registers().refuse_write(name_of(impl.config.npu), offset, value);
  }
}

wvp_descriptor* Accelerator::descriptor_ring() { return impl_->engine.ring(); }
const wvp_completion* Accelerator::completion_ring() const { return impl_->completions.ring(); }
std::byte* Accelerator::memory() { return impl_->memory.data(); }

const AcceleratorStatistics& Accelerator::statistics() const {
  Impl& impl = *impl_;
  AcceleratorStatistics& statistics = impl.statistics;
  impl.engine.add_statistics(statistics);
  statistics.compute_ps = impl.compute.busy_ps();
  statistics.sent_bytes = impl.port.sent_bytes();
  statistics.sent_messages = impl.port.sent_messages();
  statistics.completions = impl.completions.written();
  statistics.register_reads = impl.register_reads;
  statistics.register_writes = impl.register_writes;
  return statistics;
}

std::size_t Accelerator::unmatched_messages() const { return impl_->engine.unmatched(); }

bool Accelerator::idle() const {
  const Impl& impl = *impl_;
  return impl.engine.idle() && impl.port.pending() == 0 && impl.compute.idle() && impl.completions.empty();
}

unsigned Accelerator::route(const Flow& flow, unsigned /*input*/) {
  const NpuId npu = impl_->config.npu;
  const bool starts_here = flow.source == npu && flow.destination != npu;
  if (starts_here) return 0;
  if (flow.group != 0 || flow.destination == npu) return kEndsHere;
  throw std::runtime_error(name_of(npu) + ": the flow from NPU " + std::to_string(flow.source.value) +
                           " to NPU " + std::to_string(flow.destination.value) + " was routed to it");
}

FabricLink& Accelerator::output_link(unsigned output) {
  if (output != 0 || impl_->egress_link == nullptr) {
    throw std::logic_error(name_of(impl_->config.npu) + ": no link is set at output " +
                           std::to_string(output));
  }
  return *impl_->egress_link;
}

}  // namespace wafervp
