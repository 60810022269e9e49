// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/calendar.h"
#include "core/ids.h"
#include "core/prefetch.h"
#include "core/rate.h"
#include "core/time.h"

namespace wafervp {

class FabricLink;
class SendWindow;
struct Lane;

/// Values of a message, shared by all that hold it (multicast clones share one buffer).
using Bytes = std::shared_ptr<std::vector<std::byte>>;
/// to = from, which is null afterwards; and bytes = null. Calls of their own, so that runs that carry sizes
/// only have short code.
void move_values(Bytes& to, Bytes& from);
void drop_values(Bytes& bytes);

/// How a source makes the packets of a flow: at `rate`, each message beginning at a time that is `phase`
/// modulo a packet's time, so that several such flows do not come in bursts.
struct Pace {
  Rate rate;
  Time phase = 0;
  /// First such time from `when` on.
  Time next(Time when) const {
    const Time period = rate.ps(kPacketBytes);
    return when + (phase % period + period - when % period) % period;
  }
};

/// One flow: a stream of packets from one source to one sink over a fixed path, in order. A tree
/// (multicast, reduction) is made of several flows, each from one switch stage to the next.
struct alignas(64) Flow {
  /// One link of the path. The lane is the flow's queue at that link.
  struct Hop {
    FabricLink* link;
    Lane* lane;
    std::uint16_t output;  ///< output port of the node that feeds the link
    std::uint16_t input;   ///< port by which the flow enters that node
  };
  // In the order of use by a message.
  std::uint64_t next_packet = 0;  ///< index that the next message's first packet gets
  std::uint32_t group = 0;        ///< handle of the in-network flow that it belongs to, 0: unicast
  std::uint8_t traffic_class = 0;
  /// The flow ends where packets are always taken (an NPU), so that its last link needs no credits.
  bool unlimited_sink = true;
  bool has_path = false;  ///< its source holds back what shares its links (FabricLink::begin_path)
  FlowId id;
  NpuId source;       ///< sending NPU; invalid for the inner parts of a tree
  NpuId destination;  ///< receiving NPU; invalid for the inner parts of a tree
  // Kept here for the source.
  Time last_origin = 0;          ///< messages leave in order: none before this time
  SendWindow* window = nullptr;  ///< null where the source lets all messages go at once
  const Pace* pace = nullptr;    ///< of the source; null: all packets are there at once
  boost::container::small_vector<Hop, 2> hops;
};

struct Message;

/// In Message::dtype: a compression unit made the message, and its data are the payload of its
/// CompressedData.
inline constexpr std::uint8_t kCompressedMessage = 0x80;

/// In front of what a compression unit keeps of a message.
struct CompressedData {
  std::vector<std::byte> payload;  ///< empty where the run carries sizes only; first, see of()
  /// Why the payloads of the two cannot be added up, empty where they can: "expected version 0 of U, found
  /// version 1".
  std::string (*difference)(const CompressedData& one, const CompressedData& other) = nullptr;

  /// A pointer to an object of standard layout and one to its first member convert into each other.
  static const CompressedData& of(const Bytes& data) {
    return *reinterpret_cast<const CompressedData*>(data.get());
  }
};

/// Where a message's last byte arrives.
class MessageSink {
 public:
  static constexpr std::size_t kWarmBytes = 192;  ///< from the sink on, asked for before prepare()

  /// The message has arrived; the sink owns it from here on.
  virtual void on_message(Message& message, Time now) = 0;
  /// on_message(message) comes soon: steps 1 and later of CalendarEntry::prepare().
  virtual void prepare(const Message& message, unsigned step) const {
    static_cast<void>(message), static_cast<void>(step);
  }

 protected:
  ~MessageSink() = default;
};

/// One message in flight. Packets are numbered along the flow; the last one may be shorter.
/// It is its own calendar entry: its sink schedules it for its last byte (and returns it to the pool
/// then, in Stage::kArrival: nobody else looks at a message after that).
struct alignas(64) Message final : CalendarEntry {
  Message() : CalendarEntry(Stage::kArrival, 0) {}

  MessageSink* sink = nullptr;
  Flow* flow = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t first_packet = 0;
  std::uint32_t packets = 0;
  NpuId source;
  std::uint64_t tag = 0;
  std::uint32_t group = 0;   ///< of the flow by which it came, noted by the sink while the flow is at hand
  std::uint32_t cookie = 0;  ///< of what sent it: where members of a group do alike, the receiver's too
  std::uint8_t dtype = 0;    ///< with kCompressedMessage: see compression/compression_unit.h
  bool windowed = false;
  Bytes data;  ///< null when the run carries sizes only
  Message* next_free = nullptr;

  std::uint64_t end_packet() const { return first_packet + packets; }
  /// Bytes of `count` packets from `first` on.
  std::uint64_t bytes_of(std::uint64_t first, std::uint32_t count) const {
    const std::uint64_t before = (first - first_packet) * kPacketBytes;
    if (first + count < end_packet()) return static_cast<std::uint64_t>(count) * kPacketBytes;
    return bytes - before;
  }

