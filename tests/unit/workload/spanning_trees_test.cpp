// SPDX-License-Identifier: Apache-2.0
// Are the trees of an all_reduce spanning trees, and do they load the links as evenly as the graph allows?
#include "workload/spanning_trees.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "scenarios.h"

namespace wafervp::test {
namespace {

constexpr std::uint64_t kLinkRate = 750'000;  // bytes a microsecond

Topology mesh(std::uint32_t columns, std::uint32_t rows) {
  WaferSpec wafer = scenario_of(R"({"kind":"resnet152"})").wafer;
  wafer.npus = columns * rows;
  wafer.fabric.mesh2d.columns = columns;
  wafer.fabric.mesh2d.rows = rows;
  return build_topology(wafer);
}

std::vector<NpuId> all(const Topology& topology) {
  std::vector<NpuId> members;
  for (std::uint32_t n = 0; n < topology.npus; ++n) members.push_back(NpuId{n});
  return members;
}

/// Uses of the most loaded link when each tree sends once up and once down every edge; fails for what is no
/// tree.
std::uint32_t most_loaded(const Topology& topology, const std::vector<NpuId>& group,
                          const SpanningTrees& trees, std::map<std::uint32_t, std::uint32_t>& uses) {
  for (const auto& parents : trees.parents) {
    EXPECT_EQ(parents.size(), group.size());
    std::uint32_t roots = 0;
    for (std::uint32_t member = 0; member < parents.size(); ++member) {
      roots += parents[member] == member;
      std::uint32_t at = member, steps = 0;
      for (; parents[at] != at && steps <= trees.depth; ++steps) at = parents[at];
      EXPECT_LE(steps, trees.depth) << "a cycle, or deeper than told";
      if (parents[member] == member) continue;
      for (const LinkId link : route(topology, group[member], group[parents[member]])) ++uses[link.value];
      for (const LinkId link : route(topology, group[parents[member]], group[member])) ++uses[link.value];
    }
    EXPECT_EQ(roots, 1u);
  }
  std::uint32_t most = 0;
  for (const auto& use : uses) most = std::max(most, use.second);
  return most;
}

TEST(SpanningTrees, UseAllLinksOfAMesh) {
  for (const auto& [columns, rows] : {std::pair(5u, 4u), {4u, 4u}, {2u, 2u}, {8u, 8u}, {3u, 5u}, {7u, 2u}}) {
    const Topology topology = mesh(columns, rows);
    const std::vector<NpuId> group = all(topology);
    const SpanningTrees trees = spanning_trees(topology, {group}).at(0);
    std::map<std::uint32_t, std::uint32_t> uses;
    const std::uint32_t most = most_loaded(topology, group, trees, uses);
    const double edges = columns * (rows - 1.0) + rows * (columns - 1.0), nodes = columns * rows;
    // Tutte and Nash-Williams for the partition into single nodes, and a corner, which has two edges.
    const double limit = kLinkRate * std::min(edges / (nodes - 1), 2.0);
    const double rate = kLinkRate * static_cast<double>(trees.parents.size()) / most;
    EXPECT_NEAR(static_cast<double>(trees.rate), rate, 1);
    EXPECT_LE(rate, limit * 1.000001);
    EXPECT_GE(rate, limit * 0.93) << columns << " x " << rows << ": " << trees.parents.size() << " trees";
  }
}

// Three in a row have one tree only: the middle one adds for both, so that a vector takes S / rate.
TEST(SpanningTrees, OfALineIsTheLine) {
  const Topology topology = mesh(5, 4);
  const std::vector<NpuId> line{NpuId{1}, NpuId{3}, NpuId{2}};
  const SpanningTrees trees = spanning_trees(topology, {line}).at(0);
  EXPECT_THAT(trees.parents, testing::ElementsAre(std::vector<std::uint32_t>{2, 2, 2}));
  EXPECT_EQ(trees.depth, 1u);
  EXPECT_EQ(trees.rate, kLinkRate);
  EXPECT_THAT(tree_links(trees, 2), testing::ElementsAre(1, 2, 2, 0, 1));
  EXPECT_THAT(tree_links(trees, 0), testing::ElementsAre(1, 2, 0));
}

TEST(SpanningTrees, OfGroupsThatShareLinksShareTheirRate) {
  const Topology topology = mesh(5, 4);
  // Two pairs of which one lies inside the other, in one row.
  const std::vector<std::vector<NpuId>> pairs{{NpuId{0}, NpuId{3}}, {NpuId{1}, NpuId{2}}};
  for (const SpanningTrees& trees : spanning_trees(topology, pairs)) EXPECT_EQ(trees.rate, kLinkRate / 2);
}

TEST(SpanningTrees, OfAThousandMembersAreMadeToo) {
  const Topology topology = mesh(32, 32);
  const std::vector<NpuId> group = all(topology);
  const SpanningTrees trees = spanning_trees(topology, {group}).at(0);
  std::map<std::uint32_t, std::uint32_t> uses;
  const std::uint32_t most = most_loaded(topology, group, trees, uses);
  EXPECT_GE(static_cast<double>(trees.parents.size()) / most, 0.7 * 1984 / 1023);
}

}  // namespace
}  // namespace wafervp::test
