// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/calendar.h"
#include "link/lane.h"

namespace wafervp {

class LinkEngine;

/// Control packets: those that a link causes on the one back, and those that it carries for that one.
struct ControlPackets final : CalendarEntry {
  /// A run whose 16th, 32nd, ... packet of the channel is acknowledged when it is at the far end.
  struct Acknowledged {
    RunSpan run;
    const Lane* lane;
    std::uint32_t next;  ///< packet of the run with the next acknowledgement
  };

  ControlPackets(LinkEngine& link, std::uint32_t order)
      : CalendarEntry(Stage::kArrival, order), engine(link) {}

  LinkEngine& engine;
  LinkEngine* back = nullptr;  ///< the link the other way
  std::vector<Acknowledged> runs;
  std::vector<Time> negative;  ///< when packets in error are at the far end
  Lane lane;                   ///< of those that this link carries
  std::uint64_t carried_bytes = 0;
  std::uint64_t waiting = 0;
  Time waiting_from = 0;

 private:
  void fire(Time now) override;
};

}  // namespace wafervp