 private:
  void fire(Time now) override { sink->on_message(*this, now); }
  void prepare(unsigned step) const override {
    if (step > 0) return sink->prepare(*this, step);
    prefetch(sink, MessageSink::kWarmBytes);
  }
};

/// Consecutive packets of one message that pass one place at the rate of the link they came over. Packet
/// `first + i` begins to pass at origin + rate.ps(offset + i * 4096); without a rate (from a source) all pass
/// at once. A paced run goes at the rate of a slower link: its packets are shorter on the wire than their
/// spacing, so that their heads come `late` after the beginning of their slot. With all of the spacing as
/// `late` (from a source that makes them so) each is there as a whole at the end of its slot.
struct RunSpan {
  Message* message = nullptr;  ///< valid until the message is delivered
  const Rate* rate = nullptr;
  std::uint64_t first = 0;
  std::uint64_t offset = 0;  ///< bytes of the busy period before the run
  Time origin = 0;           ///< start of the busy period, shifted to this place
  Time late = 0;             ///< ps by which a head is behind its slot (paced runs)
  std::uint32_t count = 0;
  std::uint16_t tail_bytes = 0;  ///< bytes of the last packet of the run
  bool last = false;             ///< the run ends with the message's last packet

  std::uint64_t end() const { return first + count; }
  bool complete() const { return last; }
  /// Bytes of the first `n` packets.
  std::uint64_t bytes(std::uint64_t n) const {
    if (n == 0) return 0;
    return n < count ? n * kPacketBytes : (n - 1) * kPacketBytes + tail_bytes;
  }
  /// Head of packet `first + i` at this place.
#ifdef __GNUC__
  [[gnu::always_inline]]  // asked for a few times a run
#endif
  Time
  head(std::uint64_t i) const {
    if (rate == nullptr) return origin;
    const Time slot = origin + late + rate->ps(offset + i * kPacketBytes);
    // The slot of a short last packet of a paced run is short as well.
    return late == 0 || i + 1 < count ? slot : std::min(slot, tail(i));
  }
  /// Last byte of packet `first + i` at this place.
  Time tail(std::uint64_t i) const { return rate ? origin + rate->ps(offset + bytes(i + 1)) : origin; }
  /// *this = run, word by word: its members have mostly just been written, and wider loads would have to wait
  /// until they have left the processor's store buffer.
  void copy(const RunSpan& run) {
    static_assert(sizeof(RunSpan) % sizeof(std::uint64_t) == 0);
    for (std::size_t at = 0; at < sizeof(RunSpan); at += sizeof(std::uint64_t)) {
      std::uint64_t word;
      std::memcpy(&word, reinterpret_cast<const char*>(&run) + at, sizeof word);
#ifdef __GNUC__
      asm("" : "+r"(word));  // keeps the compiler from joining words
#endif
      std::memcpy(reinterpret_cast<char*>(this) + at, &word, sizeof word);
    }
  }
  /// Keeps the first `n` packets.
  void shorten(std::uint32_t n) {
    if (n >= count) return;
    count = n;
    tail_bytes = kPacketBytes;
    last = false;
  }
};

/// A run on its way: the payload of the fabric protocol, and a promise: it may be shortened, never moved.
struct Run : RunSpan {
  Flow* flow = nullptr;
  std::uint16_t hop = 0;  ///< index of the link of the flow's path that the run goes over next
  /// More packets than the sender has credits for: answer when the head is here. As a credit: the answer is
  /// still to come.
  bool hopeful = false;
  Lane* lane = nullptr;  ///< a hint, or null: the receiving link's lane

  /// All packets of `message`, ready at its source from `when` on, at the pace of its flow.
  static Run from_source(Message& message, Time when) {
    Run run;
    run.message = &message;
    run.flow = message.flow;
    if (message.flow->pace != nullptr) run.rate = &message.flow->pace->rate;
    run.first = message.first_packet;
    run.origin = when;
    run.count = message.packets;
    run.tail_bytes = static_cast<std::uint16_t>(message.bytes_of(message.end_packet() - 1, 1));
    run.last = true;
    return run;
  }
};

/// Pool of messages; counted to zero at the end of a run.
class MessagePool {
 public:
  Message* acquire() {
    if (free_ == nullptr) grow();
    Message* message = free_;
    free_ = message->next_free;
    ++outstanding_;
    return message;
  }
  void release(Message* message) {
    if (message->data) drop_values(message->data);
    message->windowed = false;
    message->next_free = free_;
    free_ = message;
    --outstanding_;
  }
  std::uint64_t outstanding() const { return outstanding_; }

 private:
  void grow();

  std::vector<std::unique_ptr<Message[]>> blocks_;
  Message* free_ = nullptr;
  std::uint64_t outstanding_ = 0;
};

}  // namespace wafervp
