// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <vector>

/// The fabric's law, packet by packet, in plain C++: the reference that the product's engine is held
/// against. It shares no code and no data structure with the product. The law itself is in README.md.
namespace packet_loop {

using Time = std::uint64_t;  ///< ps
inline constexpr Time kNever = ~Time{0};
inline constexpr std::uint64_t kPacketBytes = 4096;

enum class LinkId : std::uint32_t {};
enum class FlowId : std::uint32_t {};
enum class StageId : std::uint32_t {};

struct Link {
  std::uint64_t bytes_per_s = 0;
  Time latency_ps = 0;
  Time node_ps = 0;                  ///< from the link's end to the next queue, or to the stage
  std::uint32_t buffer_packets = 0;  ///< at the receiving end, for each flow
  std::uint64_t bytes = 0;           ///< statistics: carried so far
  Time reconfiguration_ps = 0;       ///< between packets of different levels
};

/// The buffer that the product's scenarios choose when they say none: ceil(rate * (2 * latency + node) /
/// 4096)
/// + 2, where `node_ps` is the latency of the node at the link's end.
std::uint32_t default_buffer_packets(std::uint64_t bytes_per_s, Time latency_ps, Time node_ps = 0);

/// End of the n-th byte of a busy period: ceil(n * 10^12 / rate) ps after its start.
Time serialisation_ps(std::uint64_t bytes, std::uint64_t bytes_per_s);

class Loop {
 public:
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  LinkId add_link(std::uint64_t bytes_per_s, Time latency_ps, std::uint32_t buffer_packets, Time node_ps = 0);
  /// A flow over `path` (not empty). `destination` only orders the deliveries of one time.
  /// A ready packet of a flow of a lower `level` goes before all of higher ones.
  FlowId add_flow(std::vector<LinkId> path, std::uint32_t destination, std::uint32_t level = 0);
  /// What feeds the link takes so long to change from one level to another; a packet of a lower level that is
  /// ready in the meantime begins the change anew. To a higher level it changes when the wire has been free
  /// for as long.
  void set_reconfiguration(LinkId link, Time ps);
  /// A reduction or multicast point: packet j of each of `outputs` is there when packet j of all of
  /// `inputs` is. The inputs end here and the outputs start here; a flow takes part in one stage an end.
  /// With kTogether an output sends packet j only when all have credit for it; with kApart each goes by its
  /// own credit, as in a switch that replicates behind its buffer.
  enum class Copies : std::uint8_t { kTogether, kApart };
  StageId add_stage(const std::vector<FlowId>& inputs, const std::vector<FlowId>& outputs,
                    Copies copies = Copies::kTogether);

  /// A message of `bytes` on `flow`, available at its source at `when` (not before now()). Returns its
  /// number on the flow; messages of one flow are injected in order of time.
  std::uint32_t inject(FlowId flow, std::uint64_t bytes, Time when);

  /// Called at each delivery of a whole message at its sink; it may inject.
  using OnDelivered = std::function<void(FlowId flow, std::uint32_t message, Time now)>;
  void set_on_delivered(OnDelivered on_delivered) { on_delivered_ = std::move(on_delivered); }

  /// Runs until nothing is left. False: packets are left that wait for ever
  /// (for a credit, or for their partners at a stage).
  bool run();
  Time now() const { return now_; }

  /// Delivery of each message of the flow so far: its last byte is at the sink.
  const std::vector<Time>& delivered(FlowId flow) const;
  /// When the last byte of each message was on the flow's first link.
  const std::vector<Time>& departed(FlowId flow) const;
  const Link& link(LinkId id) const;
  std::uint64_t events() const { return events_; }

 private:
  struct Packet;
  struct Stage;
  struct Lane;
  struct Flow;
  struct Port;
  struct Wire;
  enum class Kind : std::uint8_t { kCredit, kDelivery, kArbitrate };
  struct Event {
    Time time;
    Kind kind;  // also the order of work at one time
    std::uint32_t major, minor;
    std::uint32_t message;
    bool after(const Event& other) const;
  };
  struct After {
    bool operator()(const Event& a, const Event& b) const { return a.after(b); }
  };

  Wire& wire(LinkId id) const { return *wires_[static_cast<std::uint32_t>(id)]; }
  Flow& flow(FlowId id) const { return *flows_[static_cast<std::uint32_t>(id)]; }
  void wake(std::uint32_t wire_index, Time when);
  void push_packet(Lane& lane, const Packet& packet);
  void credit(Lane& lane);
  void arbitrate(std::uint32_t wire_index);
  bool ready(const Lane& lane) const;
  Lane* choose(Wire& chosen_from) const;
  std::uint64_t next_level(const Wire& wire) const;
  bool configured(Wire& wire, std::uint32_t wire_index);
  void start(Wire& on, std::uint32_t wire_index, Lane& lane);
  void arrive(Flow& at_end_of, const Packet& packet, Time head, Time tail);
  void collect(Stage& stage);
  void left_stage(Stage& stage, std::uint64_t index, Time tail_left);

  std::vector<std::unique_ptr<Wire>> wires_;
  std::vector<std::unique_ptr<Flow>> flows_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<std::unique_ptr<Stage>> stages_;
  std::priority_queue<Event, std::vector<Event>, After> events_queue_;
  OnDelivered on_delivered_;
  Time now_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t queued_packets_ = 0;
};

}  // namespace packet_loop
