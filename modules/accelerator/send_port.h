// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "accelerator/accelerator.h"
#include "accelerator/class_hold.h"
#include "accelerator/completion_queue.h"
#include "core/calendar.h"
#include "core/fabric_protocol.h"
#include "core/flow_table.h"

namespace wafervp {

/// What a SEND part, or a step of a walk, asks for.
struct Outgoing {
  std::uint32_t to = 0;     ///< NPU, or handle of an in-network flow
  std::uint32_t flags = 0;  ///< of those of a descriptor: SEND_FLOW, NOTIFY_SENT, WINDOW
  std::uint64_t tag = 0;
  std::uint64_t bytes = 0;
  std::uint32_t priority = 0;
  std::uint32_t cookie = 0;
  std::uint8_t dtype = 0;
  std::uint8_t traffic_class = 0;
};

/// The egress side of a message engine: hands messages to the fabric as runs without a rate, all but those
/// that a compression unit makes slower than they could leave. A message without window and notice is handed
/// over at once and forgotten.
class alignas(64) SendPort {
 public:
  SendPort(const AcceleratorConfig& config, Calendar& calendar, MessagePool& messages, FlowTable& flows,
           CompletionQueue& completions, Arena& arena);
  ~SendPort();

  void bind(FabricFwInterface& fabric) { fabric_ = &fabric; }
  /// The message may leave from `ready` on and carries `*data`, which is taken (null: sizes only). Throws
  /// std::runtime_error for an NPU that is not there, oneself, or a message of more than 2^32 - 1 packets.
  void send(const Outgoing& outgoing, Time ready, Bytes* data) {
    look_up(outgoing);
    if ((outgoing.flags & (WVP_D_WINDOW | WVP_D_NOTIFY_SENT)) != 0) return post(outgoing, ready, data);
    inject(*recent_.flow, *recent_.entry, {outgoing.tag, outgoing.bytes, outgoing.cookie, outgoing.dtype},
           ready, data, Tracking::kForgotten);
  }
  /// Sends on a message that has come to this NPU, without window and notice: it is used again and keeps its
  /// bytes and its data. `outgoing` says the rest.
  void pass_on(Message& message, const Outgoing& outgoing, Time ready) {
    look_up(outgoing);
    message.tag = outgoing.tag;
    message.cookie = outgoing.cookie;
    message.windowed = false;
    hand_over(*recent_.flow, *recent_.entry, message, ready);
  }
  /// send() comes soon, most likely into the same flow as the last time.
  void prepare() const { prepare(recent_); }
  /// pass_on() or a windowed send() to NPU `to` comes soon.
  void prepare(std::uint32_t to, std::uint8_t traffic_class) const {
    const std::uint64_t key = key_of(to, false, traffic_class);
    prepare(recent_.key == key ? recent_ : places_[place_of(key)]);
  }
  /// Packets leave the queue of the first link, as `run` says (phase CREDIT).
  void on_credit(const Run& run) {
    if (run.message->windowed) on_tracked_credit(run);
  }

  /// Messages that wait for their window, and tracked ones of which it is not known when they leave.
  std::size_t pending() const;
  Calendar& calendar() { return calendar_; }
  /// Null where no class is held back.
  ClassHold* hold() { return hold_.get(); }
  std::uint64_t sent_bytes() const { return sent_bytes_; }
  std::uint64_t sent_messages() const { return sent_messages_; }

 private:
  friend class SendWindow;
  enum class Tracking : std::uint8_t { kForgotten, kTracked };
  struct What {
    std::uint64_t tag;
    std::uint64_t bytes;
    std::uint32_t cookie;
    std::uint8_t dtype;
  };
  /// A flow that starts here, in an open hash table.
  struct Place {
    std::uint64_t key = kNoKey;
    Flow* flow = nullptr;
    FabricFw* entry = nullptr;  ///< where runs go, past modules that only pass them on
  };
  static constexpr std::size_t kFirstPlaces = 4;
  static constexpr std::size_t kWarmBytesOfFlow = 64, kWarmBytesOfEntry = 256;
  static constexpr std::uint64_t kNoKey = ~std::uint64_t{0};
  static constexpr std::uint64_t kLargestMessage =
      std::uint64_t{std::numeric_limits<std::uint32_t>::max()} * kPacketBytes;

