// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm>

#include "core/flow.h"

namespace wafervp {

/// Phases of the fabric protocol.
/// Forward HEAD: a run is on its way. The receiver copies it, or changes it and passes it on. Sent again with
/// the same `first` and a smaller `count`, it shortens the run that the receiver holds (count 0 takes it
/// back). Backward CREDIT: packets of this run leave the receiver's buffer: packet first + i at tail(i) of
/// the run. Sent again with a smaller count, it shortens the promise in the same way.
/// Backward STALL: the receiver promises nothing beyond its credits so far: a run that was started in
/// the hope of more is cut to what is covered.
/// The delay is always zero, a call never blocks, and each answer is TLM_ACCEPTED; what a call causes
/// is posted to the calendar.
/// Backward NACK, for flows of in-network operations only: all packets from run.first on are asked for again
/// at run.origin; who is called sets run.origin to the time when the first of them is here again.
enum class FabricPhase : std::uint8_t { kHead, kCredit, kStall, kNack };

/// Protocol traits of all data-plane sockets (own type: a lean payload, no extensions).
struct FabricProtocol {
  using tlm_payload_type = Run;
  using tlm_phase_type = FabricPhase;
};

using FabricFw = tlm::tlm_fw_nonblocking_transport_if<Run, FabricPhase>;
using FabricBw = tlm::tlm_bw_nonblocking_transport_if<Run, FabricPhase>;

/// Forward and backward interfaces of the fabric sockets: non-blocking transport only.
class FabricFwInterface : public FabricFw {
 public:
  using protocol_types = FabricProtocol;
};
class FabricBwInterface : public FabricBw {
 public:
  using protocol_types = FabricProtocol;
};

using FabricInitiatorSocket = tlm::tlm_base_initiator_socket<32, FabricFwInterface, FabricBwInterface, 1,
                                                             sc_core::SC_ONE_OR_MORE_BOUND>;
using FabricTargetSocket =
    tlm::tlm_base_target_socket<32, FabricFwInterface, FabricBwInterface, 1, sc_core::SC_ONE_OR_MORE_BOUND>;

class FabricNode;

/// A module between two links that only passes calls on. A flow's calls may go straight to what is bound
/// behind it; the interface is the one bound to its socket, so that a monitor there is not passed by.
class FabricRelay {
 public:
  virtual ~FabricRelay() = default;
  /// Where forward calls of `flow`'s hop `hop` go from here, null when they have to pass through.
  virtual FabricFw* next_of(const Flow& flow, std::uint16_t hop) = 0;
  /// Where backward calls of the link at hop `hop` go from here, null when they have to pass through.
  virtual FabricBw* previous_of(const Flow& flow, std::uint16_t hop) = 0;
};

/// A link as the set-up of a flow sees it.
class FabricLink {
 public:
  virtual ~FabricLink() = default;
  /// Makes the queue of `flow` at this link; `hop` is its index in the flow's path, `input` the port by
  /// which the flow enters the node that feeds the link.
  virtual Lane* open(Flow& flow, std::uint16_t hop, unsigned input) = 0;
  /// Node at the far end, and the input port of it that this link is bound to.
  virtual FabricNode& target() = 0;
  virtual unsigned target_input() const = 0;
  virtual const Rate& rate() const = 0;
  virtual Time latency() const = 0;
  virtual std::uint32_t buffer_packets() const = 0;
  /// The source of `lane`, which begins at this link, holds it back: from the next packet boundary on nothing
  /// of it leaves until it lets it go.
  virtual void hold_flow(Lane& lane, bool back) { static_cast<void>(lane), static_cast<void>(back); }
  /// From `from` on an operation has the link for a flow of this class: classes that go behind it wait, until
  /// as many calls as began it have ended it. A link without an order of classes takes no notice.
  virtual void begin_path(std::uint8_t traffic_class, Time from) {
    static_cast<void>(traffic_class), static_cast<void>(from);
  }
  /// That ends when the packets of `lane` below `end_packet` have left.
  virtual void end_path(const Lane& lane, std::uint64_t end_packet) {
    static_cast<void>(lane), static_cast<void>(end_packet);
  }
};

/// A node of the fabric as the set-up of a flow sees it. Flows are opened before their first message,
/// link by link; a node says where the flow leaves it.
class FabricNode {
 public:
  virtual ~FabricNode() = default;
  static constexpr unsigned kEndsHere = ~0u;
  /// Output port of `flow`, which came in by port `input`; kEndsHere at its sink.
  virtual unsigned route(const Flow& flow, unsigned input) = 0;
  /// True where the packets of a flow that ends here are always taken, so that no credits are needed.
  virtual bool consumes(const Flow& flow) const { return static_cast<void>(flow), true; }
  /// ps from the arrival of a head here to that at the queue of the next link.
  virtual Time latency() const { return 0; }
  /// Link at output port `output`.
  virtual FabricLink& output_link(unsigned output) = 0;
};

/// ps from the tail of a packet that leaves `link`'s queue to its credit, if the next one sends it on at
/// once, without the packet's own time there.
inline Time round_trip(FabricLink& link) { return 2 * link.latency() + link.target().latency(); }

}  // namespace wafervp
