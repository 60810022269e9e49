// SPDX-License-Identifier: Apache-2.0
#include "workload/communicators.h"

#include <algorithm>
#include <cmath>

#include "topology/fred_tree.h"
#include "workload/errors.h"

namespace wafervp {
namespace {

using Rings = std::vector<std::vector<NpuId>>;

template <class Visit>
void for_each_edge(const std::vector<NpuId>& ring, Visit visit) {
  if (ring.size() < 2) return;
  for (std::size_t i = 0; i < ring.size(); ++i) visit(ring[i], ring[(i + 1) % ring.size()]);
}

template <class Visit>
void for_each_link(const Topology& topology, NpuId from, NpuId to, Visit visit) {
  for (NodeId at{from.value}; at.value != to.value;) {
    const LinkId link = next_link(topology, at, to);
    visit(link);
    at = topology.link(link).to;
  }
}

/// Latency of the longest edge of a ring.
Time ring_latency(const Topology& topology, const std::vector<NpuId>& ring) {
  Time longest = 0;
  for_each_edge(ring, [&](NpuId from, NpuId to) {
    Time sum = 0;
    for_each_link(topology, from, to, [&](LinkId link) {
      sum += topology.link(link).latency_ps;
      if (topology.link(link).to.value >= topology.npus) sum += topology.switch_latency_ps;
    });
    longest = std::max(longest, sum);
  });
  return longest;
}

/// Messages between neighbours of rings that are sent at the same time.
class RingLoads {
 public:
  explicit RingLoads(const Topology& topology) : topology_(topology), edges_(topology.links.size()) {}

  void add(const std::vector<NpuId>& ring) {
    for_each_edge(ring, [&](NpuId from, NpuId to) {
      for_each_link(topology_, from, to, [&](LinkId link) { ++edges_[link.value]; });
    });
  }
  /// Bytes per microsecond that the slowest edge of the ring gets when its links are shared evenly.
  std::uint64_t rate(const std::vector<NpuId>& ring) const {
    std::uint64_t slowest = 0;
    for_each_edge(ring, [&](NpuId from, NpuId to) {
      for_each_link(topology_, from, to, [&](LinkId link) {
        const std::uint64_t share = topology_.link(link).bytes_per_s / edges_[link.value];
        if (slowest == 0 || share < slowest) slowest = std::max<std::uint64_t>(share, 1);
      });
    });
    return per_microsecond(slowest);
  }
  static std::uint64_t per_microsecond(std::uint64_t bytes_per_s) {
    return bytes_per_s == 0 ? 0 : std::max<std::uint64_t>(bytes_per_s / 1'000'000, 1);
  }

