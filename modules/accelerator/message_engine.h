// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "accelerator/accelerator.h"
#include "accelerator/completion_queue.h"
#include "accelerator/compute_engine.h"
#include "accelerator/device_memory.h"
#include "accelerator/matching.h"
#include "accelerator/send_port.h"
#include "accelerator/walk_table.h"
#include "core/calendar.h"
#include "core/rate.h"

namespace wafervp {

class CompressionUnit;

/// Executes descriptors (COMBINE, SEND, EXPECT, or COMPUTE, or COPY) and the steps of walks, and takes
/// messages from the fabric.
class alignas(64) MessageEngine final : public MessageSink,
                                        public DeferredWork,
                                        public FabricFwInterface,
                                        public FabricBwInterface {
 public:
  MessageEngine(const AcceleratorConfig& config, Calendar& calendar, MessagePool& messages, FlowTable& flows,
                DeviceMemory& memory, CompletionQueue& completions, ComputeEngine& compute, Arena& arena);

  wvp_descriptor* ring() { return ring_; }
  std::uint32_t ring_size() const { return ring_size_; }
  std::uint32_t head() const { return head_; }
  WalkTable& walks() { return walks_; }
  SendPort& port() { return port_; }
  /// Executes the descriptors up to the free-running index `producer`, at the control processor's time.
  /// Throws std::runtime_error when more are announced than the ring holds, or one is malformed.
  void doorbell(std::uint32_t producer, Time local);
  /// `processor` is charged for the steps of walks, where it wants to be.
  void attach(ControlProcessor& processor) { charged_ = processor.charges_steps() ? &processor : nullptr; }

  /// HEAD: a run on its way to this NPU; its times are those of its packets here.
  tlm::tlm_sync_enum nb_transport_fw(Run& run, FabricPhase& phase, sc_core::sc_time& delay) override;
  /// CREDIT: packets of a message of this NPU leave the queue of the first link.
  tlm::tlm_sync_enum nb_transport_bw(Run& run, FabricPhase& phase, sc_core::sc_time& delay) override;
  void on_message(Message& message, Time now) override;
  void run_deferred(Time now) override;
  void prepare(const Message& message, unsigned step) const override;

  std::size_t unmatched() const { return matches_.unmatched() + walks_.under_way(); }
  bool idle() const {
    return matches_.used() == 0 && walks_.under_way() == 0 && port_.pending() == 0 &&
           alu_free_at_ <= calendar_.now();
  }
  void add_statistics(AcceleratorStatistics& statistics) const;

 private:
  /// A message that is added to what lies in memory.
  struct Sum {
    std::uint64_t address;
    std::uint64_t bytes;
    const Bytes& data;
    std::uint8_t dtype;
    std::uint32_t cookie;
  };
  struct Expected {
    std::uint32_t from;
    std::uint64_t tag;
    std::uint64_t bytes;
    std::uint32_t cookie;
  };

  void execute(const wvp_descriptor& descriptor, Time local);
  void execute_alone(const wvp_descriptor& descriptor, Time local);
  [[noreturn]] void refuse_producer(std::uint32_t producer) const;
  /// Returns the time at which the result is in memory.
  Time combine(const wvp_descriptor& descriptor, Time local);
  Time reduce(const Sum& sum, Time local);
  void copied(const wvp_descriptor& descriptor, std::uint64_t bytes, Time when);
  void send(const Outgoing& outgoing, std::uint64_t address, Time ready);
  void send_specially(const Outgoing& outgoing, std::uint64_t address, Time ready);
  MatchTable::Slot* take_early(std::uint32_t from, std::uint64_t tag);
  void expect(const Expected& expected, Time local);
  void start_walk(const wvp_descriptor& descriptor, Time local);
  void go_on(std::uint32_t number, Time local);
  Outgoing step(std::uint32_t number, const Bytes& data, std::uint64_t bytes, Time& local, Time& ready);
  static void next_share(wvp_walk& walk);
  void stop_walk(std::uint32_t number, MatchTable::Slot& slot, Time when);
  struct WalkMessage {
    std::uint32_t number;  ///< of the walk
    Message* message;      ///< null: it had come before the walk wanted it
  };
  struct EarlyStep {
    Time when;
    std::uint32_t number;  ///< of the walk
  };
  void take_early_steps(Time now);
  void take_early_step(std::uint32_t number, Time now);
  void on_walk_message(std::uint32_t number, Message& message, Time now);
  void take_step(std::uint32_t number, Message& message, Time now);
  void count_received(std::uint64_t bytes);
  void stage(MatchTable::Slot& slot, Message& message);
  void received(MatchTable::Slot& slot, std::uint64_t expected_bytes, std::uint32_t cookie, Time when);
  [[noreturn]] void refuse(const wvp_descriptor& descriptor, const char* why) const;

  // In the order of use, so that a message touches few cache lines: a step of a walk the first two, and one
  // of the port.
  NpuId npu_;
  bool values_;
  bool sends_sizes_;    ///< neither values nor a compression unit
  bool sums_are_free_;  ///< neither values nor time
  bool reduce_takes_time_;
  bool deferring_ = false;  ///< `deferred_` is not empty
  WalkTable walks_;
  ControlProcessor* charged_ = nullptr;  ///< for the steps of walks
  std::uint64_t walked_steps_ = 0;
  std::uint64_t received_bytes_ = 0;
  std::uint64_t received_messages_ = 0;
  std::uint64_t staged_bytes_ = 0;
  std::uint64_t staged_bytes_peak_ = 0;
  std::uint32_t early_ = 0;  ///< messages that wait for their EXPECT part
  SendPort port_;
  MatchTable matches_;
  Calendar& calendar_;
  MessagePool& messages_;
  CompletionQueue& completions_;
  wvp_descriptor* ring_;
  std::uint32_t ring_size_;
  std::uint32_t head_ = 0;
  std::uint64_t descriptors_ = 0;
  Time alu_free_at_ = 0;
  Time reduce_ps_ = 0;
  Rate reduce_rate_;
  DeviceMemory& memory_;
  ComputeEngine& compute_;
  CompressionUnit* compression_;       ///< null: none
  std::vector<WalkMessage> deferred_;  ///< that have come at this time, with others still to come
  std::vector<EarlyStep> early_steps_;
  CalendarCall<MessageEngine, &MessageEngine::take_early_steps> early_call_;
};

}  // namespace wafervp
