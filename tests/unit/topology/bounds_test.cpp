// SPDX-License-Identifier: Apache-2.0
// Is each bound the closed form that port and cut rates give, and never above a known algorithm?
#include "topology/bounds.h"

#include <gmock/gmock.h>

#include "wafers.h"

namespace wafervp::test {
namespace {

constexpr std::uint64_t kBytes = 419'430'400;  // 400 MiB, a multiple of 8 * 20

/// ps that `bytes` take at `gigabytes_per_s`.
double ps(double bytes, double gigabytes_per_s) { return bytes / gigabytes_per_s * 1000; }

std::vector<NpuId> group(std::initializer_list<std::uint32_t> members) {
  std::vector<NpuId> result;
  for (const std::uint32_t n : members) result.push_back(NpuId{n});
  return result;
}

void expect_bound(Time bound, double expected_ps) {
  EXPECT_GE(static_cast<double>(bound), expected_ps * (1 - 1e-12));
  EXPECT_LE(static_cast<double>(bound), expected_ps + 1);
}

TEST(Bound, CornerOfTheMeshLimitsAllReduce) {
  // Two links of 750 GB/s: 2 (19/20) S / 1500 GB/s, that is a bus bandwidth of 1500 GB/s.
  const Topology t = build_topology(mesh(5, 4));
  expect_bound(lower_bound(t, Operation::kAllReduce, npus(20), kBytes), ps(2 * 0.95 * kBytes, 1500));
}

TEST(Bound, TreesMaySpareTheCorner) {
  // 38 S must be received over 62 links; edge-disjoint trees could come near it.
  const Topology t = build_topology(mesh(5, 4));
  expect_bound(lower_bound(t, Operation::kAllReduce, npus(20), kBytes, Sharing::kAny),
               ps(38.0 * kBytes, 62 * 750));
}

TEST(Bound, GroupInALineHasOnlyTheLinksOfTheLine) {
  const Topology t = build_topology(mesh(5, 4));
  // NPUs 0, 1, 2: the ends have one link.
  expect_bound(lower_bound(t, Operation::kAllReduce, group({0, 1, 2}), kBytes - kBytes % 24),
               ps(4.0 / 3 * static_cast<double>(kBytes - kBytes % 24), 750));
  // Two neighbours.
  expect_bound(lower_bound(t, Operation::kAllReduce, group({6, 7}), kBytes), ps(kBytes, 750));
}

TEST(Bound, ColumnCutLimitsAllToAllOnAWideMesh) {
  // 8x2: 64 pairs each way over the middle, 2 links; ports: 15/16 S over at least 2 links.
  const Topology t = build_topology(mesh(8, 2));
  expect_bound(lower_bound(t, Operation::kAllToAll, npus(16), kBytes), ps(64.0 * kBytes / 16, 2 * 750));
}

TEST(Bound, ASlowLinkOnTheWayShows) {
  WaferSpec wafer = mesh(5, 4);
  wafer.fabric.link_rates = {{"x1y0->x2y0", 75 * kGiga}};
  const Topology t = build_topology(wafer);
  expect_bound(lower_bound(t, Operation::kSend, group({0, 4}), kBytes), ps(kBytes, 75));
  expect_bound(lower_bound(t, Operation::kAllReduce, group({0, 1, 2, 3}), kBytes), ps(kBytes, 75));
}

TEST(Bound, FredVariantsAreThoseOfThePaper) {
  // MP(20), over the mesh: C 0.5, D 0.263, B 0.526; A is held by the L1-L2 cut, 0.842.
  const double mesh_ps = ps(1.9 * kBytes, 1500);
  const auto variant = [](std::uint64_t uplink, InNetwork in_network) {
    return lower_bound(build_topology(fred(uplink * kGiga, in_network)), Operation::kAllReduce, npus(20),
                       kBytes);
  };
  expect_bound(variant(12000, InNetwork::kYes), ps(kBytes, 3000));
  expect_bound(variant(12000, InNetwork::kNo), 0.5 * mesh_ps);
  expect_bound(variant(1500, InNetwork::kYes), ps(kBytes, 1500));
  expect_bound(variant(1500, InNetwork::kNo), ps(2 * 4.0 / 5 * kBytes, 1500));
}

TEST(Bound, FredGroupInsideOneSwitchDoesNotSeeTheUplink) {
  const Topology t = build_topology(fred(1500 * kGiga, InNetwork::kNo));
  expect_bound(lower_bound(t, Operation::kAllReduce, group({4, 5}), kBytes), ps(kBytes, 3000));
  expect_bound(lower_bound(t, Operation::kAllReduce, group({3, 4}), kBytes), ps(kBytes, 1500));
}

TEST(Bound, RingPortsAndCuts) {
  const Topology t = build_topology(ring(8));
  expect_bound(lower_bound(t, Operation::kAllReduce, npus(8), kBytes), ps(2 * 7.0 / 8 * kBytes, 200));
  // Half against half: 16 pairs of S/8 each way over two links.
  expect_bound(lower_bound(t, Operation::kAllToAll, npus(8), kBytes), ps(16.0 / 8 * kBytes, 200));
  EXPECT_EQ(lower_bound(build_topology(ring(1)), Operation::kAllReduce, npus(1), kBytes), 0u);
}

TEST(Bound, SwitchPorts) {
  const Topology t = build_topology(star(4));
  expect_bound(lower_bound(t, Operation::kAllGather, npus(4), kBytes), ps(0.75 * kBytes, 100));
  expect_bound(lower_bound(t, Operation::kReduceScatter, npus(4), kBytes), ps(0.75 * kBytes, 100));
  expect_bound(lower_bound(t, Operation::kBroadcast, npus(4), kBytes), ps(kBytes, 100));
  expect_bound(lower_bound(t, Operation::kAllToAll, npus(4), kBytes), ps(0.75 * kBytes, 100));
  EXPECT_EQ(lower_bound(t, Operation::kBarrier, npus(4), kBytes), 0u);
}

TEST(Bound, FewElementsAreNotTakenAsEvenShares) {
  // One fp32 element on 20 ranks: its owner need not send it in the reduce-scatter, so nothing is left
  // that every member must send twice; the sum must still reach everybody.
  const Topology t = build_topology(star(20));
  EXPECT_LE(lower_bound(t, Operation::kAllReduce, npus(20), 4), static_cast<Time>(ps(2 * 4, 100)));
  EXPECT_EQ(lower_bound(t, Operation::kAllGather, npus(20), 4, Sharing::kEven),
            lower_bound(t, Operation::kAllGather, npus(20), 4, Sharing::kAny));
}

TEST(Bound, LargeGroupsUseTheSameLinksAsPairs) {
  // 65 and more members take a shorter way to the set of links; on a full mesh both are all links.
  const Topology t = build_topology(mesh(12, 8));
  expect_bound(lower_bound(t, Operation::kReduceScatter, npus(96), 96 * 8 * 1000), ps(95.0 * 8 * 1000, 1500));
  // The first six rows alone: the corner of the group at (0, 5) has links to its right and up.
  expect_bound(lower_bound(t, Operation::kReduceScatter, npus(72), 72 * 8 * 1000), ps(71.0 * 8 * 1000, 1500));
}

TEST(Bound, IsBelowTheRingOnEveryFabric) {
  // The ring algorithm takes 2 (n-1)/n S at the rate of its slowest edge; no bound may exceed it.
  for (std::uint32_t n = 2; n <= 20; ++n) {
    const double ring_ps = ps(2.0 * (n - 1) / n * kBytes, 100) * (1 + 1e-6);
    EXPECT_LE(
        static_cast<double>(lower_bound(build_topology(ring(n)), Operation::kAllReduce, npus(n), kBytes)),
        ring_ps);
    EXPECT_LE(
        static_cast<double>(lower_bound(build_topology(star(n)), Operation::kAllReduce, npus(n), kBytes)),
        ring_ps);
    EXPECT_LE(
        static_cast<double>(lower_bound(build_topology(mesh(n, 1)), Operation::kAllReduce, npus(n), kBytes)),
        ps(2.0 * (n - 1) / n * kBytes, 750) * (1 + 1e-6));
  }
}

}  // namespace
}  // namespace wafervp::test
