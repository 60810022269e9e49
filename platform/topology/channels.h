// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topology/topology.h"

namespace wafervp {

/// Virtual channels of a link, as far as they hold packets apart from each other.
enum class VirtualChannel : std::uint8_t {
  kData,              ///< messages between NPUs, and the trees of FRED switches
  kBehindDateline,    ///< on a ring, of messages that have passed between the last NPU and the first
  kRowFirstLoads,     ///< I/O trees of the left and right side of a mesh, or of FRED
  kColumnFirstLoads,  ///< those of top and bottom
  kRowFirstStores,
  kColumnFirstStores
};
constexpr std::size_t kVirtualChannels = 6;

struct LinkChannel {
  LinkId link;
  VirtualChannel channel;
  friend bool operator==(const LinkChannel& a, const LinkChannel& b) {
    return a.link == b.link && a.channel == b.channel;
  }
};

/// A channel-dependency graph (Dally and Seitz 1987): who holds a buffer of one channel may wait for one of
/// another.
class ChannelDependencies {
 public:
  explicit ChannelDependencies(const Topology& topology)
      : topology_(topology), waits_for_(topology.links.size() * kVirtualChannels) {}

  void add(const LinkChannel& holds, const LinkChannel& wants);
  /// Channels that wait for each other in a circle, in order; empty when there is none.
  std::vector<LinkChannel> find_cycle() const;

 private:
  static std::size_t index(const LinkChannel& at) {
    return at.link.value * kVirtualChannels + static_cast<std::size_t>(at.channel);
  }

  const Topology& topology_;
  std::vector<std::vector<std::uint32_t>> waits_for_;
};

/// All that the fabric carries: messages between all pairs of NPUs, in-network collectives, loads and stores
/// of all I/O controllers, with their forks and merges.
ChannelDependencies dependencies_of(const Topology& topology, IoChannels io_channels);

/// "x0y0->x1y0 (row-first loads), ..., x0y0->x1y0", shortened.
std::string cycle_text(const Topology& topology, const std::vector<LinkChannel>& cycle);

}  // namespace wafervp
