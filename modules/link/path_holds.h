// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/calendar.h"
#include "link/path_holders.h"
#include "link/special.h"

namespace wafervp {

class LinkEngine;
struct Lane;

/// Operations of which flows pass a link, and that have it for themselves: classes of higher levels wait in
/// their channels, between the operations' packets as well.
struct PathHolds final : CalendarEntry {
  static constexpr unsigned kNoLevel = Special::kNoLevel;
  /// A flow's source says that its operation begins to hold, which is known here at `at`.
  struct Begin {
    Time at;
    std::uint8_t level;
  };
  /// It holds no longer than until the flow's packets below `end_packet` have left, which say so.
  struct End {
    const Lane* lane;
    std::uint64_t end_packet;
  };

  PathHolds(LinkEngine& link, std::shared_ptr<PathHolders> of_links, std::size_t levels, std::uint32_t order)
      : CalendarEntry(Stage::kArrival, order),
        engine(link),
        holders(std::move(of_links)),
        interrupted(levels, kNoLevel) {
    holders->join(link);
  }

  LinkEngine& engine;
  std::shared_ptr<PathHolders> holders;
  unsigned above = kNoLevel;          ///< as the link has it from the holders
  std::vector<unsigned> interrupted;  ///< by level: the one that the feeding node was configured for before
  std::vector<Begin> begins;          ///< on their way
  std::vector<End> ends;              ///< on their way

 private:
  void fire(Time now) override;
};

}  // namespace wafervp
