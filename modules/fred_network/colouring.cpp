// SPDX-License-Identifier: Apache-2.0
#include "fred_network/colouring.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/connected_components.hpp>
#include <iterator>

namespace wafervp {
namespace {

using ConflictGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS>;

constexpr unsigned kNoColour = ~0u;

/// Adds an edge for each pair of flows that have a port in the same μswitch of level `level`: it joins the
/// outer ports that agree in all but the lowest level + 1 bits. The last port of an odd network has no
/// partner, and so no second flow there.
void add_edges(std::vector<bool>& edges, const std::vector<FredFlow>& flows, unsigned level,
               std::vector<unsigned> FredFlow::*side) {
  std::vector<FlowSet> users;
  for (std::size_t f = 0; f < flows.size(); ++f) {
    for (const unsigned port : flows[f].*side) {
      const unsigned part = port >> (level + 1);
      if (users.size() <= part) users.resize(part + 1);
      if (users[part].empty() || users[part].back() != f) users[part].push_back(f);
    }
  }
  for (const FlowSet& sharing : users) {
    for (const std::size_t a : sharing) {
      for (const std::size_t b : sharing) {
        if (a != b) edges[a * flows.size() + b] = true;
      }
    }
  }
}

}  // namespace

/// Colours the nodes of one network, and its middle networks where `deep`.
class FlowColouring::Search {
 public:
  enum class Depth { kThisLevel, kAllLevels };
  Search(FlowColouring& owner, unsigned level, const FlowSet& set, const ConflictGraph& graph, Depth depth)
      : owner_(owner),
        level_(level),
        set_(set),
        graph_(graph),
        deep_(depth == Depth::kAllLevels),
        colour_(set.size(), kNoColour),
        colour_of_flow_(owner.flows_, kNoColour),
        taken_(set.size() * owner.colours_, 0),
        saturation_(set.size(), 0) {}

  bool run() { return extend(0, 0); }

 private:
  bool extend(std::size_t done, unsigned used) {
    if (done == set_.size()) return !deep_ || inner();
    const std::size_t node = next();
    for (unsigned c = 0; c < std::min(owner_.colours_, used + 1); ++c) {
      if (taken_[node * owner_.colours_ + c] != 0) continue;
      if (++owner_.tried_ > owner_.limit_) return false;
      give(node, c);
      if ((!deep_ || !hopeless(set_[node])) && extend(done + 1, std::max(used, c + 1))) return true;
      take_back(node);
      // What was learnt meanwhile may rule out what came before this node.
      if (owner_.out_of_budget() || (deep_ && hopeless())) return false;
    }
    return false;
  }

  /// The uncoloured node with the fewest colours left; of equal ones the one with most neighbours, then the
  /// first.
  std::size_t next() const {
    std::size_t best = set_.size();
    for (std::size_t node = 0; node < set_.size(); ++node) {
      if (colour_[node] != kNoColour) continue;
      if (best == set_.size() || saturation_[node] > saturation_[best] ||
          (saturation_[node] == saturation_[best] && degree(node) > degree(best))) {
        best = node;
      }
    }
    return best;
  }
  std::size_t degree(std::size_t node) const { return boost::out_degree(node, graph_); }

  void give(std::size_t node, unsigned colour) {
    colour_[node] = colour;
    colour_of_flow_[set_[node]] = colour;
    const auto [begin, end] = boost::adjacent_vertices(node, graph_);
    for (auto other = begin; other != end; ++other) {
      if (taken_[*other * owner_.colours_ + colour]++ == 0) ++saturation_[*other];
    }
  }
  void take_back(std::size_t node) {
    const unsigned colour = std::exchange(colour_[node], kNoColour);
    colour_of_flow_[set_[node]] = kNoColour;
    const auto [begin, end] = boost::adjacent_vertices(node, graph_);
    for (auto other = begin; other != end; ++other) {
      if (--taken_[*other * owner_.colours_ + colour] == 0) --saturation_[*other];
    }
  }

  bool in_one_middle(const FlowSet& flows) const {
    const unsigned colour = colour_of_flow_[flows.front()];
    return colour != kNoColour && std::all_of(flows.begin(), flows.end(), [&](std::size_t flow) {
             return colour_of_flow_[flow] == colour;
           });
  }
  /// True when a middle network has flows, `flow` among them, that are known not to fit into one.
  bool hopeless(std::size_t flow) const {
    const std::vector<FlowSet>& known = owner_.conflicts_[level_ + 1];
    return std::any_of(known.begin(), known.end(), [&](const FlowSet& conflict) {
      return std::binary_search(conflict.begin(), conflict.end(), flow) && in_one_middle(conflict);
    });
  }
  /// The same for the conflict that was found last.
  bool hopeless() const {
    const std::vector<FlowSet>& known = owner_.conflicts_[level_ + 1];
    return !known.empty() && in_one_middle(known.back());
  }

