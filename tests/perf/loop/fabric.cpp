// SPDX-License-Identifier: Apache-2.0
#include "loop/fabric.h"

#include <algorithm>
#include <numeric>

namespace perf_loop {

namespace {
constexpr std::uint64_t kPsPerSecond = 1'000'000'000'000;
}

Rate::Rate(std::uint64_t bytes_per_s)
    : bytes_per_s_(bytes_per_s),
      num_(kPsPerSecond / std::gcd(kPsPerSecond, bytes_per_s)),
      den_(bytes_per_s / std::gcd(kPsPerSecond, bytes_per_s)) {}

std::uint32_t Fabric::add_link(std::uint64_t bytes_per_s, Time latency_ps) {
  const auto round_trip = static_cast<double>(bytes_per_s) * 2 * static_cast<double>(latency_ps) / 1e12;
  const auto packets = static_cast<std::uint32_t>((round_trip + kPacketBytes - 1) / kPacketBytes);
  links_.emplace_back(bytes_per_s, latency_ps, packets + 2);
  return static_cast<std::uint32_t>(links_.size() - 1);
}

std::uint32_t Fabric::add_flow(const std::vector<std::uint32_t>& path, std::uint32_t source,
                               std::uint32_t destination) {
  Flow& flow = flows_.emplace_back();
  flow.number = static_cast<std::uint32_t>(flows_.size() - 1);
  flow.source = source;
  flow.destination = destination;
  flow.hops = static_cast<std::uint32_t>(path.size());
  std::vector<Lane>& lanes = lanes_.emplace_back(path.size());
  flow.lanes = lanes.data();
  for (std::size_t hop = 0; hop < path.size(); ++hop) {
    Lane& lane = lanes[hop];
    Link& link = links_[path[hop]];
    lane.link = &link;
    lane.flow = &flow;
    lane.before = hop == 0 ? nullptr : &lanes[hop - 1];
    lane.after = hop + 1 == path.size() ? nullptr : &lanes[hop + 1];
    lane.unlimited = lane.after == nullptr;
    lane.credits = link.buffer_packets;
    const std::uint32_t key = hop == 0 ? 0 : 1 + path[hop - 1];
    const auto found = std::find_if(link.ports.begin(), link.ports.end(),
                                    [key](const Port& port) { return port.key == key; });
    lane.port = static_cast<std::uint32_t>(found - link.ports.begin());
    if (found == link.ports.end()) {
      link.ports.emplace_back();
      link.ports.back().key = key;
    }
    ++link.lanes;
  }
  return flow.number;
}

void Fabric::finish() {
  for (Flow& flow : flows_) {
    flow.whole = true;
    for (std::uint32_t hop = 0; hop < flow.hops; ++hop) {
      const Link& link = *flow.lanes[hop].link;
      if (link.lanes > 1) flow.whole = false;
      if (hop > 0 && link.rate.bytes_per_s() < flow.lanes[hop - 1].link->rate.bytes_per_s())
        flow.whole = false;
    }
  }
}

Message& Fabric::acquire() {
  if (!free_) return messages_.emplace_back();
  Message& message = *free_;
  free_ = message.next_free;
  return message;
}

void Fabric::inject(std::uint32_t number, std::uint64_t bytes, std::uint32_t tag, Time when) {
  Flow& flow = flows_[number];
  Message& message = acquire();
  message.flow = &flow;
  message.bytes = bytes;
  message.packets = bytes == 0 ? 1 : static_cast<std::uint32_t>((bytes + kPacketBytes - 1) / kPacketBytes);
  message.tag = tag;
  Lane& lane = flow.lanes[0];
  if (flow.whole) {
    message.hop = 0;
    start_whole(message, *lane.link, when);
    return;
  }
  if (lane.trains.empty()) lane.link->ports[lane.port].active.push_back(&lane);
  lane.trains.push(Train{&message, 0, message.packets, when, 0});
  wake(*lane.link, when);
}

/// A run of the whole message starts as soon as the link is free: nobody else is on it.
void Fabric::start_whole(Message& message, Link& link, Time ready) {
  const Time start = std::max(ready, link.free_at);
  const Time end = link.occupy(start, message.bytes);
  ++runs_;
  if (message.hop > 0) {
    // Packet j had its credit in time if packet j - buffer had left this far: the first decides at one pace.
    const Link& before = *message.flow->lanes[message.hop - 1].link;
    const Time credit = start + link.packet_ps + before.latency;
    if (message.packets > before.buffer_packets &&
        credit > message.started + before.buffer_packets * before.packet_ps + before.packet_ps) {
      ++credit_misses_;
    }
  }
  message.started = start;
  message.tail = end + link.latency;
  if (++message.hop == message.flow->hops) {
    message.stage = kCompletion;
    calendar_.schedule(message, message.tail);
  } else {
    message.stage = kArrival;
    calendar_.schedule(message, start + link.latency);
  }
}

void Fabric::pass_whole(Message& message) {
  Link& link = *message.flow->lanes[message.hop].link;
  const Time unbroken = message.tail - std::min(message.tail, link.rate.ps(message.bytes));
  start_whole(message, link, std::max(calendar_.now(), unbroken));
}

void Fabric::wake(Link& link, Time when) {
  when = std::max(when, link.free_at);
  if (link.time <= when) return;
  calendar_.schedule(link, when);
}

/// The oldest lane of the port that may send now; otherwise lowers `earliest` to when one may.
Lane* Fabric::oldest_ready(Port& port, Time& earliest) {
  const Time now = calendar_.now();
  Lane* best = nullptr;
  for (Lane* lane : port.active) {
    const Time head = lane->trains.front().head;
    if (head > now) {
      earliest = std::min(earliest, head);
      continue;
    }
    if (!lane->unlimited) {
      while (!lane->promised.empty() && lane->promised.front().when <= now) {
        lane->credits += lane->promised.front().count;
        lane->promised.pop();
      }
      if (lane->credits == 0) {
        if (!lane->promised.empty()) earliest = std::min(earliest, lane->promised.front().when);
        continue;
      }
    }
    if (port.key == 0) return lane;  // in order of injection already
    if (!best || head < best->trains.front().head) best = lane;
  }
  return best;
}

void Fabric::arbitrate(Link& link) {
  Time earliest = kNever;
  const std::size_t ports = link.ports.size();
  // A turn goes on over the flows of its port until its packets are used up, or the port has none ready.
  std::size_t at = link.turn;
  if (link.turn_left == 0) at = at + 1 == ports ? 0 : at + 1;
  for (std::size_t i = 0; i < ports; ++i) {
    Port& port = link.ports[at];
    if (!port.active.empty()) {
      if (Lane* lane = oldest_ready(port, earliest)) {
        if (at != link.turn || link.turn_left == 0) {
          link.turn = at;
          link.turn_left = kTrain;
        }
        send(link, port, *lane);
        return;
      }
    }
    at = at + 1 == ports ? 0 : at + 1;
  }
  if (earliest != kNever) wake(link, earliest);
}

/// Takes up to `limit` packets of one message that follow each other without a gap at `packet_ps`.
std::uint32_t Fabric::take(Lane& lane, std::uint32_t limit, Time packet_ps) {
  const Message* message = lane.trains.front().message;
  std::uint32_t count = 0;
  while (count < limit && !lane.trains.empty()) {
    Train& train = lane.trains.front();
    if (train.message != message || train.head > calendar_.now() + count * packet_ps) break;
    // Packets that come slower than they would leave are left for later turns, save the first.
    const std::uint32_t part = train.spacing > packet_ps ? 1 : std::min(limit - count, train.count);
    count += part;
    train.first += part;
    train.count -= part;
    train.head += part * train.spacing;
    if (train.count == 0) lane.trains.pop();
  }
  return count;
}

void Fabric::send(Link& link, Port& port, Lane& lane) {
  const Time now = calendar_.now();
  Message& message = *lane.trains.front().message;
  const std::uint32_t first = lane.trains.front().first;
  const std::uint32_t limit = lane.unlimited ? link.turn_left : std::min(link.turn_left, lane.credits);
  const std::uint32_t count = take(lane, limit, link.packet_ps);
  link.turn_left -= count;
  if (lane.trains.empty()) port.active.erase(std::find(port.active.begin(), port.active.end(), &lane));
  const bool last = first + count == message.packets;
  const std::uint64_t bytes =
      last ? message.bytes - std::uint64_t{first} * kPacketBytes : count * kPacketBytes;
  const Time end = link.occupy(now, bytes);
  ++runs_;

  if (!lane.unlimited) lane.credits -= count;
  if (lane.before) {
    // Credits come back in the pace of this link; a faster link before waits so that it can use all of them.
    Lane& before = *lane.before;
    const Link& behind = *before.link;
    const Time lag =
        link.packet_ps > behind.packet_ps ? (count - 1) * (link.packet_ps - behind.packet_ps) : 0;
    const Time when = now + std::min(link.packet_ps, end - now) + lag + behind.latency;
    before.promised.push(Credits{when, count});
    if (!before.trains.empty()) wake(*before.link, std::max(when, before.trains.front().head));
  }
  if (lane.after) {
    Lane& after = *lane.after;
    if (after.trains.empty()) after.link->ports[after.port].active.push_back(&after);
    Time head = now + link.latency;
    if (link.packet_ps > after.link->packet_ps) head += link.packet_ps - after.link->packet_ps;
    after.trains.push(Train{&message, first, count, head, link.packet_ps});
    wake(*after.link, head);
  } else if (last) {
    message.stage = kCompletion;
    calendar_.schedule(message, end + link.latency);
  }
  // Somebody may wait for the link's end.
  for (const Port& waiting : link.ports) {
    if (!waiting.active.empty()) {
      wake(link, end);
      break;
    }
  }
}

}  // namespace perf_loop
