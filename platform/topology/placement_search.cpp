// SPDX-License-Identifier: Apache-2.0
#include "topology/placement_search.h"

#include <algorithm>

#include "core/split_mix.h"

namespace wafervp {
namespace {

/// A message between two ranks that a dimension's collectives send again and again.
enum EdgeClass : std::uint8_t { kMpEdge, kDpEdge, kForwardEdge, kBackwardEdge, kEdgeClasses };
struct Edge {
  std::uint32_t from, to;  // ranks
  EdgeClass kind;
};

Placement identity(std::uint32_t ranks) {
  Placement placement;
  for (std::uint32_t r = 0; r < ranks; ++r) placement.npu_of_rank.push_back(NpuId{r});
  return placement;
}

/// Edges between ranks: rank-order rings of MP and DP, relay chains of PP. Groups of more than
/// `largest_ring` members give no ring.
std::vector<Edge> ring_edges(const ParallelismSpec& p, std::size_t largest_ring) {
  std::vector<Edge> edges;
  // On the identity placement NPU numbers are ranks.
  const Placement ranks = identity(p.mp * p.dp * p.pp);
  const auto add_rings = [&](GroupKind kind, EdgeClass edge_class) {
    for (const auto& group : groups(p, ranks, kind)) {
      if (group.size() < 2 || group.size() > largest_ring) continue;
      for (std::size_t i = 0; i < group.size(); ++i) {
        edges.push_back({group[i].value, group[(i + 1) % group.size()].value, edge_class});
      }
    }
  };
  add_rings(GroupKind::kMp, kMpEdge);
  add_rings(GroupKind::kDp, kDpEdge);
  for (const StageTransfer& transfer : stage_transfers(p, ranks)) {
    const EdgeClass edge_class = transfer.from_stage < transfer.to_stage ? kForwardEdge : kBackwardEdge;
    for (std::size_t i = 1; i < transfer.chain.size(); ++i) {
      edges.push_back({transfer.chain[i - 1].value, transfer.chain[i].value, edge_class});
    }
  }
  return edges;
}

/// Edges on each link, by class.
class LinkLoads {
 public:
  explicit LinkLoads(const Topology& topology)
      : topology_(topology), loads_(topology.links.size() * kEdgeClasses), total_(topology.links.size()) {}

  /// Sum over links and classes of the squared number of edges beyond the first: 0 when every
  /// dimension is free of contention.
  std::uint64_t excess() const { return excess_; }
  /// Sum over links of the squared number of edges of all classes: grows with long ways and with
  /// dimensions that meet on a link.
  std::uint64_t spread() const { return spread_; }

  void add(NpuId from, NpuId to, EdgeClass kind) {
    walk(from, to, [&](LinkId link) {
      const std::uint64_t before = loads_[link.value * kEdgeClasses + kind]++;
      excess_ += before * before - (before == 0 ? 0 : (before - 1) * (before - 1));
      spread_ += 2 * total_[link.value]++ + 1;
    });
  }
  void remove(NpuId from, NpuId to, EdgeClass kind) {
    walk(from, to, [&](LinkId link) {
      const std::uint64_t after = --loads_[link.value * kEdgeClasses + kind];
      excess_ -= after * after - (after == 0 ? 0 : (after - 1) * (after - 1));
      spread_ -= 2 * --total_[link.value] + 1;
    });
  }
  std::uint32_t worst(EdgeClass kind) const {
    std::uint32_t most = 0;
    for (std::size_t i = kind; i < loads_.size(); i += kEdgeClasses) most = std::max(most, loads_[i]);
    return most;
  }

 private:
  template <class Visit>
  void walk(NpuId from, NpuId to, Visit visit) const {
    for (NodeId at{from.value}; at.value != to.value;) {
      const LinkId link = next_link(topology_, at, to);
      visit(link);
      at = topology_.link(link).to;
    }
  }

  const Topology& topology_;
  std::vector<std::uint32_t> loads_;
  std::vector<std::uint64_t> total_;
  std::uint64_t excess_ = 0, spread_ = 0;
};

/// A placement under change: who sits where, and the loads that follow.
class Search {
 public:
  Search(const Topology& topology, const ParallelismSpec& p)
      : edges_(ring_edges(p, topology.npus - 1)),
        ranks_(p.mp * p.dp * p.pp),
        loads_(topology),
        seat_(topology.npus),
        rank_at_(topology.npus),
        incident_(topology.npus) {
    // Empty NPUs are ranks without edges, so that a swap needs no special case.
    for (std::uint32_t n = 0; n < topology.npus; ++n) {
      seat_[n] = NpuId{n};
      rank_at_[n] = n;
    }
    for (std::uint32_t e = 0; e < edges_.size(); ++e) {
      const Edge& edge = edges_[e];
      loads_.add(seat_[edge.from], seat_[edge.to], edge.kind);
      incident_[edge.from].push_back(e);
      incident_[edge.to].push_back(e);
    }
  }

