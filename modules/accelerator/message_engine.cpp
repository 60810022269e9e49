// SPDX-License-Identifier: Apache-2.0
#include "accelerator/message_engine.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "compression/compression_unit.h"
#include "core/prefetch.h"

namespace wafervp {

namespace {

constexpr std::uint32_t kCombineFlags = WVP_D_COMBINE_REDUCE | WVP_D_COMBINE_COPY | WVP_D_COMBINE_DROP;
constexpr std::uint32_t kMessageFlags = kCombineFlags | WVP_D_SEND | WVP_D_EXPECT;
constexpr std::uint32_t kSendModifiers =
    WVP_D_SEND_FLOW | WVP_D_NOTIFY_SENT | WVP_D_WINDOW | WVP_D_LAST | WVP_D_TENSOR;
constexpr std::uint32_t kKnownFlags = kMessageFlags | kSendModifiers | WVP_D_NOTIFY_COMBINED | WVP_D_WALK;
constexpr std::uint32_t kAlone = WVP_D_COMPUTE | WVP_D_COPY;
constexpr std::uint32_t kLastClass = WVP_CLASS_CONTROL;

constexpr std::uint32_t kPlainFlags = kMessageFlags | kSendModifiers;

constexpr bool more_than_one(std::uint32_t bits) { return (bits & (bits - 1)) != 0; }

// Two operands are read and one result is written.
constexpr std::uint64_t kMemoryBytesPerReducedByte = 3;

Outgoing outgoing_of(const wvp_descriptor& descriptor) {
  Outgoing outgoing;
  outgoing.to = descriptor.send_to;
  outgoing.flags = descriptor.flags;
  outgoing.tag = descriptor.send_tag;
  outgoing.bytes = descriptor.send_bytes;
  outgoing.priority = descriptor.priority;
  outgoing.cookie = descriptor.cookie;
  outgoing.dtype = descriptor.dtype;
  outgoing.traffic_class = descriptor.traffic_class;
  return outgoing;
}

}  // namespace

MessageEngine::MessageEngine(const AcceleratorConfig& config, Calendar& calendar, MessagePool& messages,
                             FlowTable& flows, DeviceMemory& memory, CompletionQueue& completions,
                             ComputeEngine& compute, Arena& arena)
    : npu_(config.npu),
      values_(config.memory_bytes != 0),
      sends_sizes_(config.memory_bytes == 0 && config.compression == nullptr),
      sums_are_free_(config.memory_bytes == 0 && config.reduce_bytes_per_s == 0),
      reduce_takes_time_(config.reduce_bytes_per_s != 0),
      walks_(config.walk_entries, arena),
      port_(config, calendar, messages, flows, completions, arena),
      matches_(arena),
      calendar_(calendar),
      messages_(messages),
      completions_(completions),
      ring_(arena.make_array<wvp_descriptor>(config.descriptor_entries)),
      ring_size_(config.descriptor_entries),
      reduce_rate_(config.reduce_bytes_per_s == 0 ? 1 : config.reduce_bytes_per_s),
      memory_(memory),
      compute_(compute),
      compression_(config.compression),
      early_call_(*this, Stage::kArrival, config.npu.value) {}

void MessageEngine::refuse(const wvp_descriptor& descriptor, const char* why) const {
  throw std::runtime_error("NPU " + std::to_string(npu_.value) + ": descriptor cookie " +
                           std::to_string(descriptor.cookie) + " with flags " +
                           std::to_string(descriptor.flags) + " is refused: " + why);
}

void MessageEngine::refuse_producer(std::uint32_t producer) const {
  throw std::runtime_error("NPU " + std::to_string(npu_.value) + ": doorbell announces " +
                           std::to_string(producer - head_) + " descriptors, the ring has " +
                           std::to_string(ring_size()) + " entries");
}

void MessageEngine::received(MatchTable::Slot& slot, std::uint64_t expected_bytes, std::uint32_t cookie,
                             Time when) {
  slot.state = MatchTable::State::kStaged;
  wvp_completion& completion = completions_.raise(when);
  completion.cookie = cookie;
  completion.kind = WVP_C_RECEIVED;
  completion.status = slot.bytes == expected_bytes ? WVP_S_OK : WVP_S_SIZE_MISMATCH;
  completion.from = slot.from;
  completion.staged = matches_.handle_of(slot);
  completion.tag = slot.tag;
  completion.bytes = slot.bytes;
}

/// The oldest such message that is here already.
MatchTable::Slot* MessageEngine::take_early(std::uint32_t from, std::uint64_t tag) {
  if (early_ == 0) return nullptr;
  MatchTable::Slot* slot = matches_.take(from, tag, MatchTable::State::kReceived);
  if (slot != nullptr) --early_;
  return slot;
}

void MessageEngine::expect(const Expected& expected, Time local) {
  if (MatchTable::Slot* slot = take_early(expected.from, expected.tag)) {
    return received(*slot, expected.bytes, expected.cookie, local);
  }
  MatchTable::Slot& slot = matches_.insert(expected.from, expected.tag, MatchTable::State::kArmed);
  slot.bytes = expected.bytes;
  slot.cookie = expected.cookie;
}

inline Time MessageEngine::combine(const wvp_descriptor& descriptor, Time local) {
  if (more_than_one(descriptor.flags & kCombineFlags)) refuse(descriptor, "more than one kind of COMBINE");
  MatchTable::Slot* slot = matches_.staged(descriptor.staged);
  if (slot == nullptr) refuse(descriptor, "COMBINE names no staged message");
  const std::uint64_t bytes = slot->bytes;
  Time ready = local;
  if ((descriptor.flags & WVP_D_COMBINE_REDUCE) != 0) {
    if (!sums_are_free_) {
      ready =
          reduce({descriptor.combine_addr, bytes, slot->data, descriptor.dtype, descriptor.cookie}, local);
    }
  } else if (values_ && (descriptor.flags & WVP_D_COMBINE_COPY) != 0) {
    memory_.store(descriptor.combine_addr, slot->data, bytes, descriptor.cookie);
  }
  staged_bytes_ -= bytes;
  matches_.free(*slot);
  if ((descriptor.flags & WVP_D_NOTIFY_COMBINED) != 0) copied(descriptor, bytes, ready);
  return ready;
}

void MessageEngine::send(const Outgoing& outgoing, std::uint64_t address, Time ready) {
  if (!sends_sizes_) return send_specially(outgoing, address, ready);
  port_.send(outgoing, ready, nullptr);
}

/// With values, or through the compression unit, which makes another message of it.
void MessageEngine::send_specially(const Outgoing& outgoing, std::uint64_t address, Time ready) {
  Bytes data = values_ ? memory_.snapshot(address, outgoing.bytes, "send", outgoing.cookie) : nullptr;
  const std::uint32_t tensor = (outgoing.flags & WVP_D_TENSOR) >> WVP_D_TENSOR_SHIFT;
  if (compression_ == nullptr || outgoing.bytes == 0 ||
      !compression_->compresses(outgoing.traffic_class, tensor)) {
    return port_.send(outgoing, ready, &data);
  }
  CompressedMessage compressed = compression_->compress(
      {outgoing.bytes, outgoing.tag, outgoing.to, outgoing.traffic_class, tensor, data}, ready);
  Outgoing onto_wire = outgoing;
  onto_wire.bytes = compressed.bytes;
  onto_wire.dtype = compressed.dtype;
  port_.send(onto_wire, compressed.ready, &compressed.data);
}

inline void MessageEngine::execute(const wvp_descriptor& descriptor, Time local) {
  const std::uint32_t flags = descriptor.flags;
  if ((flags & kMessageFlags) == 0 || (flags & ~kPlainFlags) != 0) {
    if ((flags & kMessageFlags) == 0 || (flags & kAlone) != 0) return execute_alone(descriptor, local);
    if ((flags & ~kKnownFlags) != 0) refuse(descriptor, "unknown flags");
    if ((flags & WVP_D_NOTIFY_COMBINED) != 0 && (flags & kCombineFlags) == 0)
      refuse(descriptor, "NOTIFY_COMBINED without COMBINE");
    if ((flags & WVP_D_WALK) != 0 && (flags & WVP_D_EXPECT) == 0) refuse(descriptor, "WALK without EXPECT");
  }
  Time ready = local;
  if ((flags & kCombineFlags) != 0) ready = combine(descriptor, local);
  if ((flags & WVP_D_SEND) != 0) {
    if (descriptor.traffic_class > kLastClass) refuse(descriptor, "no such traffic class");
    send(outgoing_of(descriptor), descriptor.send_addr, ready);
  } else if ((flags & kSendModifiers) != 0) {
    refuse(descriptor, "SEND_FLOW, NOTIFY_SENT, WINDOW or TENSOR without SEND");
  }
  if ((flags & WVP_D_WALK) != 0) {
    start_walk(descriptor, local);
  } else if ((flags & WVP_D_EXPECT) != 0) {
    expect({descriptor.expect_from, descriptor.expect_tag, descriptor.expect_bytes, descriptor.cookie},
           local);
  }
}

void MessageEngine::doorbell(std::uint32_t producer, Time local) {
  if (producer - head_ > ring_size()) refuse_producer(producer);
  while (head_ != producer) {
    const wvp_descriptor& descriptor = ring_[head_ & (ring_size() - 1)];
    ++head_;
    ++descriptors_;
    execute(descriptor, local);
  }
}

void MessageEngine::execute_alone(const wvp_descriptor& descriptor, Time local) {
  if (descriptor.flags == WVP_D_COMPUTE) return compute_.start(descriptor, local);
  if (descriptor.flags != WVP_D_COPY)
    refuse(descriptor, "no part, unknown parts, or COMPUTE or COPY beside other parts");
  memory_.copy(descriptor.combine_addr, descriptor.send_addr, descriptor.send_bytes, descriptor.cookie);
  copied(descriptor, descriptor.send_bytes, local);
}

Time MessageEngine::reduce(const Sum& sum, Time local) {
  if (values_) memory_.reduce(sum.address, sum.data, sum.bytes, sum.dtype, sum.cookie);
  if (!reduce_takes_time_) return local;
  const Time busy = reduce_rate_.ps(kMemoryBytesPerReducedByte * sum.bytes);
  alu_free_at_ = std::min(std::max(local, alu_free_at_) + busy, kTimeEnd);
  reduce_ps_ += busy;
  return alu_free_at_;
}

void MessageEngine::copied(const wvp_descriptor& descriptor, std::uint64_t bytes, Time when) {
  wvp_completion& completion = completions_.raise(when);
  completion.cookie = descriptor.cookie;
  completion.kind = WVP_C_COPIED;
  completion.bytes = bytes;
}

tlm::tlm_sync_enum MessageEngine::nb_transport_fw(Run& run, FabricPhase&, sc_core::sc_time&) {
  Message& message = *run.message;
  if (run.count != 0 && run.complete()) {
    message.sink = this;
    message.group = run.flow->group;
    message.set_order(npu_.value);
    port_.calendar().schedule(message, run.tail(run.count - 1));
    if (ClassHold* hold = port_.hold())
      hold->note_coming(run.flow->traffic_class & 3u, run.tail(run.count - 1));
  } else if (message.scheduled()) {
    port_.calendar().cancel(message);  // shortened: the last packet comes with another run
  }
  return tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum MessageEngine::nb_transport_bw(Run& run, FabricPhase& phase, sc_core::sc_time&) {
  // All packets of a message are here when it is handed over, so that a stall ahead changes nothing.
  if (phase == FabricPhase::kCredit) port_.on_credit(run);
  return tlm::TLM_ACCEPTED;
}

void MessageEngine::add_statistics(AcceleratorStatistics& statistics) const {
  statistics.reduce_ps = reduce_ps_;
  statistics.received_bytes = received_bytes_;
  statistics.received_messages = received_messages_;
  statistics.staged_bytes_peak = staged_bytes_peak_;
  statistics.walked_steps = walked_steps_;
  statistics.descriptors = descriptors_;
}

}  // namespace wafervp
