// SPDX-License-Identifier: Apache-2.0
#include "workload/spanning_trees.h"

#include <algorithm>
#include <limits>

namespace wafervp {
namespace {

constexpr std::size_t kMostTrees = 8;
constexpr double kWorthAnotherTree = 1.02;
// Looks at an edge in a sweep over all trees; beyond this the greedy start has to do.
constexpr std::size_t kMostLooks = 1'000'000;
constexpr unsigned kMostSweeps = 30;

struct Edge {
  std::uint32_t a, b;
  std::vector<std::uint32_t> links;  // of both ways
};

/// A group's members and the pairs of them between which no third member lies.
struct Graph {
  std::uint32_t members = 0;
  std::vector<Edge> edges;
  std::vector<std::vector<std::uint32_t>> edges_of;
};

using Tree = std::vector<std::uint32_t>;  // edges

Graph graph_of(const Topology& topology, const std::vector<NpuId>& group) {
  Graph graph;
  graph.members = static_cast<std::uint32_t>(group.size());
  graph.edges_of.resize(group.size());
  std::vector<std::uint8_t> is_member(topology.nodes.size());
  for (const NpuId npu : group) is_member[npu.value] = 1;
  for (std::uint32_t a = 0; a < group.size(); ++a) {
    for (std::uint32_t b = a + 1; b < group.size(); ++b) {
      Edge edge{a, b, {}};
      bool is_direct = true;
      const auto walk = [&](NpuId from, NpuId to) {
        for (NodeId at{from.value}; at.value != to.value && is_direct;) {
          const LinkId link = next_link(topology, at, to);
          edge.links.push_back(link.value);
          at = topology.link(link).to;
          if (at.value != to.value && is_member[at.value]) is_direct = false;
        }
      };
      walk(group[a], group[b]);
      if (is_direct) walk(group[b], group[a]);
      if (!is_direct) continue;
      graph.edges_of[a].push_back(static_cast<std::uint32_t>(graph.edges.size()));
      graph.edges_of[b].push_back(static_cast<std::uint32_t>(graph.edges.size()));
      graph.edges.push_back(std::move(edge));
    }
  }
  return graph;
}

/// Uses of each link by all trees of all groups, in time: slow links count more.
class Loads {
 public:
  explicit Loads(const Topology& topology) : use_(topology.links.size()), weight_(topology.links.size()) {
    std::uint64_t fastest = 1;
    for (const auto& link : topology.links) fastest = std::max(fastest, link.bytes_per_s);
    for (std::size_t i = 0; i < weight_.size(); ++i) {
      weight_[i] = static_cast<double>(fastest) / static_cast<double>(topology.links[i].bytes_per_s);
    }
    fastest_ = fastest;
  }

  void add(const Edge& edge, double times = 1) {
    for (const std::uint32_t link : edge.links) use_[link] += times * weight_[link];
  }
  double worst(const Edge& edge) const {
    double worst = 0;
    for (const std::uint32_t link : edge.links) worst = std::max(worst, use_[link]);
    return worst;
  }
  /// What one more use of the edge adds to the sum of high powers of all loads, which is small when the
  /// largest one is.
  double cost(const Edge& edge) const {
    double cost = 0;
    for (const std::uint32_t link : edge.links) cost += power(use_[link] + weight_[link]) - power(use_[link]);
    return cost;
  }
  std::uint64_t fastest() const { return fastest_; }

 private:
  static double power(double x) {
    x *= x;  // 2
    x *= x;  // 4
    return x * x;
  }
  std::vector<double> use_, weight_;
  std::uint64_t fastest_;
};

/// Prim's algorithm; of equally good edges the one that hangs the new member higher.
Tree cheapest_tree(const Graph& graph, const Loads& loads, std::uint32_t start) {
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> depth(graph.members), best(graph.members, kNone);
  std::vector<std::uint32_t> above(graph.members);
  std::vector<double> cost(graph.members, 0);
  std::vector<std::uint8_t> inside(graph.members);
  Tree tree;
  std::uint32_t at = start;
  inside[at] = 1;
  while (tree.size() + 1 < graph.members) {
    for (const std::uint32_t e : graph.edges_of[at]) {
      const Edge& edge = graph.edges[e];
      const std::uint32_t other = edge.a == at ? edge.b : edge.a;
      if (inside[other]) continue;
      const double price = loads.cost(edge);
      if (best[other] != kNone &&
          (price > cost[other] || (price == cost[other] && depth[at] >= above[other])))
        continue;
      best[other] = e;
      cost[other] = price;
      above[other] = depth[at];
    }
    std::uint32_t next = kNone;
    for (std::uint32_t m = 0; m < graph.members; ++m) {
      if (inside[m] || best[m] == kNone) continue;
      if (next == kNone || cost[m] < cost[next] || (cost[m] == cost[next] && above[m] < above[next]))
        next = m;
    }
    tree.push_back(best[next]);
    depth[next] = above[next] + 1;
    inside[next] = 1;
    at = next;
  }
  return tree;
}

/// Members on the side of `from` when edge `without` is taken out.
std::vector<std::uint8_t> side_of(const Graph& graph, const Tree& tree, std::size_t without) {
  std::vector<std::vector<std::uint32_t>> neighbours(graph.members);
  for (std::size_t i = 0; i < tree.size(); ++i) {
    if (i == without) continue;
    const Edge& edge = graph.edges[tree[i]];
    neighbours[edge.a].push_back(edge.b);
    neighbours[edge.b].push_back(edge.a);
  }
  std::vector<std::uint8_t> side(graph.members);
  std::vector<std::uint32_t> open{graph.edges[tree[without]].a};
  side[open[0]] = 1;
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    for (const std::uint32_t other : neighbours[at]) {
      if (side[other]) continue;
      side[other] = 1;
      open.push_back(other);
    }
  }
  return side;
}

/// Exchanges single edges as long as that makes the loads more even; true if one was.
bool improve(const Graph& graph, Tree& tree, Loads& loads) {
  bool changed = false;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const std::vector<std::uint8_t> side = side_of(graph, tree, i);
    loads.add(graph.edges[tree[i]], -1);
    std::uint32_t best = tree[i];
    double cost = loads.cost(graph.edges[best]) * (1 - 1e-9);
    for (std::uint32_t e = 0; e < graph.edges.size(); ++e) {
      if (side[graph.edges[e].a] == side[graph.edges[e].b]) continue;
      const double price = loads.cost(graph.edges[e]);
      if (price < cost) {
        best = e;
        cost = price;
      }
    }
    changed = changed || best != tree[i];
    tree[i] = best;
    loads.add(graph.edges[best]);
  }
  return changed;
}

