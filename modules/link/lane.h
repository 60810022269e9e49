// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/fabric_protocol.h"
#include "link/claim_list.h"
#include "link/run_queue.h"

namespace wafervp {

/// What a link keeps of the next hop's runs, which free its buffer.
struct Credit : RunSpan {
  Time here = 0;  ///< when the credit of the last packet has come back
};

/// What a lane waits for.
enum class Standing : std::uint8_t {
  kIdle,     ///< nothing is promised that has not been sent
  kBlocked,  ///< the next packet needs a credit that is not promised yet
  kClaims,   ///< it is known when the next packet may leave
};

/// The queue of one flow at one link: what has come or is promised, what may leave, what is leaving.
struct alignas(64) Lane {
  static constexpr std::uint8_t kBySource = 1, kByPath = 2;

  // In the order of use, so that a message touches few cache lines. First what a neighbour's call needs.
  Flow* flow = nullptr;
  std::uint32_t place = 0;  ///< where its claim was last seen, or its place among the blocked lanes
  std::uint16_t hop = 0;
  std::uint16_t input = 0;  ///< port of the feeding node by which the flow comes
  Standing standing = Standing::kIdle;
  std::uint8_t traffic_class = 0;
  bool placed = false;       ///< the places below are known
  bool needs_credit = true;  ///< false where packets are always taken behind the link
  bool running = false;      ///< `run` is the link's present run, or a booked one
  bool paced = false;        ///< `run` is paced and shares the link
  bool from_source = false;  ///< the packets come straight from an NPU
  bool owes_answer = false;  ///< `answer_at` is a time
  std::uint64_t next = 0;    ///< first packet that no run of this lane covers

  RunQueueOf<RunSpan> arrivals;  ///< at this place

  const Rate* turn_rate = nullptr;   ///< rate of arrivals for which `longest_turn` was found
  std::uint32_t feed_buffer = 0;     ///< packets that the flow may have in this place; 0: from a source
  std::uint32_t serial = 0;          ///< order of claiming, for what is done in that order
  ClaimList* claims = nullptr;       ///< of the input port
  FlowId id;                         ///< of the flow
  std::uint32_t longest_turn = ~0u;  ///< packets that others may take while this flow's buffer bridges
  Time age = 0;                      ///< arrival of the next packet, while the lane is blocked
  std::uint64_t credit_base = 0;     ///< packets below it have left the next buffer

  RunQueueOf<Credit> credits;  ///< runs of the next hop

  RunSpan run;       ///< last run that was started
  Time run_end = 0;  ///< its last byte; undefined where it has no packets

  FabricFw* next_place = nullptr;      ///< where forward calls go, past modules that only pass them on
  FabricBw* previous_place = nullptr;  ///< where backward calls go
  Lane* next_lane = nullptr;           ///< of the flow's next link, if there is one
  Lane* previous_lane = nullptr;       ///< of the flow's link before, if there is one
  Time answer_at = kNever;    ///< when the last arrival is here, while it is a hopeful run to be answered
  Time feed_round_trip = 0;   ///< ps that a credit of this place takes, without the packet's own time
  std::uint64_t covered = 0;  ///< packets below it have a credit at the pace of `run`
  std::uint8_t held = 0;      ///< what holds it back: kBySource, kByPath

  /// The lane at link `hop` of the flow that a neighbour tells of.
  static Lane& of(const Run& run, unsigned hop) {
    Lane* lane = run.lane;
    return lane != nullptr && lane->flow == run.flow && lane->hop == hop ? *lane : *run.flow->hops[hop].lane;
  }
};

}  // namespace wafervp
