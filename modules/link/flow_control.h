// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/ids.h"
#include "core/time.h"

namespace wafervp {

class PathHolders;

inline constexpr std::uint32_t kControlPacketBytes = 512;
/// Data packets of a channel that one acknowledgement stands for (arXiv 2406.19580).
inline constexpr std::uint32_t kPacketsOfAck = 16;

/// Which channel of a link goes first. A channel carries the flows of one traffic class.
struct Preemption {
  /// By traffic class. A packet of a lower level goes before all of a higher one, and takes the link from a
  /// run of a higher one at the next packet boundary. All equal: turns only.
  std::array<std::uint8_t, 4> level{};
  /// ps between two packets of different classes, while the node that feeds the link changes over. It begins
  /// to change to a class of a higher level when none of the lower has come for as long.
  Time reconfiguration = 0;
  /// Of all links of a wafer, which an operation then has for itself together; null: those on its way only.
  std::shared_ptr<PathHolders> holders;

  bool active() const { return level[0] != level[1] || level[0] != level[2] || level[0] != level[3]; }
};

/// Which packets of a link are in error.
struct LinkErrors {
  double bit_error_rate = 0;          ///< probability of a bit, 0 to 1
  std::uint64_t seed = 0;             ///< of this link's draws
  std::vector<std::uint64_t> script;  ///< the n-th packets that it sends, from 1, ascending

  bool active() const { return bit_error_rate > 0 || !script.empty(); }
};

/// Retransmission on one link.
struct GoBackN {
  bool on = false;
  bool charged = false;  ///< acknowledgements take time on the link back (Link::set_reverse)
  LinkErrors errors;
};

/// One packet was in error so often that nothing will come of it.
class DeadLink : public std::runtime_error {
 public:
  DeadLink(LinkId link, const std::string& text) : std::runtime_error(text), link_(link) {}
  LinkId link() const { return link_; }

 private:
  LinkId link_;
};

}  // namespace wafervp
