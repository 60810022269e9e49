// SPDX-License-Identifier: Apache-2.0
#include "packet_loop/packet_loop.h"

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <tuple>

namespace packet_loop {

namespace {

constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};

std::uint32_t index_of(LinkId id) { return static_cast<std::uint32_t>(id); }

}  // namespace

Time serialisation_ps(std::uint64_t bytes, std::uint64_t bytes_per_s) {
  __extension__ using Wide = unsigned __int128;
  const Wide scaled = static_cast<Wide>(bytes) * 1000000000000u + bytes_per_s - 1;
  return static_cast<Time>(scaled / bytes_per_s);
}

std::uint32_t default_buffer_packets(std::uint64_t bytes_per_s, Time latency_ps, Time node_ps) {
  __extension__ using Wide = unsigned __int128;
  const Wide unit = static_cast<Wide>(1000000000000u) * kPacketBytes;
  const Time trip = 2 * latency_ps + node_ps;
  return static_cast<std::uint32_t>((static_cast<Wide>(bytes_per_s) * trip + unit - 1) / unit) + 2;
}

/// A packet as it waits at a link: its head is there at `head`, it may start at `eligible`.
struct Loop::Packet {
  Time head = 0;
  Time eligible = 0;
  std::uint32_t bytes = 0;
  bool last = false;  ///< of its message
};

/// What waits for one link of one flow's path.
struct Loop::Lane {
  std::uint32_t self = 0;
  std::uint32_t flow = 0;
  std::uint32_t hop = 0;
  std::uint32_t wire = 0;
  std::uint32_t level = 0;
  std::deque<Packet> queue;
  std::uint64_t sent = 0;
  std::uint64_t limit = kUnlimited;  ///< packets that credits allow in all
  Stage* stage = nullptr;            ///< the flow starts at this stage and this is its first link
};

struct Loop::Flow {
  std::vector<Lane*> lanes;
  std::uint32_t destination = 0;
  Stage* into = nullptr;       ///< stage at its end
  std::uint32_t leg = 0;       ///< input number there
  std::uint32_t injected = 0;  ///< messages
  std::uint32_t sent = 0;      ///< messages whose last packet is on its last link
  std::vector<Time> delivered;
  std::vector<Time> departed;
};

struct Loop::Stage {
  std::vector<Flow*> inputs;
  std::vector<Lane*> outputs;
  Copies copies;
  struct Arrival {
    Packet packet;
    Time tail;
  };
  std::vector<std::deque<Arrival>> arrived;  ///< by input
  /// Of the packets that have left on some output: on how many, and when the last of them was gone.
  struct Departure {
    std::size_t outputs = 0;
    Time gone = 0;
  };
  std::deque<Departure> departures;
  std::uint64_t first_departure = 0;  ///< packet index of departures.front()
};

struct Loop::Port {
  std::uint32_t key;  ///< 0: sources; else 1 + index of the link that leads to it
  std::vector<Lane*> lanes;
};

struct Loop::Wire {
  Link link;
  std::vector<Port> ports;                        ///< by key
  std::map<std::uint32_t, std::uint32_t> served;  ///< by level: key of the port that was served last
  std::optional<std::uint32_t> configured;        ///< level
  Time configured_at = 0;
  Time free_at = 0;
  Time period_start = 0;  ///< of the busy period
  std::uint64_t period_bytes = 0;
  bool idle_before = true;
  Time woken_for = kNever;  ///< an arbitration is in the queue for this time
};

bool Loop::Event::after(const Event& other) const {
  return std::tie(time, kind, major, minor, message) >
         std::tie(other.time, other.kind, other.major, other.minor, other.message);
}

Loop::Loop() = default;
Loop::~Loop() = default;

LinkId Loop::add_link(std::uint64_t bytes_per_s, Time latency_ps, std::uint32_t buffer_packets,
                      Time node_ps) {
  if (bytes_per_s == 0) throw std::invalid_argument("a link needs a rate");
  auto added = std::make_unique<Wire>();
  added->link = Link{bytes_per_s, latency_ps, node_ps, buffer_packets, 0, 0};
  wires_.push_back(std::move(added));
  return LinkId{static_cast<std::uint32_t>(wires_.size() - 1)};
}

