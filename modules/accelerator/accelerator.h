// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <systemc>

#include "core/arena.h"
#include "core/calendar.h"
#include "core/fabric_protocol.h"
#include "core/flow_table.h"
#include "wafervp/registers.h"

namespace wafervp {

class CompressionUnit;
class RegisterFile;

/// What runs on an accelerator's control processor (firmware on the host, or an instruction-set
/// simulator). Called in Stage::kFirmware.
class ControlProcessor {
 public:
  virtual ~ControlProcessor() = default;
  /// Completions were written to the ring since the last call.
  virtual void on_completions(Time now) = 0;
  /// A completion with `cookie` probably comes soon: a hint to bring what on_completions() reads into the
  /// host's cache. The first kWarmBytes from the processor on have been asked for.
  virtual void prepare(std::uint32_t cookie) const { static_cast<void>(cookie); }
  static constexpr std::size_t kWarmBytes = 320;
  /// Whether charge_step() does anything. Asked once.
  virtual bool charges_steps() const { return false; }
  /// The message engine takes a step of a walk at `now`: charges what such a step costs on this processor,
  /// and returns when it is done.
  virtual Time charge_step(Time now) { return now; }
};

/// Sees what happens on accelerators; the platform builds breakdown, timeline and report from it.
/// `when` is the control processor's local time, not before the calendar's.
class AcceleratorObserver {
 public:
  virtual ~AcceleratorObserver() = default;
  virtual void on_phase(NpuId npu, std::uint32_t kind, std::uint32_t command, Time when) = 0;
  virtual void on_exit(NpuId npu, std::uint32_t status, Time when) = 0;
  /// The compute engine will be busy from `begin` to `end`; told when the work is handed over.
  virtual void on_compute(NpuId npu, Time begin, Time end) = 0;
};

/// Computes values where a run carries them: what the kernel of a COMPUTE descriptor does to the state of its
/// NPU, device memory included. Called when the compute engine has done it, before the completion.
class KernelHost {
 public:
  virtual ~KernelHost() = default;
  virtual void run(NpuId npu, std::uint32_t kernel, std::uint64_t argument, Time now) = 0;
};

struct AcceleratorConfig {
  NpuId npu;
  std::uint32_t npus = 1;
  double peak_flops_per_s = 0;        ///< roofline, already times the efficiency; 1 to 9e18, rounded to whole
  std::uint64_t hbm_bytes_per_s = 0;  ///< roofline, read + write; 0: no memory term
  /// Memory rate of the reduction ALU: n bytes take 3 n / rate; 0: free.
  std::uint64_t reduce_bytes_per_s = 0;
  /// Ring sizes, powers of two. Small rings stay in the host's cache; descriptors are executed at each
  /// doorbell.
  std::uint32_t descriptor_entries = 4;
  std::uint32_t completion_entries = 8;
  std::uint32_t walk_entries = 80;  ///< of the walk table; the firmware wants one a strand
  /// Size of the backing store of device addresses 0..; 0: the run carries sizes only.
  std::uint64_t memory_bytes = 0;
  /// Stands between the message engine and the fabric, and outlives the accelerator; null: none.
  CompressionUnit* compression = nullptr;
};

/// Counters of one accelerator.
struct AcceleratorStatistics {
  Time compute_ps = 0;               ///< compute engine busy
  Time reduce_ps = 0;                ///< reduction ALU busy
  std::uint64_t sent_bytes = 0;      ///< payload handed to the fabric, compressed where it was
  std::uint64_t received_bytes = 0;  ///< payload delivered, likewise
  std::uint64_t sent_messages = 0, received_messages = 0;
  std::uint64_t staged_bytes_peak = 0;  ///< received and not yet combined
  std::uint64_t walked_steps = 0;       ///< steps of walks, besides those of descriptors
  std::uint64_t descriptors = 0, completions = 0, register_reads = 0, register_writes = 0;
};

/// Message engine (descriptor ring, tag matching, staging, combine, send), compute engine and memory of
/// one NPU behind read32/write32. Registers and rings: wafervp/registers.h; timing: README.md.
/// A violated contract (malformed descriptor, range outside of memory, ring overrun) throws
/// std::runtime_error that names the NPU.
class Accelerator : public sc_core::sc_module, public FabricNode {
 public:
  FabricInitiatorSocket egress;  ///< to the router, or the link to the switch
  FabricTargetSocket ingress;    ///< from the router, or the link from the switch

  /// The state that each message needs lies in `arena`.
  Accelerator(sc_core::sc_module_name name, const AcceleratorConfig& config, Calendar& calendar,
              MessagePool& messages, FlowTable& flows, Arena& arena);
  ~Accelerator() override;

  void attach(ControlProcessor& processor);
  void set_observer(AcceleratorObserver* observer);
  /// Without one, a kernel computes nothing.
  void set_kernels(KernelHost* kernels);
  /// The link that `egress` is bound to, where no router stands between (for the set-up of flows).
  void set_egress_link(FabricLink& link);

  /// Register accesses at the control processor's local time. An access that the map forbids throws
  /// BusError with NPU, offset and the nearest register.
  std::uint32_t read32(std::uint32_t offset, Time local);
  void write32(std::uint32_t offset, std::uint32_t value, Time local);
  /// The same registers without the way through the module.
  RegisterFile& registers();
  wvp_descriptor* descriptor_ring();
  const wvp_completion* completion_ring() const;
  wvp_walk* walk_table();

  /// Backing store of device addresses [0, memory_bytes); empty when the run carries sizes only.
  std::byte* memory();
  const AcceleratorStatistics& statistics() const;
  /// Messages received or expected and not matched, for a deadlock report.
  std::size_t unmatched_messages() const;
  /// False when work (sends, combines, computes, staged messages) is left.
  bool idle() const;

  unsigned route(const Flow& flow, unsigned input) override;
  FabricLink& output_link(unsigned output) override;

 private:
  void end_of_elaboration() override;

  struct Impl;
  ArenaPointer<Impl> impl_;
};

}  // namespace wafervp
