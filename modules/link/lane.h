// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/fabric_protocol.h"
#include "link/run_queue.h"

namespace wafervp {

/// What a link keeps of the next hop's runs, which free its buffer.
struct Credit : RunSpan {
  Time here = 0;  ///< when the credit of the last packet has come back
};

/// The queue of one flow at one link: what has come or is promised, what may leave, what is leaving.
struct alignas(64) Lane {
  // In the order of use, so that a message touches few cache lines.
  /// Where its claim was last seen, while something is promised that has not been sent.
  std::uint32_t claim = kNoClaim;
  std::uint8_t traffic_class = 0;
  bool needs_credit = true;            ///< false where packets are always taken behind the link
  bool paced = false;                  ///< `run` is paced and shares the link
  std::uint64_t next = 0;              ///< first packet that no run of this lane covers
  std::uint64_t covered = 0;           ///< packets below it have a credit at the pace of `run`
  std::uint64_t credit_base = 0;       ///< packets below it have left the next buffer
  FabricFw* next_place = nullptr;      ///< where forward calls go, past modules that only pass them on
  FabricBw* previous_place = nullptr;  ///< where backward calls go
  Flow* flow = nullptr;
  std::uint32_t feed_buffer = 0;  ///< packets that the flow may have in this place; 0: from a source
  std::uint16_t hop = 0;
  bool running = false;      ///< `run` is the link's present run, or a booked one
  bool from_source = false;  ///< the packets come straight from an NPU

  RunSpan run;       ///< last run that was started
  Time run_end = 0;  ///< its last byte; undefined where it has no packets

  RunQueueOf<RunSpan> arrivals;  ///< at this place
  RunQueueOf<Credit> credits;    ///< runs of the next hop

  Time answer_at = kNever;  ///< when the last arrival is here, while it is a hopeful run to be answered
  const Rate* turn_rate = nullptr;  ///< rate of arrivals for which `longest_turn` was found
  Time feed_latency = 0;
  std::uint32_t longest_turn = ~0u;  ///< packets that others may take while this flow's buffer bridges
  FlowId id;                         ///< of the flow
  std::uint16_t input = 0;           ///< port of the feeding node by which the flow comes

  static constexpr std::uint32_t kNoClaim = ~0u;
};

/// What arbitration looks at in each lane that waits, side by side for all of them. They are sorted, and no
/// claim is ready before its age, so that most need not be looked at.
struct Claim {
  Time ready = kNever;  ///< when the next packets may leave, if nobody else wants the link
  Time age = kNever;    ///< arrival of the next packet: the older goes first within a port; kNever as long as
                        ///< it is never ready
  Time answer_at = kNever;  ///< as in the lane
  Lane* lane = nullptr;
  FlowId id;
  std::uint32_t longest_turn = ~0u;  ///< as in the lane
  std::uint32_t serial = 0;          ///< order of claiming, for what is done in that order
  std::uint16_t input = 0;

  /// Order of the claims: by port, and within a port the one that goes first.
  bool operator<(const Claim& other) const {
    if (input != other.input) return input < other.input;
    return age != other.age ? age < other.age : id < other.id;
  }
};

}  // namespace wafervp
