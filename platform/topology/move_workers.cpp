// SPDX-License-Identifier: Apache-2.0
#include "topology/move_workers.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "core/split_mix.h"

namespace wafervp {
namespace {

/// Rank by NPU, counted with the dimensions from the innermost to the outermost: 0 MP, 1 PP, 2 DP.
Placement in_dimension_order(const ParallelismSpec& p, const std::array<unsigned, 3>& inner_to_outer) {
  const std::array<std::uint32_t, 3> sizes = {p.mp, p.pp, p.dp};
  std::array<std::uint32_t, 3> stride{};
  std::uint32_t next = 1;
  for (const unsigned dimension : inner_to_outer) {
    stride[dimension] = next;
    next *= sizes[dimension];
  }
  Placement placement;
  for (std::uint32_t dp = 0; dp < p.dp; ++dp) {
    for (std::uint32_t pp = 0; pp < p.pp; ++pp) {
      for (std::uint32_t mp = 0; mp < p.mp; ++mp) {
        placement.npu_of_rank.emplace_back(mp * stride[0] + pp * stride[1] + dp * stride[2]);
      }
    }
  }
  return placement;
}

std::uint32_t flows_that_wait(const FredWafer& wafer, const ParallelismSpec& parallelism,
                              const Placement& placement, const FredRouteOptions& options) {
  std::size_t waiting = 0;
  for (const FredPhase& phase : fred_phases(parallelism, placement)) {
    waiting += phase.flows.size() - serialise(wafer, phase.flows, options).rounds.front().size();
  }
  return static_cast<std::uint32_t>(waiting);
}

/// Swaps what sits on two NPUs, of which one at least has a rank.
void swap_two(Placement& placement, std::uint32_t npus, SplitMix& random) {
  std::vector<NpuId>& seats = placement.npu_of_rank;
  NpuId& first = seats[random.below(static_cast<std::uint32_t>(seats.size()))];
  const NpuId other{random.below(npus)};
  const auto taken = std::find(seats.begin(), seats.end(), other);
  if (taken != seats.end()) *taken = first;
  first = other;
}

}  // namespace

MovedWorkers move_workers(const FredWafer& wafer, const ParallelismSpec& parallelism,
                          std::uint32_t placements, std::uint64_t seed, const FredRouteOptions& options) {
  const std::uint64_t ranks = std::uint64_t{parallelism.mp} * parallelism.dp * parallelism.pp;
  if (ranks > wafer.npus()) {
    throw std::invalid_argument(std::to_string(ranks) + " ranks do not fit on " +
                                std::to_string(wafer.npus()) + " NPUs");
  }
  MovedWorkers best;
  const auto consider = [&](const Placement& placement) {
    const std::uint32_t waiting = flows_that_wait(wafer, parallelism, placement, options);
    // Among equal ones the search goes on from the newer one, so that it does not stand still.
    const bool better = best.tried++ == 0 || waiting <= best.waiting;
    if (better) {
      best.placement = placement;
      best.waiting = waiting;
    }
  };
  consider(consecutive_placement(parallelism));
  std::array<unsigned, 3> order = {0, 1, 2};
  while (best.waiting > 0 && best.tried < placements && std::next_permutation(order.begin(), order.end())) {
    consider(in_dimension_order(parallelism, order));
  }
  SplitMix random(seed);
  while (best.waiting > 0 && best.tried < placements) {
    Placement placement = best.placement;
    swap_two(placement, wafer.npus(), random);
    consider(placement);
  }
  return best;
}

}  // namespace wafervp
