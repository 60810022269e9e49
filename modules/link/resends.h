// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/calendar.h"
#include "link/control_packets.h"
#include "link/error_process.h"
#include "link/lane.h"

namespace wafervp {

class LinkEngine;
struct LinkConfig;

/// What a link keeps for packets in error, for what it sends in vain behind them, and for what it has to send
/// again because a link behind asks for it.
struct Resends final : CalendarEntry {
  /// Of one flow.
  struct OfLane {
    std::uint64_t in_vain = 0;  ///< packets from the lane's next one on that were sent and will be dropped
    Time held_until = 0;        ///< its next packet is on its way here again
    std::uint64_t owed = 0;     ///< packets that were sent before and go once more
    Time owed_from = 0;
  };
  /// A link behind asks for all packets from `first` on.
  struct Request {
    Time at;
    Lane* lane;
    std::uint64_t first;
  };

  Resends(LinkEngine& link, const LinkConfig& config)
      : CalendarEntry(Stage::kArrival, config.id.value),
        engine(link),
        errors(config.go_back_n.errors),
        header_bytes(config.header_bytes) {}

  const OfLane* find(const Lane& lane) const {
    const auto found = lanes.find(&lane);
    return found == lanes.end() ? nullptr : &found->second;
  }

  LinkEngine& engine;
  ErrorProcess errors;
  std::uint32_t header_bytes;
  std::unique_ptr<ControlPackets> control;  ///< where they take time
  SentSoFar failed;                         ///< packets that were in error
  std::uint64_t again_packets = 0;          ///< that were sent and had to be sent again, as in LinkStatistics
  std::uint64_t again_bytes = 0;
  std::uint32_t in_a_row = 0;           ///< without one between them that was not
  std::array<Time, 4> dropped_until{};  ///< by class: the far end drops all packets of the channel
  std::unordered_map<const Lane*, OfLane> lanes;
  std::vector<Request> requests;

 private:
  void fire(Time now) override;
};

}  // namespace wafervp
