// SPDX-License-Identifier: Apache-2.0
#include "topology/bounds.h"

#include <algorithm>
#include <set>

namespace wafervp {
namespace {

__extension__ using Wide = unsigned __int128;

/// A set of nodes, by what matters: how many members are inside, how many bytes/s go in and out over
/// links that the routes between members use.
struct Part {
  std::uint64_t members = 0;
  std::uint64_t in = 0, out = 0;
};

/// ceil(bytes * 10^12 / rate).
Time duration(Wide bytes, std::uint64_t rate) {
  if (bytes == 0 || rate == 0) return 0;
  const Wide ps = (bytes * kPsPerSecond + rate - 1) / rate;
  return ps >= kNever ? kNever - 1 : static_cast<Time>(ps);
}

/// Bytes that the operation has to move, with n members, a vector of S bytes and shares of S/n. A share
/// may be one element (at most 8 bytes) longer or shorter than S/n, so each formula takes the end that
/// keeps the bound below every algorithm.
class Needs {
 public:
  Needs(Operation operation, std::uint64_t members, std::uint64_t bytes, bool in_network, Sharing sharing)
      : operation_(operation), n_(members), s_(bytes), in_network_(in_network), sharing_(sharing) {
    const std::uint64_t even = bytes / members;
    shortest_share_ = even / 8 * 8;
    longest_share_ = std::min(bytes, (bytes + members * 8 - 1) / (members * 8) * 8);
  }

  /// Bytes that a part with a < n members must send, whoever relays.
  ///  all_reduce      S: its sum reaches the others          reduce_scatter  shares of the others
  ///  all_gather      its own shares                         all_to_all      a (n-a) shares
  Wide out_of(const Part& part) const {
    const Wide inside = part.members, outside = n_ - part.members;
    switch (operation_) {
      case Operation::kAllReduce:
        return s_;
      case Operation::kReduceScatter:
        return outside * shortest_share_;
      case Operation::kAllGather:
        return inside * shortest_share_;
      case Operation::kAllToAll:
        return inside * outside * shortest_share_;
      default:
        return 0;  // broadcast, send: see rooted()
    }
  }
  /// Bytes that the part must receive: what the others must send to it.
  Wide into(const Part& part) const {
    Part others = part;
    others.members = n_ - part.members;
    return out_of(others);
  }
  /// Bytes that one member sends and receives with even shares: all shares but one, twice in an
  /// all_reduce (reduce_scatter, then all_gather). 0 where the fabric sums or copies.
  Wide even_member() const {
    if (sharing_ == Sharing::kAny || in_network_) return 0;
    const Wide rest = s_ - longest_share_;
    switch (operation_) {
      case Operation::kAllReduce:
        return 2 * rest;
      case Operation::kReduceScatter:
      case Operation::kAllGather:
        return rest;
      default:
        return 0;
    }
  }
  /// Bytes that k disjoint parts with all members must receive together where only members add and
  /// copy: each element's sum takes k-1 receptions, and k-1 more bring it to the other parts (Patarasuk
  /// and Yuan, 2009).
  Wide into_all(std::uint64_t k) const {
    switch (operation_) {
      case Operation::kAllReduce:
        return in_network_ ? Wide{0} : Wide{2} * (k - 1) * s_;
      case Operation::kReduceScatter:
        return in_network_ ? Wide{0} : Wide{k - 1} * s_;
      case Operation::kAllGather:
        return Wide{k - 1} * s_;
      default:
        return 0;
    }
  }