/// Hangs the tree up where it is least deep.
void root(const Graph& graph, const Tree& tree, SpanningTrees& result) {
  std::vector<std::vector<std::uint32_t>> neighbours(graph.members);
  for (const std::uint32_t e : tree) {
    neighbours[graph.edges[e].a].push_back(graph.edges[e].b);
    neighbours[graph.edges[e].b].push_back(graph.edges[e].a);
  }
  std::vector<std::uint32_t> parents(graph.members), depth(graph.members), order;
  const auto hang = [&](std::uint32_t top) {
    order.assign(1, top);
    parents[top] = top;
    depth[top] = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (const std::uint32_t other : neighbours[order[i]]) {
        if (other == parents[order[i]]) continue;
        parents[other] = order[i];
        depth[other] = depth[order[i]] + 1;
        order.push_back(other);
      }
    }
    return order.back();  // the deepest, or one of them
  };
  // The middle of a longest path.
  std::uint32_t middle = hang(hang(0));
  const std::uint32_t length = depth[middle];
  for (std::uint32_t i = 0; i < length / 2; ++i) middle = parents[middle];
  result.depth = std::max(result.depth, depth[hang(middle)]);
  result.parents.push_back(parents);
}

struct Packing {
  std::vector<std::vector<Tree>> trees;  // by group
  double worst = 0;                      // load of the most loaded link, by tree
  std::vector<double> worst_of;          // of each group's links
};

Packing pack(const Topology& topology, const std::vector<Graph>& graphs, std::size_t count) {
  Loads loads(topology);
  Packing packing;
  packing.trees.resize(graphs.size());
  std::size_t looks = 0;
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t g = 0; g < graphs.size(); ++g) {
      const std::uint32_t start = static_cast<std::uint32_t>((k + 1) * graphs[g].members / (count + 1));
      packing.trees[g].push_back(cheapest_tree(graphs[g], loads, start));
      for (const std::uint32_t e : packing.trees[g].back()) loads.add(graphs[g].edges[e]);
      looks += graphs[g].edges.size() * graphs[g].members;
    }
  }
  bool changed = looks <= kMostLooks;
  for (unsigned sweep = 0; changed && sweep < kMostSweeps; ++sweep) {
    changed = false;
    for (std::size_t g = 0; g < graphs.size(); ++g) {
      for (Tree& tree : packing.trees[g]) changed = improve(graphs[g], tree, loads) || changed;
    }
  }
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    double worst = 0;
    for (const Tree& tree : packing.trees[g]) {
      for (const std::uint32_t e : tree) worst = std::max(worst, loads.worst(graphs[g].edges[e]));
    }
    packing.worst_of.push_back(worst / static_cast<double>(count));
    packing.worst = std::max(packing.worst, packing.worst_of.back());
  }
  return packing;
}

}  // namespace

std::vector<SpanningTrees> spanning_trees(const Topology& topology,
                                          const std::vector<std::vector<NpuId>>& groups) {
  std::vector<Graph> graphs;
  for (const auto& group : groups) graphs.push_back(graph_of(topology, group));
  if (graphs.empty()) return {};
  Packing best = pack(topology, graphs, 1);
  for (std::size_t count = 2; count <= kMostTrees; ++count) {
    Packing packing = pack(topology, graphs, count);
    if (packing.worst * kWorthAnotherTree < best.worst) best = std::move(packing);
  }
  const double fastest = static_cast<double>(Loads(topology).fastest());
  std::vector<SpanningTrees> result(groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const Tree& tree : best.trees[g]) root(graphs[g], tree, result[g]);
    if (best.worst_of[g] > 0) {
      result[g].rate =
          std::max<std::uint64_t>(static_cast<std::uint64_t>(fastest / best.worst_of[g] / 1e6), 1);
    }
  }
  return result;
}

std::vector<std::uint32_t> tree_links(const SpanningTrees& trees, std::uint32_t index) {
  std::vector<std::uint32_t> links(trees.parents.size());
  for (std::size_t t = 0; t < trees.parents.size(); ++t) {
    const std::vector<std::uint32_t>& parents = trees.parents[t];
    links[t] = static_cast<std::uint32_t>(links.size());
    links.push_back(parents[index]);
    const std::size_t count = links.size();
    links.push_back(0);
    for (std::uint32_t member = 0; member < parents.size(); ++member) {
      if (parents[member] != index || member == index) continue;
      links.push_back(member);
      ++links[count];
    }
  }
  return links;
}

}  // namespace wafervp
