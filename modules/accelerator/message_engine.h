// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "accelerator/accelerator.h"
#include "accelerator/completion_queue.h"
#include "accelerator/compute_engine.h"
#include "accelerator/device_memory.h"
#include "accelerator/matching.h"
#include "accelerator/send_port.h"
#include "core/calendar.h"
#include "core/rate.h"

namespace wafervp {

/// Executes descriptors (COMBINE, SEND, EXPECT, or COMPUTE, or COPY) and takes messages from the fabric.
class alignas(64) MessageEngine final : public MessageSink,
                                        public FabricFwInterface,
                                        public FabricBwInterface {
 public:
  MessageEngine(const AcceleratorConfig& config, Calendar& calendar, MessagePool& messages,
                DeviceMemory& memory, CompletionQueue& completions, ComputeEngine& compute, SendPort& port,
                Arena& arena);

  wvp_descriptor* ring() { return ring_; }
  std::uint32_t ring_size() const { return ring_size_; }
  std::uint32_t head() const { return head_; }
  /// Executes the descriptors up to the free-running index `producer`, at the control processor's time.
  /// Throws std::runtime_error when more are announced than the ring holds, or one is malformed.
  void doorbell(std::uint32_t producer, Time local);

  /// HEAD: a run on its way to this NPU; its times are those of its packets here.
  tlm::tlm_sync_enum nb_transport_fw(Run& run, FabricPhase& phase, sc_core::sc_time& delay) override;
  /// CREDIT: packets of a message of this NPU leave the queue of the first link.
  tlm::tlm_sync_enum nb_transport_bw(Run& run, FabricPhase& phase, sc_core::sc_time& delay) override;
  void on_message(Message& message, Time now) override;
  void prepare(const Message& message, unsigned step) const override;

  std::size_t unmatched() const { return matches_.unmatched(); }
  bool idle() const { return matches_.used() == 0 && alu_free_at_ <= calendar_.now(); }
  void add_statistics(AcceleratorStatistics& statistics) const;

 private:
  void execute(const wvp_descriptor& descriptor, Time local);
  void execute_alone(const wvp_descriptor& descriptor, Time local);
  [[noreturn]] void refuse_producer(std::uint32_t producer) const;
  /// Returns the time at which the result is in memory.
  Time combine(const wvp_descriptor& descriptor, Time local);
  Time reduce(const wvp_descriptor& descriptor, const MatchTable::Slot& slot, Time local);
  void copied(const wvp_descriptor& descriptor, std::uint64_t bytes, Time when);
  void send(const wvp_descriptor& descriptor, Time ready);
  void send_values(const wvp_descriptor& descriptor, Time ready);
  void expect(const wvp_descriptor& descriptor, Time local);
  void received(MatchTable::Slot& slot, std::uint64_t expected_bytes, std::uint32_t cookie, Time when);
  [[noreturn]] void refuse(const wvp_descriptor& descriptor, const char* why) const;

  // In the order of use, so that a message touches few cache lines.
  wvp_descriptor* ring_;
  std::uint32_t ring_size_;
  std::uint32_t head_ = 0;
  Calendar& calendar_;
  MessagePool& messages_;
  CompletionQueue& completions_;
  SendPort& port_;
  NpuId npu_;
  bool values_;
  bool sums_are_free_;  ///< neither values nor time
  bool reduce_takes_time_;
  std::uint64_t descriptors_ = 0;
  std::uint64_t received_bytes_ = 0;
  std::uint64_t received_messages_ = 0;
  std::uint64_t staged_bytes_ = 0;
  std::uint64_t staged_bytes_peak_ = 0;
  MatchTable matches_;
  Time alu_free_at_ = 0;
  Time reduce_ps_ = 0;
  Rate reduce_rate_;
  DeviceMemory& memory_;
  ComputeEngine& compute_;
};

}  // namespace wafervp