 private:
  Operation operation_;
  std::uint64_t n_, s_;
  bool in_network_;
  Sharing sharing_;
  std::uint64_t shortest_share_ = 0, longest_share_ = 0;
};

/// The links that routes between members use (or all links, a looser and cheaper set, for large groups
/// on a ring).
std::vector<std::uint8_t> used_links(const Topology& topology, const std::vector<NpuId>& group) {
  std::vector<std::uint8_t> used(topology.links.size());
  const auto walk = [&](NpuId from, NpuId to) {
    for (NodeId at{from.value}; at.value != to.value;) {
      const LinkId link = next_link(topology, at, to);
      used[link.value] = 1;
      at = topology.link(link).to;
    }
  };
  constexpr std::size_t kSmall = 64;
  if (group.size() <= kSmall || (topology.sites > 1 && group.size() <= 16 * kSmall)) {
    for (const NpuId from : group) {
      for (const NpuId to : group) walk(from, to);
    }
  } else if (topology.sites > 1) {
    std::fill(used.begin(), used.end(), std::uint8_t{1});
  } else if (topology.kind == FabricKind::kMesh2d) {
    // Dimension order: x in the sender's row as far as the outermost columns with members, then y in
    // the receiver's column from the outermost rows.
    const auto place = [&](NpuId npu) { return topology.nodes[npu.value]; };
    std::uint32_t left = ~0u, right = 0, top = ~0u, bottom = 0;
    for (const NpuId npu : group) {
      left = std::min(left, place(npu).x);
      right = std::max(right, place(npu).x);
      top = std::min(top, place(npu).y);
      bottom = std::max(bottom, place(npu).y);
    }
    const auto at = [&](std::uint32_t x, std::uint32_t y) { return NpuId{y * topology.columns + x}; };
    std::vector<std::uint32_t> row_left(topology.rows, ~0u), row_right(topology.rows, 0);
    std::vector<std::uint32_t> column_top(topology.columns, ~0u), column_bottom(topology.columns, 0);
    for (const NpuId npu : group) {
      const NodeSpec node = place(npu);
      row_left[node.y] = std::min(row_left[node.y], node.x);
      row_right[node.y] = std::max(row_right[node.y], node.x);
      column_top[node.x] = std::min(column_top[node.x], node.y);
      column_bottom[node.x] = std::max(column_bottom[node.x], node.y);
    }
    for (std::uint32_t y = 0; y < topology.rows; ++y) {
      if (row_left[y] == ~0u) continue;
      walk(at(row_left[y], y), at(right, y));
      walk(at(row_right[y], y), at(left, y));
    }
    for (std::uint32_t x = 0; x < topology.columns; ++x) {
      if (column_top[x] == ~0u) continue;
      walk(at(x, top), at(x, column_bottom[x]));
      walk(at(x, bottom), at(x, column_top[x]));
    }
  } else if (topology.kind == FabricKind::kRing) {
    std::fill(used.begin(), used.end(), std::uint8_t{1});
  } else {
    for (std::size_t i = 0; i < group.size(); ++i) walk(group[i], group[(i + 1) % group.size()]);
    for (std::size_t i = 0; i < group.size(); ++i) walk(group[i], group.front());
    for (std::size_t i = 0; i < group.size(); ++i) walk(group.front(), group[i]);
  }
  return used;
}

/// What every bound of one call needs.
class Bound {
 public:
  Bound(const Topology& topology, Operation operation, const std::vector<NpuId>& group, std::uint64_t bytes,
        Sharing sharing)
      : topology_(topology),
        operation_(operation),
        group_(group),
        bytes_(bytes),
        needs_(operation, group.size(), bytes, topology.in_network, sharing),
        used_(used_links(topology, group)) {}

  Time all() {
    if (operation_ == Operation::kSend) return send();
    members();
    const auto away = [&](NpuId npu) {
      return topology_.site_of(NodeId(npu.value)) != topology_.site_of(NodeId(group_.front().value));
    };
    if (std::any_of(group_.begin(), group_.end(), away)) {
      site_cuts();
      return bound_;
    }
    switch (topology_.kind) {
      case FabricKind::kMesh2d:
        mesh_cuts();
        break;
      case FabricKind::kRing:
        if (topology_.sites == 1) ring_cuts();
        break;
      case FabricKind::kFred:
        l1_cuts();
        break;
      case FabricKind::kSwitch:
        break;  // every cut of a switch is a set of ports
    }
    return bound_;
  }

 private:
  void raise(Time bound) { bound_ = std::max(bound_, bound); }

