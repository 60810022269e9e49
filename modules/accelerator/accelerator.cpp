// SPDX-License-Identifier: Apache-2.0
#include "accelerator/accelerator.h"

#include <stdexcept>
#include <string>

#include "accelerator/completion_queue.h"
#include "accelerator/compute_engine.h"
#include "accelerator/device_memory.h"
#include "accelerator/message_engine.h"
#include "accelerator/register_file.h"
#include "accelerator/send_port.h"
#include "compression/compression_unit.h"

namespace wafervp {

namespace {

std::string name_of(NpuId npu) { return "NPU " + std::to_string(npu.value); }

void check_ring(const AcceleratorConfig& config, std::uint32_t entries, const char* parameter) {
  if (entries >= 2 && entries <= (1u << 20) && (entries & (entries - 1)) == 0) return;
  throw std::invalid_argument(name_of(config.npu) + ": " + parameter + " is " + std::to_string(entries) +
                              "; expected a power of two from 2 to 1048576");
}

void check_walks(const AcceleratorConfig& config) {
  if (config.walk_entries >= 1 && config.walk_entries <= (1u << 20)) return;
  throw std::invalid_argument(name_of(config.npu) + ": walk_entries is " +
                              std::to_string(config.walk_entries) + "; expected 1 to 1048576");
}

const AcceleratorConfig& checked(const AcceleratorConfig& config) {
  check_ring(config, config.descriptor_entries, "descriptor_entries");
  check_ring(config, config.completion_entries, "completion_entries");
  check_walks(config);
  return config;
}

}  // namespace

struct Accelerator::Impl {
  Impl(const AcceleratorConfig& checked_config, Calendar& calendar, MessagePool& messages, FlowTable& flows,
       Arena& arena)
      : engine(checked_config, calendar, messages, flows, memory, completions, compute, arena),
        registers(checked_config, engine, completions),
        completions(checked_config.npu, checked_config.completion_entries, calendar, arena),
        compute(checked_config, calendar, completions),
        memory(checked_config.npu, checked_config.memory_bytes),
        config(checked_config) {}

  // In the order of use by a message.
  MessageEngine engine;
  RegisterFile registers;
  CompletionQueue completions;
  ComputeEngine compute;
  DeviceMemory memory;
  AcceleratorConfig config;
  FabricLink* egress_link = nullptr;
  AcceleratorStatistics statistics;
};

Accelerator::Accelerator(sc_core::sc_module_name name, const AcceleratorConfig& config, Calendar& calendar,
                         MessagePool& messages, FlowTable& flows, Arena& arena)
    : sc_module(name),
      egress("egress"),
      ingress("ingress"),
      impl_(arena.make<Impl>(checked(config), calendar, messages, flows, arena)) {
  egress.bind(static_cast<FabricBwInterface&>(impl_->engine));
  if (config.compression == nullptr) {
    ingress.bind(static_cast<FabricFwInterface&>(impl_->engine));
  } else {
    config.compression->set_receiver(impl_->engine);
    ingress.bind(static_cast<FabricFwInterface&>(*config.compression));
  }
}

Accelerator::~Accelerator() = default;

void Accelerator::end_of_elaboration() { impl_->engine.port().bind(*egress.operator->()); }

void Accelerator::attach(ControlProcessor& processor) {
  impl_->completions.attach(processor);
  impl_->engine.attach(processor);
}

void Accelerator::set_observer(AcceleratorObserver* observer) {
  impl_->registers.set_observer(observer);
  impl_->compute.set_observer(observer);
}

void Accelerator::set_kernels(KernelHost* kernels) { impl_->compute.set_kernels(kernels); }

void Accelerator::set_egress_link(FabricLink& link) { impl_->egress_link = &link; }

std::uint32_t Accelerator::read32(std::uint32_t offset, Time local) {
  return impl_->registers.read32(offset, local);
}

void Accelerator::write32(std::uint32_t offset, std::uint32_t value, Time local) {
  impl_->registers.write32(offset, value, local);
}

RegisterFile& Accelerator::registers() { return impl_->registers; }

wvp_descriptor* Accelerator::descriptor_ring() { return impl_->engine.ring(); }
const wvp_completion* Accelerator::completion_ring() const { return impl_->completions.ring(); }
wvp_walk* Accelerator::walk_table() { return impl_->engine.walks().data(); }
std::byte* Accelerator::memory() { return impl_->memory.data(); }

const AcceleratorStatistics& Accelerator::statistics() const {
  Impl& impl = *impl_;
  AcceleratorStatistics& statistics = impl.statistics;
  impl.engine.add_statistics(statistics);
  if (impl.config.compression != nullptr) {
    const CompressionStatistics::Engine& taken = impl.config.compression->statistics().ingress;
    statistics.received_bytes = statistics.received_bytes - taken.dense_bytes + taken.wire_bytes;
  }
  statistics.compute_ps = impl.compute.busy_ps();
  statistics.sent_bytes = impl.engine.port().sent_bytes();
  statistics.sent_messages = impl.engine.port().sent_messages();
  statistics.completions = impl.completions.written();
  statistics.register_reads = impl.registers.reads();
  statistics.register_writes = impl.registers.writes();
  return statistics;
}

std::size_t Accelerator::unmatched_messages() const { return impl_->engine.unmatched(); }

bool Accelerator::idle() const {
  const Impl& impl = *impl_;
  const CompressionUnit* unit = impl.config.compression;
  return impl.engine.idle() && impl.compute.idle() && impl.completions.empty() &&
         (unit == nullptr || unit->idle());
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