  bool inner() {
    for (unsigned c = 0; c < owner_.colours_; ++c) {
      FlowSet flows;
      for (std::size_t node = 0; node < set_.size(); ++node) {
        if (colour_[node] == c) flows.push_back(set_[node]);
      }
      if (!flows.empty() && !owner_.colour(level_ + 1, flows)) {
        if (!owner_.out_of_budget()) owner_.note_conflict(level_ + 1, flows);
        return false;
      }
    }
    for (std::size_t node = 0; node < set_.size(); ++node)
      owner_.middles_[level_][set_[node]] = colour_[node];
    return true;
  }

  FlowColouring& owner_;
  unsigned level_;
  const FlowSet& set_;
  const ConflictGraph& graph_;
  bool deep_;
  std::vector<unsigned> colour_;          ///< by node
  std::vector<unsigned> colour_of_flow_;  ///< by flow
  std::vector<unsigned> taken_;           ///< neighbours by node and colour
  std::vector<unsigned> saturation_;      ///< colours among the neighbours, by node
};

FlowColouring::FlowColouring(const FredShape& shape, const std::vector<FredFlow>& flows, std::uint64_t budget,
                             unsigned most_levels)
    : levels_(std::min(wafervp::levels(shape), most_levels)),
      colours_(shape.middles),
      flows_(flows.size()),
      budget_(budget),
      limit_(budget),
      edges_(levels_, std::vector<bool>(flows.size() * flows.size())),
      middles_(levels_, std::vector<unsigned>(flows.size())),
      conflicts_(levels_ + 1) {
  for (unsigned level = 0; level < levels_; ++level) {
    add_edges(edges_[level], flows, level, &FredFlow::inputs);
    add_edges(edges_[level], flows, level, &FredFlow::outputs);
  }
}

namespace {

template <class Share>
ConflictGraph graph_of(const FlowSet& set, Share share) {
  ConflictGraph graph(set.size());
  for (std::size_t a = 0; a < set.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (share(set[a], set[b])) boost::add_edge(b, a, graph);
    }
  }
  return graph;
}

}  // namespace

bool FlowColouring::colourable(unsigned level, const FlowSet& set) {
  const ConflictGraph graph = graph_of(set, [&](std::size_t a, std::size_t b) { return share(level, a, b); });
  // Each connected part by itself, since the colours of one say nothing about another.
  std::vector<std::size_t> part(set.size());
  const std::size_t parts = boost::connected_components(graph, part.data());
  for (std::size_t p = 0; p < parts; ++p) {
    FlowSet flows;
    for (std::size_t node = 0; node < set.size(); ++node) {
      if (part[node] == p) flows.push_back(set[node]);
    }
    if (flows.size() <= colours_) continue;
    const ConflictGraph inside =
        graph_of(flows, [&](std::size_t a, std::size_t b) { return share(level, a, b); });
    if (!Search(*this, level, flows, inside, Search::Depth::kThisLevel).run()) return false;
  }
  return true;
}

bool FlowColouring::colour(unsigned level, const FlowSet& set) {
  if (level == levels_) return true;
  if (set.size() <= 1) {
    for (unsigned l = level; l < levels_; ++l) {
      for (const std::size_t flow : set) middles_[l][flow] = 0;
    }
    return true;
  }
  if (is_known_conflict(level, set) || !colourable(level, set)) return false;
  const ConflictGraph graph = graph_of(set, [&](std::size_t a, std::size_t b) { return share(level, a, b); });
  return Search(*this, level, set, graph, Search::Depth::kAllLevels).run();
}

FlowSet FlowColouring::core(unsigned level, FlowSet set) {
  for (std::size_t i = 0; i < set.size() && !out_of_budget();) {
    FlowSet fewer = set;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (!colour(level, fewer) && !out_of_budget()) {
      set = std::move(fewer);
    } else {
      ++i;
    }
  }
  return set;
}

void FlowColouring::note_conflict(unsigned level, const FlowSet& set) {
  FlowSet least = core(level, set);
  conflicts_[level].push_back(std::move(least));
}

bool FlowColouring::is_known_conflict(unsigned level, const FlowSet& set) const {
  return std::any_of(conflicts_[level].begin(), conflicts_[level].end(), [&](const FlowSet& conflict) {
    return std::includes(set.begin(), set.end(), conflict.begin(), conflict.end());
  });
}

}  // namespace wafervp