  /// One part against the rest of the group.
  void cut(const Part& part) {
    if (part.members == 0 || part.members == group_.size()) return;
    if (operation_ == Operation::kBroadcast) {
      // The root is on one of the sides; the other side takes the vector in once.
      raise(std::min(duration(bytes_, part.in), duration(bytes_, part.out)));
      return;
    }
    raise(duration(needs_.out_of(part), part.out));
    raise(duration(needs_.into(part), part.in));
  }

  /// Disjoint parts that hold all members.
  void partition(const std::vector<Part>& parts) {
    std::uint64_t in = 0, count = 0;
    for (const Part& part : parts) {
      if (part.members == 0) continue;
      cut(part);
      in += part.in;
      ++count;
    }
    if (count > 1) raise(duration(needs_.into_all(count), in));
  }

  /// Each member against the others: the port bound.
  void members() {
    std::vector<Part> parts;
    std::vector<Time> receive;
    for (const NpuId npu : group_) {
      Part part;
      part.members = 1;
      for (const LinkId id : topology_.outputs[npu.value]) {
        if (used_[id.value] != 0) part.out += topology_.link(id).bytes_per_s;
      }
      for (const LinkId id : topology_.inputs[npu.value]) {
        if (used_[id.value] != 0) part.in += topology_.link(id).bytes_per_s;
      }
      raise(duration(needs_.even_member(), part.in));
      raise(duration(needs_.even_member(), part.out));
      receive.push_back(duration(bytes_, part.in));
      parts.push_back(part);
    }
    if (operation_ == Operation::kBroadcast) {
      // All members but the root take the vector in, so at least the second slowest does.
      std::sort(receive.begin(), receive.end());
      raise(receive[receive.size() - 2]);
    }
    partition(parts);
  }

  /// Left of each pair of columns against the right, above each pair of rows against below.
  void mesh_cuts() {
    // Entry i is the cut behind column or row i.
    std::vector<Part> columns(topology_.columns), rows(topology_.rows);
    for (std::uint32_t i = 0; i < topology_.links.size(); ++i) {
      if (used_[i] == 0) continue;
      const LinkSpec& link = topology_.links[i];
      const NodeSpec& from = topology_.nodes[link.from.value];
      const NodeSpec& to = topology_.nodes[link.to.value];
      if (to.x > from.x) columns[from.x].out += link.bytes_per_s;
      if (to.x < from.x) columns[to.x].in += link.bytes_per_s;
      if (to.y > from.y) rows[from.y].out += link.bytes_per_s;
      if (to.y < from.y) rows[to.y].in += link.bytes_per_s;
    }
    for (const NpuId npu : group_) {
      ++columns[topology_.nodes[npu.value].x].members;
      ++rows[topology_.nodes[npu.value].y].members;
    }
    for (std::vector<Part>* line : {&columns, &rows}) {
      std::uint64_t before = 0;
      for (Part& part : *line) {
        part.members = before += part.members;
        cut(part);
      }
    }
  }

  /// Arcs of up to half the ring against the rest.
  void ring_cuts() {
    const std::uint32_t n = topology_.npus;
    constexpr std::uint32_t kAllArcs = 256;  // beyond, only half rings: the work is quadratic
    std::vector<std::uint32_t> member(n);
    for (const NpuId npu : group_) member[npu.value] = 1;
    const auto rate = [&](std::uint32_t from, std::uint32_t to) {
      for (const LinkId id : topology_.outputs[from]) {
        if (topology_.link(id).to.value == to && used_[id.value] != 0) return topology_.link(id).bytes_per_s;
      }
      return std::uint64_t{0};
    };
    std::vector<std::uint64_t> clockwise(n), counter(n);  // across the gap between i-1 and i
    std::vector<std::uint64_t> members_before(2 * n + 1);
    for (std::uint32_t i = 0; i < n; ++i) {
      clockwise[i] = rate((i + n - 1) % n, i);
      counter[i] = n > 2 ? rate(i, (i + n - 1) % n) : 0;
    }
    for (std::uint32_t i = 0; i < 2 * n; ++i) members_before[i + 1] = members_before[i] + member[i % n];
    for (std::uint32_t start = 0; start < n; ++start) {
      for (std::uint32_t length = n <= kAllArcs ? 1 : n / 2; length <= n / 2; ++length) {
        const std::uint32_t end = (start + length) % n;
        Part part;
        part.members = members_before[start + length] - members_before[start];
        part.in = clockwise[start] + counter[end];
        part.out = counter[start] + clockwise[end];
        cut(part);
      }
    }
  }

