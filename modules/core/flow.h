// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/ids.h"
#include "core/rate.h"
#include "core/time.h"

namespace wafervp {

class FabricLink;
struct Lane;

/// Values of a message, shared by all that hold it (multicast clones share one buffer).
using Bytes = std::shared_ptr<std::vector<std::byte>>;

/// One flow: a stream of packets from one source to one sink over a fixed path, in order. A tree
/// (multicast, reduction) is made of several flows, each from one switch stage to the next.
struct Flow {
  /// One link of the path. The lane is the flow's queue at that link.
  struct Hop {
    FabricLink* link;
    Lane* lane;
    std::uint16_t output;  ///< output port of the node that feeds the link
  };
  FlowId id;
  NpuId source;       ///< sending NPU; invalid for the inner parts of a tree
  NpuId destination;  ///< receiving NPU; invalid for the inner parts of a tree
  std::uint32_t group = 0;  ///< handle of the in-network flow that it belongs to, 0: unicast
  std::uint8_t traffic_class = 0;
  boost::container::small_vector<Hop, 2> hops;
  std::uint64_t next_packet = 0;  ///< index that the next message's first packet gets
};

/// One message in flight. Packets are numbered along the flow; the last one may be shorter.
struct Message {
  Flow* flow = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t first_packet = 0;
  std::uint32_t packets = 0;
  NpuId source;
  std::uint64_t tag = 0;
  std::uint8_t dtype = 0;
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
};

/// A run: consecutive packets of one message that pass one place at the rate of the link they came
/// over. It is the payload of the fabric protocol and a promise: it may be shortened, never moved.
/// Packet `first + i` begins to pass at origin + rate.ps(offset + i * 4096); a run without a rate (from
/// a source) passes all at once.
struct Run {
  Message* message = nullptr;
  Flow* flow = nullptr;
  const Rate* rate = nullptr;
  std::uint64_t first = 0;
  std::uint64_t offset = 0;  ///< bytes of the busy period before the run
  Time origin = 0;           ///< start of the busy period, shifted to this place
  std::uint32_t count = 0;
  std::uint16_t hop = 0;  ///< index of the link of the flow's path that the run goes over next

  std::uint64_t end() const { return first + count; }
  bool complete() const { return end() == message->end_packet(); }
  /// Head of packet `first + i` at this place.
  Time head(std::uint64_t i) const { return rate ? origin + rate->ps(offset + i * kPacketBytes) : origin; }
  /// Last byte of packet `first + i` at this place.
  Time tail(std::uint64_t i) const {
    if (!rate) return origin;
    return origin + rate->ps(offset + message->bytes_of(first, static_cast<std::uint32_t>(i + 1)));
  }
};

/// Pool of messages; counted to zero at the end of a run.
class MessagePool {
 public:
  Message* acquire();
  void release(Message* message);
  std::uint64_t outstanding() const { return outstanding_; }

 private:
  std::vector<std::unique_ptr<Message[]>> blocks_;
  Message* free_ = nullptr;
  std::uint64_t outstanding_ = 0;
};

}  // namespace wafervp
