// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "core/time.h"

namespace wafervp {

/// Which channel of a link goes first. A channel carries the flows of one traffic class.
struct Preemption {
  /// By traffic class. A packet of a lower level goes before all of a higher one, and takes the link from a run
  /// of a higher one at the next packet boundary. All equal: turns only.
  std::array<std::uint8_t, 4> level{};
  /// ps between two packets of different classes, while the node that feeds the link changes over. It begins to
  /// change to a class of a higher level when none of the lower has come for as long.
  Time reconfiguration = 0;

  bool active() const {
    return level[0] != level[1] || level[0] != level[2] || level[0] != level[3];
  }
};

}  // namespace wafervp