  /// Contention inside a dimension first; among equals shorter ways that meet less.
  struct Cost {
    std::uint64_t excess, spread;
    /// One number, so that the walk may trade one for the other.
    std::uint64_t blended() const { return excess * 16 + spread; }
    friend bool operator<(const Cost& a, const Cost& b) {
      return a.excess != b.excess ? a.excess < b.excess : a.spread < b.spread;
    }
  };
  Cost cost() const { return {loads_.excess(), loads_.spread()}; }
  std::vector<NpuId> placement() const { return {seat_.begin(), seat_.begin() + ranks_}; }
  std::uint32_t ranks() const { return ranks_; }

  void swap(std::uint32_t rank, NpuId with) {
    const std::uint32_t other = rank_at_[with.value];
    if (other == rank) return;
    lift(rank, other, false);
    std::swap(seat_[rank], seat_[other]);
    rank_at_[seat_[rank].value] = rank;
    rank_at_[seat_[other].value] = other;
    lift(rank, other, true);
  }
  NpuId seat(std::uint32_t rank) const { return seat_[rank]; }

 private:
  void lift(std::uint32_t rank, std::uint32_t other, bool put) {
    const auto apply = [&](const Edge& edge) {
      if (put) {
        loads_.add(seat_[edge.from], seat_[edge.to], edge.kind);
      } else {
        loads_.remove(seat_[edge.from], seat_[edge.to], edge.kind);
      }
    };
    for (const std::uint32_t e : incident_[rank]) apply(edges_[e]);
    for (const std::uint32_t e : incident_[other]) {
      if (edges_[e].from != rank && edges_[e].to != rank) apply(edges_[e]);
    }
  }

  std::vector<Edge> edges_;
  std::uint32_t ranks_;
  LinkLoads loads_;
  std::vector<NpuId> seat_;             // of each rank
  std::vector<std::uint32_t> rank_at_;  // each NPU
  std::vector<std::vector<std::uint32_t>> incident_;
};

}  // namespace

std::array<std::uint32_t, 3> worst_link_rings(const Topology& topology, const ParallelismSpec& p,
                                              const Placement& placement) {
  LinkLoads loads(topology);
  for (const Edge& edge : ring_edges(p, placement.npu_of_rank.size())) {
    loads.add(placement.npu_of_rank[edge.from], placement.npu_of_rank[edge.to], edge.kind);
  }
  return {loads.worst(kMpEdge), std::max(loads.worst(kForwardEdge), loads.worst(kBackwardEdge)),
          loads.worst(kDpEdge)};
}

std::vector<NpuId> search_placement(const Topology& topology, const ParallelismSpec& p, std::uint64_t seed,
                                    std::uint32_t iterations) {
  Search search(topology, p);
  SplitMix random(seed);
  std::vector<NpuId> best = search.placement();
  Search::Cost best_cost = search.cost();
  if (best_cost.excess == 0) return best;  // row order is the easiest to read
  std::uint64_t cost = best_cost.blended();
  // Threshold accepting (Dueck and Scheuer, 1990): a swap may cost up to a threshold that falls to
  // nothing, several times over.
  constexpr std::uint64_t kFirstThreshold = 40;
  constexpr std::uint32_t kRounds = 4;
  const std::uint32_t round = std::max<std::uint32_t>(iterations / kRounds, 1);
  for (std::uint32_t i = 0; i < iterations; ++i) {
    const std::uint64_t threshold = kFirstThreshold * (round - i % round) / round;
    const std::uint32_t rank = random.below(search.ranks());
    const NpuId from = search.seat(rank);
    const NpuId to{random.below(topology.npus)};
    search.swap(rank, to);
    const Search::Cost changed = search.cost();
    if (changed.blended() > cost + threshold) {
      search.swap(rank, from);
      continue;
    }
    cost = changed.blended();
    if (changed < best_cost) {
      best_cost = changed;
      best = search.placement();
    }
  }
  return best;
}

}  // namespace wafervp