 private:
  const Topology& topology_;
  std::vector<std::uint64_t> edges_;
};

/// Rings inside x (one a row), or inside y (one a column).
Rings rings_in_x(const Communicator& c) {
  Rings rings(c.dim_y);
  for (std::uint32_t y = 0; y < c.dim_y; ++y) {
    for (std::uint32_t x = 0; x < c.dim_x; ++x) rings[y].push_back(c.members[y * c.dim_x + x]);
  }
  return rings;
}
Rings rings_in_y(const Communicator& c) {
  Rings rings(c.dim_x);
  for (std::uint32_t x = 0; x < c.dim_x; ++x) {
    for (std::uint32_t y = 0; y < c.dim_y; ++y) rings[x].push_back(c.members[y * c.dim_x + x]);
  }
  return rings;
}

/// Gives each communicator of a family the rate of its slowest ring among those that `rings` makes.
template <class MakeRings>
void measure(const Topology& topology, std::vector<Communicator>& family, std::uint64_t Communicator::*rate,
             MakeRings make_rings) {
  RingLoads loads(topology);
  for (const Communicator& c : family) {
    for (const auto& ring : make_rings(c)) loads.add(ring);
  }
  for (Communicator& c : family) {
    for (const auto& ring : make_rings(c)) {
      const std::uint64_t measured = loads.rate(ring);
      if (c.*rate == 0 || measured < c.*rate) c.*rate = measured;
    }
  }
}

/// Half of the data goes each way round, so that a link takes half of each ring that crosses it.
void measure_both_ways(const Topology& topology, std::vector<Communicator>& family) {
  measure(topology, family, &Communicator::both_rate, [](const Communicator& c) {
    return Rings{c.members, {c.members.rbegin(), c.members.rend()}};
  });
  for (Communicator& c : family) c.both_rate *= 2;
}

void add_trees(const Topology& topology, std::vector<Communicator>& family) {
  std::vector<std::vector<NpuId>> groups;
  for (const Communicator& c : family) {
    if (c.members.size() > 1) groups.push_back(c.members);
  }
  std::vector<SpanningTrees> trees = spanning_trees(topology, groups);
  std::size_t next = 0;
  for (Communicator& c : family) {
    if (c.members.size() > 1) c.trees = std::move(trees[next++]);
  }
}

/// An in-network flow runs at the slowest port of its members, or its share of an uplink that flows of
/// several groups cross.
void measure_flows(const Topology& topology, std::vector<Communicator>& family) {
  const FredTree tree(topology);
  std::vector<std::uint64_t> crossing(topology.nodes.size());  // groups that leave a switch upwards
  std::vector<std::vector<NodeId>> left(family.size());        // the switches that a group leaves so
  for (std::size_t i = 0; i < family.size(); ++i) {
    std::vector<NodeId> switches;
    const std::uint32_t first = topology.fred_levels.front().first;
    for (const NpuId npu : family[i].members) {
      switches.emplace_back(first + tree.l1_of(NodeId(npu.value)));
    }
    const auto unify = [&] {
      std::sort(switches.begin(), switches.end());
      switches.erase(std::unique(switches.begin(), switches.end()), switches.end());
    };
    for (unify(); switches.size() > 1; unify()) {
      for (NodeId& node : switches) {
        left[i].push_back(node);
        ++crossing[node.value];
        node = topology.link(topology.outputs[node.value][tree.up_port(node)]).to;
      }
    }
  }
  for (std::size_t i = 0; i < family.size(); ++i) {
    std::uint64_t slowest = 0;
    const auto pass = [&](LinkId link, std::uint64_t sharers) {
      const std::uint64_t share = topology.link(link).bytes_per_s / sharers;
      if (slowest == 0 || share < slowest) slowest = share;
    };
    for (const NpuId npu : family[i].members) {
      pass(topology.outputs[npu.value][0], 1);
      pass(topology.inputs[npu.value][0], 1);
    }
    for (const NodeId node : left[i]) {
      const unsigned up = tree.up_port(node);
      pass(topology.outputs[node.value][up], crossing[node.value]);
      pass(topology.inputs[node.value][up], crossing[node.value]);
    }
    family[i].flow_rate = RingLoads::per_microsecond(slowest);
  }
}

}  // namespace

namespace {

const char* kind_word(TrafficKind kind) {
  switch (kind) {
    case TrafficKind::kMp:
      return "mp";
    case TrafficKind::kDp:
      return "dp";
    case TrafficKind::kPp:
      return "pp";
    case TrafficKind::kInputLoad:
      return "input";
    case TrafficKind::kWeightStreaming:
      break;
  }
  return "streaming";
}

}  // namespace

/// x inside a site and y across them: as many members of each of several sites, one site after the other.
Grid grid_of_sites(const Topology& topology, const std::vector<NpuId>& members) {
  const auto site = [&](std::size_t i) { return topology.site_of(NodeId(members[i].value)); };
  std::uint32_t columns = 0;
  while (columns < members.size() && site(columns) == site(0)) ++columns;
  if (columns < 2 || columns == members.size() || members.size() % columns != 0) return {};
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (site(i) != site(i / columns * columns)) return {};
    if (i % columns == 0 && i > 0 && site(i) <= site(i - 1)) return {};
  }
  return {columns, static_cast<std::uint32_t>(members.size() / columns)};
}

Grid grid_of(const Topology& topology, const std::vector<NpuId>& members) {
  if (topology.sites > 1) {
    const Grid grid = grid_of_sites(topology, members);
    if (grid.columns != 0) return grid;
    if (topology.site_of(NodeId(members.front().value)) != topology.site_of(NodeId(members.back().value)))
      return {};
  }
  if (topology.kind != FabricKind::kMesh2d && topology.kind != FabricKind::kFred) return {};
  const auto place = [&](std::size_t i) { return topology.nodes[members[i].value]; };
  std::uint32_t columns = 0;
  while (columns < members.size() && place(columns).y == place(0).y) ++columns;
  if (columns < 2 || columns == members.size() || members.size() % columns != 0) return {};
  for (std::size_t i = 0; i < members.size(); ++i) {
    const NodeSpec node = place(i);
    const std::size_t row = i / columns, column = i % columns;
    if (node.y != place(row * columns).y) return {};
    if (topology.kind == FabricKind::kMesh2d && node.x != place(column).x) return {};
    if (column > 0 && node.x <= place(i - 1).x) return {};
    if (row > 0 && node.y <= place(i - columns).y) return {};
  }
  return {columns, static_cast<std::uint32_t>(members.size() / columns)};
}