void Loop::set_reconfiguration(LinkId id, Time ps) { wire(id).link.reconfiguration_ps = ps; }

FlowId Loop::add_flow(std::vector<LinkId> path, std::uint32_t destination, std::uint32_t level) {
  if (path.empty()) throw std::invalid_argument("a flow needs a path");
  auto added = std::make_unique<Flow>();
  added->destination = destination;
  for (std::size_t hop = 0; hop < path.size(); ++hop) {
    auto lane = std::make_unique<Lane>();
    lane->self = static_cast<std::uint32_t>(lanes_.size());
    lane->flow = static_cast<std::uint32_t>(flows_.size());
    lane->hop = static_cast<std::uint32_t>(hop);
    lane->wire = index_of(path[hop]);
    lane->level = level;
    Wire& on = wire(path[hop]);
    if (hop + 1 < path.size()) lane->limit = on.link.buffer_packets;
    const std::uint32_t key = hop == 0 ? 0 : 1 + index_of(path[hop - 1]);
    auto port = std::lower_bound(on.ports.begin(), on.ports.end(), key,
                                 [](const Port& p, std::uint32_t k) { return p.key < k; });
    if (port == on.ports.end() || port->key != key) port = on.ports.insert(port, Port{key, {}});
    port->lanes.push_back(lane.get());
    added->lanes.push_back(lane.get());
    lanes_.push_back(std::move(lane));
  }
  flows_.push_back(std::move(added));
  return FlowId{static_cast<std::uint32_t>(flows_.size() - 1)};
}

StageId Loop::add_stage(const std::vector<FlowId>& inputs, const std::vector<FlowId>& outputs,
                        Copies copies) {
  if (inputs.empty() || outputs.empty()) throw std::invalid_argument("a stage needs inputs and outputs");
  auto added = std::make_unique<Stage>();
  added->copies = copies;
  for (const FlowId id : inputs) {
    Flow& leg = flow(id);
    if (leg.into) throw std::invalid_argument("a flow ends at one stage");
    leg.into = added.get();
    leg.leg = static_cast<std::uint32_t>(added->inputs.size());
    Lane& last = *leg.lanes.back();
    last.limit = wires_[last.wire]->link.buffer_packets;
    added->inputs.push_back(&leg);
  }
  for (const FlowId id : outputs) {
    Lane& first = *flow(id).lanes.front();
    if (first.stage) throw std::invalid_argument("a flow starts at one stage");
    first.stage = added.get();
    added->outputs.push_back(&first);
  }
  added->arrived.resize(inputs.size());
  stages_.push_back(std::move(added));
  return StageId{static_cast<std::uint32_t>(stages_.size() - 1)};
}

std::uint32_t Loop::inject(FlowId id, std::uint64_t bytes, Time when) {
  Flow& target = flow(id);
  Lane& lane = *target.lanes.front();
  if (lane.stage) throw std::invalid_argument("a flow that starts at a stage takes no messages");
  if (when < now_) throw std::invalid_argument("a message cannot be injected in the past");
  if (!lane.queue.empty() && lane.queue.back().head > when) {
    throw std::invalid_argument("messages of one flow are injected in order of time");
  }
  std::uint64_t left = bytes;
  do {  // an empty message is one packet without bytes
    const std::uint64_t part = std::min(left, kPacketBytes);
    left -= part;
    push_packet(lane, Packet{when, when, static_cast<std::uint32_t>(part), left == 0});
  } while (left > 0);
  return target.injected++;
}

const std::vector<Time>& Loop::delivered(FlowId id) const { return flow(id).delivered; }
const std::vector<Time>& Loop::departed(FlowId id) const { return flow(id).departed; }
const Link& Loop::link(LinkId id) const { return wire(id).link; }

void Loop::wake(std::uint32_t wire_index, Time when) {
  Wire& woken = *wires_[wire_index];
  if (woken.woken_for == when) return;
  // An earlier wake-up that is forgotten here stays in the queue: it only looks once more than needed.
  woken.woken_for = when;
  events_queue_.push(Event{when, Kind::kArbitrate, wire_index, 0, 0});
}

