// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/time.h"

namespace wafervp {

class LinkEngine;

/// Links in a row that one flow has for itself. Each does what the first one does, by the latencies between
/// them later, so that runs are booked on the first one only. That takes credits that are never missed: see
/// LinkEngine::admit().
struct BookedPath {
  std::vector<LinkEngine*> links;
  Time latency = 0;  ///< of all links
  Time keep =
      0;  ///< after its end on the first link a run has ended on all of them, and its credits are back
  /// While a packet waits for its credit, `window` packets may pass; they may be short by `spare_bytes`.
  std::uint32_t window = 0;
  std::uint64_t spare_bytes = 0;
  std::uint64_t missing_bytes = 0;  ///< by which the last packets are short
};

}  // namespace wafervp
