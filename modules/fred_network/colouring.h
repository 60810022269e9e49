// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fred_network/fred_flow.h"
#include "fred_network/shape.h"

namespace wafervp {

using FlowSet = std::vector<std::size_t>;  ///< indices of flows, ascending

/// Gives each flow a middle network at every level of a Fred_m(P), by colouring (arXiv 2406.19580, routing):
/// a node a flow, an edge where two flows of one network share an input or an output μswitch, a colour a
/// middle network; then the same in each middle network with its flows. A search over all colourings, in a
/// fixed order: the node with the fewest colours left first (Brélaz 1979), the lowest colour first.
class FlowColouring {
 public:
  /// Flows that check() accepts and that have no port in common. `budget`: colours that may be given to
  /// nodes. Levels beyond the outermost `most_levels` are taken to carry anything.
  FlowColouring(const FredShape& shape, const std::vector<FredFlow>& flows, std::uint64_t budget,
                unsigned most_levels = ~0u);

  /// True when the flows of the set can all be routed at the same time through a network at `level` (0: the
  /// whole switch). False when they cannot, which is then proved, or when the budget ran out.
  bool colour(unsigned level, const FlowSet& set);
  /// A least set inside `set`, which cannot be routed: without any one of them the others can be. As far as
  /// the budget goes.
  FlowSet core(unsigned level, FlowSet set);

  /// Middle network of a flow at a level, after the last colour() that was true for it.
  unsigned middle(unsigned level, std::size_t flow) const { return middles_[level][flow]; }
  /// True when two flows of one network at `level` share an input or an output μswitch.
  bool share(unsigned level, std::size_t a, std::size_t b) const { return edges_[level][a * flows_ + b]; }
  unsigned levels() const { return levels_; }
  std::uint64_t tried() const { return tried_; }
  bool out_of_budget() const { return tried_ > limit_; }
  std::uint64_t budget() const { return budget_; }
  /// The budget once more, from here.
  void renew_budget() { limit_ = tried_ + budget_; }

 private:
  class Search;
  /// True when the nodes can be coloured at this level alone, whatever comes further in.
  bool colourable(unsigned level, const FlowSet& set);
  void note_conflict(unsigned level, const FlowSet& set);
  bool is_known_conflict(unsigned level, const FlowSet& set) const;

  unsigned levels_, colours_;
  std::size_t flows_;
  std::uint64_t budget_, limit_, tried_ = 0;
  std::vector<std::vector<bool>> edges_;         ///< by level and pair of flows
  std::vector<std::vector<unsigned>> middles_;   ///< by level and flow
  std::vector<std::vector<FlowSet>> conflicts_;  ///< by level: sets that are known not to be routable
};

}  // namespace wafervp