  /// Each L1 switch with its NPUs against the rest.
  void l1_cuts() {
    std::vector<Part> parts(topology_.rows);
    for (std::uint32_t i = 0; i < topology_.links.size(); ++i) {
      if (used_[i] == 0) continue;
      const LinkSpec& link = topology_.links[i];
      const NodeSpec& from = topology_.nodes[link.from.value];
      const NodeSpec& to = topology_.nodes[link.to.value];
      if (from.kind == NodeKind::kFredL1 && to.kind == NodeKind::kFredUpper) {
        parts[from.y].out += link.bytes_per_s;
      } else if (from.kind == NodeKind::kFredUpper && to.kind == NodeKind::kFredL1) {
        parts[to.y].in += link.bytes_per_s;
      }
    }
    for (const NpuId npu : group_) ++parts[npu.value / topology_.columns].members;
    partition(parts);
  }

  /// Each site against the rest, whose wires count once where links share them.
  void site_cuts() {
    std::vector<Part> parts(topology_.sites);
    std::set<std::uint32_t> wires;
    for (std::uint32_t i = 0; i < topology_.links.size(); ++i) {
      const LinkSpec& link = topology_.links[i];
      if (used_[i] == 0 || !link.between_sites()) continue;
      parts[topology_.site_of(link.from)].out += link.bytes_per_s;
      // Links of one wire may have rates of their own; the fastest is what it can do.
      if (wires.insert(link.wire).second) parts[topology_.site_of(link.to)].in += fastest_of(link.wire);
    }
    for (const NpuId npu : group_) ++parts[topology_.site_of(NodeId(npu.value))].members;
    partition(parts);
  }
  std::uint64_t fastest_of(std::uint32_t wire) const {
    std::uint64_t fastest = 0;
    for (const LinkSpec& link : topology_.links) {
      if (link.wire == wire) fastest = std::max(fastest, link.bytes_per_s);
    }
    return fastest;
  }

  /// One message has one route.
  Time send() const {
    Time slowest = 0;
    for (const LinkId id : route(topology_, group_[0], group_[1])) {
      slowest = std::max(slowest, duration(bytes_, topology_.link(id).bytes_per_s));
    }
    return slowest;
  }

  const Topology& topology_;
  const Operation operation_;
  const std::vector<NpuId>& group_;
  const std::uint64_t bytes_;
  const Needs needs_;
  const std::vector<std::uint8_t> used_;
  Time bound_ = 0;
};

/// Loads and stores: each share over its controller's channel, and all of it into, or out of, each NPU.
Time memory_bound(const Topology& topology, bool load, const std::vector<NpuId>& group, std::uint64_t bytes) {
  std::uint64_t controllers = 0;
  for (const NpuId member : group) controllers += topology.is_io(NodeId(member.value)) ? 1 : 0;
  if (controllers == 0 || controllers == group.size()) return 0;
  const std::uint64_t share = bytes / controllers;
  Time bound = 0;
  for (const NpuId member : group) {
    const bool io = topology.is_io(NodeId(member.value));
    std::uint64_t rate = 0;
    for (const LinkId link : load == io ? topology.outputs[member.value] : topology.inputs[member.value]) {
      rate += topology.link(link).bytes_per_s;
    }
    bound = std::max(bound, duration(io ? share : bytes, rate));
  }
  return bound;
}

}  // namespace

Time lower_bound(const Topology& topology, Operation operation, const std::vector<NpuId>& group,
                 std::uint64_t bytes, Sharing sharing) {
  if (group.size() < 2 || bytes == 0 || operation == Operation::kBarrier) return 0;
  if (operation == Operation::kLoad || operation == Operation::kStore) {
    return memory_bound(topology, operation == Operation::kLoad, group, bytes);
  }
  return Bound(topology, operation, group, bytes, sharing).all();
}

}  // namespace wafervp
