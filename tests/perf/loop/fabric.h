// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "loop/calendar.h"
#include "loop/ring_queue.h"

namespace perf_loop {

inline constexpr std::uint64_t kPacketBytes = 4096;

/// ps per byte as a reduced fraction, so that a busy period's n-th byte ends at ceil(n * 10^12 / rate).
class Rate {
 public:
  explicit Rate(std::uint64_t bytes_per_s);
  Time ps(std::uint64_t bytes) const { return (bytes * num_ + den_ - 1) / den_; }
  std::uint64_t bytes_per_s() const { return bytes_per_s_; }

 private:
  std::uint64_t bytes_per_s_, num_, den_;
};

struct Lane;
struct Flow;

/// A message is its own calendar node: as the run of a whole message, and for its delivery.
struct Message : Event {
  Flow* flow = nullptr;
  std::uint64_t bytes = 0;
  std::uint32_t packets = 0;
  std::uint32_t hop = 0;    ///< of the run that is on its way
  Time head = 0, tail = 0;  ///< of that run at the far end of the link before
  Time started = 0;         ///< of that run on the link before
  std::uint32_t tag = 0;
  Message* next_free = nullptr;
};

/// Packets of one message that wait, or are promised, at one link.
struct Train {
  Message* message;
  std::uint32_t first, count;
  Time head;     ///< of the first packet
  Time spacing;  ///< of the link that they come over, 0 at a source
};
/// A promise of credits: `count` packets may go at link rate from `when` on.
struct Credits {
  Time when;
  std::uint32_t count;
};

struct Port {
  std::uint32_t key = 0;      ///< 0: sources; else 1 + link that leads here
  std::vector<Lane*> active;  ///< lanes with trains; of a source in order of injection
};

struct Link : Event {
  explicit Link(std::uint64_t bytes_per_s, Time latency_ps, std::uint32_t buffer)
      : rate(bytes_per_s), latency(latency_ps), packet_ps(rate.ps(kPacketBytes)), buffer_packets(buffer) {
    stage = kArbitration;
  }
  Rate rate;
  Time latency;
  Time packet_ps;
  std::uint32_t buffer_packets;
  std::uint32_t lanes = 0;
  Time free_at = 0, period_start = 0;
  std::uint64_t period_bytes = 0;
  std::vector<Port> ports;
  std::size_t turn = 0;         ///< port whose turn it is
  std::uint32_t turn_left = 0;  ///< packets of it
  std::uint64_t bytes = 0;

  /// Puts `count` bytes on the wire at `start`; returns their end.
  Time occupy(Time start, std::uint64_t count) {
    if (start != free_at || period_bytes > (std::uint64_t{1} << 22)) {
      period_start = start;
      period_bytes = 0;
    }
    period_bytes += count;
    bytes += count;
    return free_at = period_start + rate.ps(period_bytes);
  }
};

struct Lane {
  Link* link = nullptr;
  Flow* flow = nullptr;
  Lane* before = nullptr;
  Lane* after = nullptr;
  std::uint32_t port = 0;
  bool unlimited = false;  ///< the next buffer is the sink's
  std::uint32_t credits = 0;
  RingQueue<Credits> promised;
  RingQueue<Train> trains;
};

struct Flow {
  std::uint32_t number = 0, source = 0, destination = 0;
  std::uint32_t hops = 0;
  bool whole = false;  ///< no other flow on its links: messages go as one run
  Lane* lanes = nullptr;
};

/// Links with credits for each flow and hop. A flow that is alone on all its links sends each message as one
/// run: one event a hop. Other flows send trains of up to `kTrain` packets, round robin over input ports,
/// with turns that belong to the port; arrivals and credits are promises without events of their own.
class Fabric {
 public:
  static constexpr std::uint32_t kTrain = 4;

  std::uint32_t add_link(std::uint64_t bytes_per_s, Time latency_ps);
  std::uint32_t add_flow(const std::vector<std::uint32_t>& path, std::uint32_t source,
                         std::uint32_t destination);
  /// After the last flow, before the first message.
  void finish();

  /// `when` >= calendar's now; messages of one flow in order of time.
  void inject(std::uint32_t flow, std::uint64_t bytes, std::uint32_t tag, Time when);

  /// Runs to the end; on_delivered(message) may inject.
  template <class OnDelivered>
  void run(OnDelivered&& on_delivered) {
    calendar_.run([&](Event& event) {
      switch (event.stage) {
        case kArrival:
          pass_whole(static_cast<Message&>(event));
          break;
        case kCompletion: {
          Message& message = static_cast<Message&>(event);
          on_delivered(message);
          message.next_free = free_;
          free_ = &message;
          break;
        }
        case kArbitration:
          arbitrate(static_cast<Link&>(event));
          break;
      }
    });
  }

  Time now() const { return calendar_.now(); }
  std::uint64_t runs() const { return runs_; }
  std::uint64_t events() const { return calendar_.executed(); }
  /// Whole runs that would have had to wait for a credit: must be 0.
  std::uint64_t credit_misses() const { return credit_misses_; }

 private:
  Message& acquire();
  void start_whole(Message& message, Link& link, Time ready);
  void pass_whole(Message& message);
  void wake(Link& link, Time when);
  void arbitrate(Link& link);
  Lane* oldest_ready(Port& port, Time& earliest);
  std::uint32_t take(Lane& lane, std::uint32_t limit, Time packet_ps);
  void send(Link& link, Port& port, Lane& lane);

  Calendar calendar_;
  std::deque<Link> links_;
  std::deque<Flow> flows_;
  std::deque<std::vector<Lane>> lanes_;
  std::deque<Message> messages_;
  Message* free_ = nullptr;
  std::uint64_t runs_ = 0, credit_misses_ = 0;
};

}  // namespace perf_loop
