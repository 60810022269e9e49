// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <systemc>

#include "core/fabric_protocol.h"

namespace wafervp {

/// What each run is counted in.
struct LinkCounts {
  std::uint64_t runs = 0;
  Time busy_ps = 0;     ///< serialising
  Time stalled_ps = 0;  ///< idle while the flow that went next had a packet and no credit
  std::array<std::uint64_t, 4> class_bytes{};    ///< by traffic class
  std::array<std::uint64_t, 4> class_packets{};  ///< by traffic class
};
struct LinkStatistics : LinkCounts {
  std::uint64_t bytes = 0;  ///< payload that was put on the wire and taken
  std::uint64_t packets = 0;
  // With Go-Back-N.
  std::uint64_t errors = 0;          ///< packets that were in error
  std::uint64_t resent_packets = 0;  ///< that were sent and had to be sent again, those in error with them
  std::uint64_t resent_bytes = 0;    ///< payload of those, not in `bytes`
  std::uint64_t ack_bytes = 0;       ///< acknowledgements that the packets have caused on the way back
  std::uint64_t control_bytes = 0;   ///< control packets that were carried, where they take time
};

/// What all links have: one direction, a socket at each end, and a node behind.
class LinkModule : public sc_core::sc_module, public FabricLink {
 public:
  FabricTargetSocket in;
  FabricInitiatorSocket out;

  explicit LinkModule(sc_core::sc_module_name name) : sc_module(name), in("in"), out("out") {}

  /// The node that `out` is bound to, and its input port.
  void set_target(FabricNode& node, unsigned input) {
    target_ = &node;
    target_input_ = input;
  }
  FabricNode& target() override { return *target_; }
  unsigned target_input() const override { return target_input_; }

  virtual LinkStatistics statistics() const = 0;
  /// Packets that wait at this link at `now`, for reports.
  virtual std::uint64_t queued_packets(Time now) const = 0;
  /// Of each packet, beside its payload.
  virtual std::uint32_t header_bytes() const { return 0; }

 private:
  FabricNode* target_ = nullptr;
  unsigned target_input_ = 0;
};

}  // namespace wafervp
