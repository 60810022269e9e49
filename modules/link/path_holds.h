// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/calendar.h"
#include "link/special.h"

namespace wafervp {

class LinkEngine;

/// Operations of which flows pass a link, and that have it for themselves: classes of higher levels wait in
/// their channels, between the operations' packets as well.
struct PathHolds final : CalendarEntry {
  static constexpr unsigned kNoLevel = Special::kNoLevel;
  /// A flow's source says that its operation begins to hold (or ends), which is known here at `at`.
  struct Notice {
    Time at;
    std::uint8_t level;
    bool begins;
  };

  PathHolds(LinkEngine& link, std::size_t levels, std::uint32_t order)
      : CalendarEntry(Stage::kArrival, order), engine(link), holders(levels), interrupted(levels, kNoLevel) {}

  LinkEngine& engine;
  std::vector<int> holders;           ///< flows, by level; an end may be known before a late beginning
  unsigned above = kNoLevel;          ///< higher levels wait
  std::vector<unsigned> interrupted;  ///< by level: the one that the feeding node was configured for before
  std::vector<Notice> notices;        ///< on their way

 private:
  void fire(Time now) override;
};

}  // namespace wafervp
