// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/time.h"
#include "link/flow_control.h"

namespace wafervp {

/// What only some links have: levels, retransmission, headers. A plain link does not pay for them.
struct Special {
  /// Where the turns among the ports of a level stand, while another level goes.
  struct Turns {
    std::uint16_t port = 0;
    unsigned last_port = ~0u;
    std::uint64_t before = 0, left = 0, last = 0;
  };
  static constexpr unsigned kNoLevel = ~0u;

  Preemption preemption;
  GoBackN go_back_n;
  std::uint32_t header_bytes = 0;

  std::vector<Turns> turns;              ///< by level, with pre-emption
  unsigned turns_level = 0;              ///< whose turns are the present ones
  unsigned configured_level = kNoLevel;  ///< of the class that the feeding node is configured for
  Time configured_at = 0;                ///< from when on it is
};

}  // namespace wafervp