void Loop::push_packet(Lane& lane, const Packet& packet) {
  lane.queue.push_back(packet);
  ++queued_packets_;
  wake(lane.wire, packet.eligible);
}

void Loop::credit(Lane& lane) {
  ++lane.limit;
  if (lane.stage) {  // the other outputs may have waited for this credit
    for (const Lane* output : lane.stage->outputs) wake(output->wire, now_);
  } else {
    wake(lane.wire, now_);
  }
}

bool Loop::ready(const Lane& lane) const {
  if (lane.queue.empty() || lane.queue.front().eligible > now_) return false;
  if (!lane.stage || lane.stage->copies == Copies::kApart) return lane.sent < lane.limit;
  // A stage sends packet j on any output only when all outputs have a credit for packet j.
  return std::all_of(lane.stage->outputs.begin(), lane.stage->outputs.end(),
                     [&](const Lane* output) { return lane.sent < output->limit; });
}

/// The lowest level that has a ready packet; kNever: none.
std::uint64_t Loop::next_level(const Wire& wire) const {
  std::uint64_t level = kNever;
  for (const Port& port : wire.ports) {
    for (const Lane* lane : port.lanes) {
      if (ready(*lane)) level = std::min<std::uint64_t>(level, lane->level);
    }
  }
  return level;
}

/// Whether the wire's source is configured for the packet that goes next.
bool Loop::configured(Wire& on, std::uint32_t wire_index) {
  const std::uint64_t level = next_level(on);
  if (level == kNever || on.link.reconfiguration_ps == 0) return true;
  if (on.configured != level) {
    const Time kept = on.free_at + on.link.reconfiguration_ps;
    if (on.configured && *on.configured < level && now_ < kept) {
      wake(wire_index, kept);
      return false;
    }
    on.configured_at = on.configured ? now_ + on.link.reconfiguration_ps : now_;
    on.configured = static_cast<std::uint32_t>(level);
    if (on.configured_at > now_) wake(wire_index, on.configured_at);
  }
  return on.configured_at <= now_;
}

Loop::Lane* Loop::choose(Wire& chosen_from) const {
  auto& ports = chosen_from.ports;
  const std::uint64_t level = next_level(chosen_from);
  if (level == kNever) return nullptr;
  const auto oldest = [this, level](const Port& port) {
    Lane* best = nullptr;
    for (Lane* lane : port.lanes) {
      if (lane->level != level || !ready(*lane)) continue;
      if (!best || std::make_tuple(lane->queue.front().head, lane->flow) <
                       std::make_tuple(best->queue.front().head, best->flow)) {
        best = lane;
      }
    }
    return best;
  };
  std::size_t first = 0;
  const auto served = chosen_from.served.find(static_cast<std::uint32_t>(level));
  if (served != chosen_from.served.end()) {
    while (first < ports.size() && ports[first].key <= served->second) ++first;
  }
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const Port& port = ports[(first + i) % ports.size()];
    if (Lane* lane = oldest(port)) {
      chosen_from.served[lane->level] = port.key;
      return lane;
    }
  }
  return nullptr;
}

void Loop::arbitrate(std::uint32_t wire_index) {
  Wire& on = *wires_[wire_index];
  if (on.woken_for == now_) on.woken_for = kNever;
  if (!on.idle_before && on.free_at > now_) return;  // its end wakes it again
  if (!configured(on, wire_index)) return;
  if (Lane* lane = choose(on)) start(on, wire_index, *lane);
}

