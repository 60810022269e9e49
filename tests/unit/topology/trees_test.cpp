// SPDX-License-Identifier: Apache-2.0
// Do the trees of loads and stores reach all, and do they load the links as the paper says?
#include "topology/trees.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "topology/fred_tree.h"
#include "wafers.h"

namespace wafervp::test {
namespace {

WaferSpec with_io(WaferSpec wafer, std::uint32_t controllers) {
  wafer.io = {controllers, 128 * kGiga, 20, IoPacing::kFair, IoChannels::kPerClass};
  return wafer;
}

std::vector<NpuId> all_ends(const Topology& topology) {
  std::vector<NpuId> ends;
  for (std::uint32_t n = 0; n < topology.ends(); ++n) ends.emplace_back(n);
  return ends;
}

/// Nodes that a tree's links lead to.
std::vector<std::uint32_t> reached(const Topology& topology, const std::vector<LinkId>& links) {
  std::vector<std::uint32_t> nodes;
  for (const LinkId link : links) nodes.push_back(topology.link(link).to.value);
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

// arXiv 2406.19580: an N x N mesh with 4N channels of rate P needs links of (2N - 1) P, 4x4: 7 P; the figures
// with write-back come from a count by hand of the same trees both ways.
TEST(StreamRates, MeshesHaveThePapersHotspots) {
  struct Case {
    std::uint32_t columns, rows, one_way, both;
  };
  for (const Case& c : {Case{4, 4, 7, 10}, Case{5, 4, 9, 12}, Case{8, 8, 15, 18}}) {
    const Topology topology = build_topology(with_io(mesh(c.columns, c.rows), 2 * (c.columns + c.rows)));
    const StreamRates rates = stream_rates(topology, {all_ends(topology)});
    EXPECT_EQ(rates.most_loads, c.one_way) << c.columns << " x " << c.rows;
    EXPECT_EQ(rates.most_stores, c.one_way);
    EXPECT_EQ(rates.most_both, c.both);
    EXPECT_EQ(rates.load, topology.links.front().bytes_per_s / c.one_way);
  }
}

TEST(StreamRates, FredStreamsAtLineRateWhereItsUplinksLetIt) {
  const Topology wide = build_topology(with_io(fred(12000 * kGiga, InNetwork::kNo), 18));
  EXPECT_EQ(stream_rates(wide, {all_ends(wide)}).load, 128 * kGiga);
  // 18 controllers over 5 L1 switches: 14 or 15 streams come down to each, 18 go up with gradients.
  const Topology thin = build_topology(with_io(fred(1500 * kGiga, InNetwork::kNo), 18));
  const StreamRates rates = stream_rates(thin, {all_ends(thin)});
  EXPECT_EQ(rates.load, 1500 * kGiga / 15);
  EXPECT_EQ(rates.store, 1500 * kGiga / 18);
}

TEST(Trees, ReachEachMemberOnce) {
  for (const bool on_mesh : {true, false}) {
    const Topology topology =
        build_topology(with_io(on_mesh ? mesh(5, 4) : fred(12000 * kGiga, InNetwork::kYes), 18));
    const GroupTrees trees(topology, all_ends(topology));
    for (std::uint32_t k = 0; k < 18; ++k) {
      const NodeId io(topology.npus + k);
      const auto nodes = reached(topology, trees.links({TreeKind::kMulticast, io}));
      for (std::uint32_t n = 0; n < topology.npus; ++n) {
        EXPECT_EQ(std::count(nodes.begin(), nodes.end(), n), 1) << "NPU " << n << " from controller " << k;
      }
      const auto links = trees.links({TreeKind::kReduce, io});
      EXPECT_EQ(std::count_if(links.begin(), links.end(),
                              [&](LinkId link) { return topology.link(link).to == io; }),
                1);
    }
  }
}

TEST(Trees, LeaveOutBranchesWithoutMembers) {
  const Topology topology = build_topology(with_io(mesh(5, 4), 18));
  // Controller 0 is left of NPU 0, whose tree takes the row first: NPU 6 is one to the right, one down.
  const GroupTrees trees(topology, {NpuId(20), NpuId(6)});
  std::vector<std::string> names;
  for (const LinkId link : trees.links({TreeKind::kMulticast, NodeId(20)})) {
    names.push_back(topology.link(link).name);
  }
  EXPECT_THAT(names, testing::ElementsAre("io0->npu0", "x0y0->x1y0", "x1y0->x1y1"));
}

TEST(FredOfThreeLevels, RoutesUpToTheLowestCommonSwitch) {
  WaferSpec wafer = fred(12000 * kGiga, InNetwork::kYes);
  wafer.npus = 48;
  wafer.fabric.fred.l1_switches = 12;
  wafer.fabric.fred.upper_children = {4, 3};
  const Topology topology = build_topology(wafer);
  const auto names = [&](std::uint32_t from, std::uint32_t to) {
    std::vector<std::string> list;
    for (const LinkId link : route(topology, NpuId(from), NpuId(to)))
      list.push_back(topology.link(link).name);
    return list;
  };
  EXPECT_THAT(names(0, 3), testing::ElementsAre("npu0->l1_0", "l1_0->npu3"));
  EXPECT_THAT(names(0, 15), testing::ElementsAre("npu0->l1_0", "l1_0->l2_0", "l2_0->l1_3", "l1_3->npu15"));
  EXPECT_THAT(names(0, 47), testing::ElementsAre("npu0->l1_0", "l1_0->l2_0", "l2_0->l3", "l3->l2_2",
                                                 "l2_2->l1_11", "l1_11->npu47"));
  // As much as its four children have together.
  EXPECT_EQ(topology.link(route(topology, NpuId(0), NpuId(47))[2]).bytes_per_s, 48000 * kGiga);
}

TEST(FredOfThreeLevels, IsRefusedWhereTheChildrenDoNotMakeATree) {
  WaferSpec wafer = fred(12000 * kGiga, InNetwork::kYes);
  for (const auto& children : std::vector<std::vector<std::uint32_t>>{{2}, {5, 2}, {3, 2}}) {
    wafer.fabric.fred.upper_children = children;
    const auto faults = issues_of([&] { build_topology(wafer); });
    ASSERT_EQ(faults.size(), 1u);
    EXPECT_EQ(faults.front().pointer, "/wafer/fabric/fred/upper_children");
  }
}

}  // namespace
}  // namespace wafervp::test