  static std::uint64_t key_of(std::uint32_t to, bool into_flow, std::uint8_t traffic_class) {
    return (static_cast<std::uint64_t>(to) << 16) | (static_cast<std::uint64_t>(traffic_class) << 1) |
           (into_flow ? 1u : 0u);
  }
  /// Where the key is, or could be.
  std::size_t place_of(std::uint64_t key) const {
    const std::size_t mask = places_.size() - 1;
    std::size_t i = static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ull) >> 40) & mask;
    while (places_[i].key != key && places_[i].key != kNoKey) i = (i + 1) & mask;
    return i;
  }
  /// Makes `recent_` the flow that the message goes into.
  void look_up(const Outgoing& outgoing) {
    const std::uint64_t key =
        key_of(outgoing.to, (outgoing.flags & WVP_D_SEND_FLOW) != 0, outgoing.traffic_class);
    if (recent_.key != key) {
      const Place& place = places_[place_of(key)];
      recent_ = place.key == key ? place : open(outgoing, key);
    }
    if (outgoing.bytes > kLargestMessage) refuse_size(outgoing);
  }
  Place open(const Outgoing& outgoing, std::uint64_t key);
  [[gnu::noinline]] void hand_over_compressed(Flow& flow, FabricFw& entry, Message& message, Time ready);
  [[gnu::noinline]] void note_sent(Flow& flow, const Message& message);
  [[noreturn]] void refuse_size(const Outgoing& outgoing) const;
  void post(const Outgoing& outgoing, Time ready, Bytes* data);
  void prepare(const Place& place) const;
  void inject(Flow& flow, FabricFw& entry, const What& what, Time ready, Bytes* data, Tracking tracking) {
    Message& message = *messages_.acquire();
    message.bytes = what.bytes;
    message.packets = packets_of(what.bytes);
    message.tag = what.tag;
    message.cookie = what.cookie;
    message.dtype = what.dtype;
    message.windowed = tracking == Tracking::kTracked;
    if (data != nullptr) {
      move_values(message.data, *data);
      if ((what.dtype & kCompressedMessage) != 0) return hand_over_compressed(flow, entry, message, ready);
    }
    hand_over(flow, entry, message, ready);
  }
  void number(Flow& flow, Message& message) {
    message.flow = &flow;
    message.first_packet = flow.next_packet;
    message.source = npu_;
    flow.next_packet += message.packets;
    sent_bytes_ += message.bytes;
    ++sent_messages_;
  }
  /// A message whose combine is done early does not overtake one before it in its flow.
  void hand_over(Flow& flow, FabricFw& entry, Message& message, Time ready) {
    number(flow, message);
    flow.last_origin = std::max({flow.last_origin, ready, calendar_.now()});
    if (flow.pace != nullptr) flow.last_origin = flow.pace->next(flow.last_origin);

    if (hold_ != nullptr) note_sent(flow, message);
    Run run = Run::from_source(message, flow.last_origin);
    if (flow.pace != nullptr) flow.last_origin += flow.pace->rate.ps(message.bytes);
    FabricPhase phase = FabricPhase::kHead;
    sc_core::sc_time delay;
    entry.nb_transport_fw(run, phase, delay);
  }
  static void on_tracked_credit(const Run& run);

  // In the order of use, so that a message touches few cache lines.
  Place recent_;
  Calendar& calendar_;
  MessagePool& messages_;
  std::uint64_t sent_bytes_ = 0;
  std::uint64_t sent_messages_ = 0;
  std::unique_ptr<ClassHold> hold_;
  NpuId npu_;
  std::uint32_t npus_;
  boost::container::small_vector<Place, kFirstPlaces> places_;
  FabricFw* fabric_ = nullptr;
  FlowTable& flows_;
  CompletionQueue& completions_;
  std::size_t places_used_ = 0;
  Arena& arena_;
  std::vector<ArenaPointer<SendWindow>> windows_;
};

}  // namespace wafervp