void Loop::start(Wire& on, std::uint32_t wire_index, Lane& lane) {
  const Packet packet = lane.queue.front();
  lane.queue.pop_front();
  --queued_packets_;
  const std::uint64_t index = lane.sent++;

  if (on.idle_before || on.free_at != now_) {
    on.idle_before = false;
    on.period_start = now_;
    on.period_bytes = 0;
  }
  on.period_bytes += packet.bytes;
  on.link.bytes += packet.bytes;
  const Time end = on.period_start + serialisation_ps(on.period_bytes, on.link.bytes_per_s);
  on.free_at = end;
  wake(wire_index, end);

  // The buffer that the packet came from is free once its tail is on this link.
  if (lane.stage) {
    left_stage(*lane.stage, index, end);
  } else if (lane.hop > 0) {
    const Lane& before = *flows_[lane.flow]->lanes[lane.hop - 1];
    events_queue_.push(Event{end + wires_[before.wire]->link.latency_ps, Kind::kCredit, before.self, 0, 0});
  }

  Flow& of = *flows_[lane.flow];
  if (lane.hop == 0 && packet.last) of.departed.push_back(end);
  const bool ends = lane.hop + 1 == of.lanes.size() && of.into == nullptr;
  const Time behind = on.link.latency_ps + (ends ? 0 : on.link.node_ps);
  const Time head = now_ + behind;
  const Time tail = end + behind;
  if (lane.hop + 1 < of.lanes.size()) {
    Lane& next = *of.lanes[lane.hop + 1];
    const Time ser = serialisation_ps(packet.bytes, wires_[next.wire]->link.bytes_per_s);
    push_packet(next, Packet{head, std::max(head, tail - std::min(ser, tail)), packet.bytes, packet.last});
  } else {
    arrive(of, packet, head, tail);
  }
}

void Loop::arrive(Flow& at_end_of, const Packet& packet, Time head, Time tail) {
  if (at_end_of.into) {
    Packet here = packet;
    here.head = head;
    at_end_of.into->arrived[at_end_of.leg].push_back(Stage::Arrival{here, tail});
    collect(*at_end_of.into);
  } else if (packet.last) {
    events_queue_.push(
        Event{tail, Kind::kDelivery, at_end_of.destination, at_end_of.lanes.back()->flow, at_end_of.sent++});
  }
}

void Loop::collect(Stage& stage) {
  for (const auto& queue : stage.arrived) {
    if (queue.empty()) return;
  }
  const Packet& first = stage.arrived.front().front().packet;
  for (Lane* output : stage.outputs) {
    const Time ser = serialisation_ps(first.bytes, wires_[output->wire]->link.bytes_per_s);
    Packet merged = first;
    merged.eligible = 0;
    for (const auto& queue : stage.arrived) {
      const Stage::Arrival& arrival = queue.front();
      if (arrival.packet.bytes != first.bytes || arrival.packet.last != first.last) {
        throw std::invalid_argument("the inputs of a stage carry different messages");
      }
      merged.head = std::max(merged.head, arrival.packet.head);
      merged.eligible =
          std::max({merged.eligible, arrival.packet.head, arrival.tail - std::min(ser, arrival.tail)});
    }
    push_packet(*output, merged);
  }
  for (auto& queue : stage.arrived) queue.pop_front();
}

void Loop::left_stage(Stage& stage, std::uint64_t index, Time tail_left) {
  const std::size_t place = static_cast<std::size_t>(index - stage.first_departure);
  if (place >= stage.departures.size()) stage.departures.resize(place + 1);
  Stage::Departure& departure = stage.departures[place];
  ++departure.outputs;
  departure.gone = std::max(departure.gone, tail_left);
  // Each output sends in order, so packets complete in order too.
  while (!stage.departures.empty() && stage.departures.front().outputs == stage.outputs.size()) {
    for (const Flow* input : stage.inputs) {
      const Lane& last = *input->lanes.back();
      events_queue_.push(Event{stage.departures.front().gone + wires_[last.wire]->link.latency_ps,
                               Kind::kCredit, last.self, 0, 0});
    }
    stage.departures.pop_front();
    ++stage.first_departure;
  }
}

bool Loop::run() {
  while (!events_queue_.empty()) {
    const Event event = events_queue_.top();
    events_queue_.pop();
    now_ = event.time;
    ++events_;
    switch (event.kind) {
      case Kind::kCredit:
        credit(*lanes_[event.major]);
        break;
      case Kind::kDelivery: {
        Flow& of = *flows_[event.minor];
        of.delivered.push_back(now_);
        if (on_delivered_) on_delivered_(FlowId{event.minor}, event.message, now_);
        break;
      }
      case Kind::kArbitrate:
        arbitrate(event.major);
        break;
    }
  }
  for (const auto& stage : stages_) {
    for (const auto& queue : stage->arrived) {
      if (!queue.empty()) return false;
    }
  }
  return queued_packets_ == 0;
}

}  // namespace packet_loop