std::uint32_t balanced_x_first_share(Grid grid, std::uint64_t x_rate, std::uint64_t y_rate) {
  // A ring of a members in rank order on a line without wraparound puts one message on each link of
  // each direction (the wrap message takes the whole way back), so a link carries what an edge does:
  // 2(a-1)/a of the data for reduce-scatter and all-gather. Of S bytes, a share f goes x first: all of
  // it over x, then 1/a of it over y; the rest goes y first. With a columns and b rows
  //   X = 2(a-1)/a * (f + (1-f)/b) S      Y = 2(b-1)/b * (f/a + (1-f)) S
  // X grows with f and Y falls, so the larger of X/x_rate and Y/y_rate is least where they meet. 5x4:
  // X = (0.4 + 1.2 f) S, Y = (1.5 - 1.2 f) S, f = 11/24 for equal rates.
  const double a = grid.columns, b = grid.rows;
  const double x = 2 * (a - 1) / a / static_cast<double>(x_rate);
  const double y = 2 * (b - 1) / b / static_cast<double>(y_rate);
  const double f = (y - x / b) / (x * (1 - 1 / b) + y * (1 - 1 / a));
  return static_cast<std::uint32_t>(std::lround(std::min(std::max(f, 0.0), 1.0) * 65536));
}

void CommunicatorSet::check_room(std::size_t groups) const {
  // 0xffff is the firmware's mark of messages between two ranks.
  constexpr std::size_t kMostCommunicators = 0xffff;
  if (communicators_.size() + groups <= kMostCommunicators) return;
  refuse("/workload/parallelism", "expected at most " + std::to_string(kMostCommunicators) +
                                      " groups that communicate, found " +
                                      std::to_string(communicators_.size() + groups));
}

std::uint16_t CommunicatorSet::add_memory(const std::vector<GroupName>& groups, std::uint64_t pace) {
  check_room(groups.size());
  const std::size_t first = communicators_.size();
  ++families_;
  for (const GroupName& group : groups) {
    Communicator c;
    c.name = group.name;
    c.kind = TrafficKind::kWeightStreaming;
    c.family = families_;
    c.phase = kind_word(c.kind);
    c.tensor = WVP_TENSOR_STREAM;
    c.io_controllers = static_cast<std::uint32_t>(topology_.io.size());
    for (std::uint32_t k = 0; k < c.io_controllers; ++k) c.members.emplace_back(topology_.npus + k);
    c.members.insert(c.members.end(), group.members.begin(), group.members.end());
    c.pace = pace;
    communicators_.push_back(std::move(c));
  }
  return static_cast<std::uint16_t>(first);
}

std::uint16_t CommunicatorSet::add(TrafficKind kind, const std::vector<GroupName>& groups,
                                   Algorithm algorithm, const std::string& phase, wvp_tensor tensor) {
  check_room(groups.size());
  ++families_;
  std::vector<Communicator> family;
  for (const GroupName& group : groups) {
    Communicator c;
    c.name = group.name;
    c.kind = kind;
    c.family = families_;
    c.phase = phase.empty() ? kind_word(kind) : phase;
    c.tensor = tensor;
    c.members = group.members;
    const Grid grid = grid_of(topology_, group.members);
    c.dim_x = grid.columns;
    c.dim_y = grid.rows;
    family.push_back(std::move(c));
  }
  measure(topology_, family, &Communicator::ring_rate,
          [](const Communicator& c) { return Rings{c.members}; });
  measure(topology_, family, &Communicator::x_rate, rings_in_x);
  measure(topology_, family, &Communicator::y_rate, rings_in_y);
  if (topology_.in_network) measure_flows(topology_, family);
  if (algorithm == Algorithm::kBest) measure_both_ways(topology_, family);
  if (algorithm == Algorithm::kBest || algorithm == Algorithm::kTree) add_trees(topology_, family);
  for (Communicator& c : family) {
    c.hop_latency_ps = ring_latency(topology_, c.members);
    if ((topology_.kind == FabricKind::kMesh2d || topology_.sites > 1) && c.dim_x != 0) {
      c.x_first_share =
          firmware_.x_first_share >= 0
              ? static_cast<std::uint32_t>(std::lround(std::min(firmware_.x_first_share, 1.0) * 65536))
              : balanced_x_first_share({c.dim_x, c.dim_y}, c.x_rate, c.y_rate);
    }
  }
  const std::size_t first = communicators_.size();
  std::move(family.begin(), family.end(), std::back_inserter(communicators_));
  return static_cast<std::uint16_t>(first);
}

}  // namespace wafervp
