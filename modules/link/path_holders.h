// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/time.h"

namespace wafervp {

class LinkEngine;

/// How many flows of operations pass, by level, and which links those operations hold: the one that is
/// passed, or all of a wafer.
class PathHolders {
 public:
  static constexpr unsigned kNoLevel = ~0u;

  void join(LinkEngine& link) { links_.push_back(&link); }
  /// Flows of higher levels wait.
  unsigned above() const { return above_; }
  /// To be settled by tell(). An end may be known before a late beginning, so that there may be less than
  /// none.
  void add(std::uint8_t level, int flows) {
    if (level >= flows_.size()) flows_.resize(level + 1u);
    flows_[level] += flows;
  }
  /// Tells the links where another level is the lowest now.
  void tell(Time now);

 private:
  std::vector<int> flows_;
  std::vector<LinkEngine*> links_;
  unsigned above_ = kNoLevel;
};

}  // namespace wafervp
