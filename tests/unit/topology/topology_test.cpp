// SPDX-License-Identifier: Apache-2.0
// Is the graph of each fabric the one that its description says, in the promised order?
#include "topology/topology.h"

#include <gmock/gmock.h>

#include "wafers.h"

namespace wafervp::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::vector<std::string> names(const Topology& topology, const std::vector<LinkId>& links) {
  std::vector<std::string> result;
  for (const LinkId link : links) result.push_back(topology.link(link).name);
  return result;
}

TEST(Mesh, HasFourPortsInsideAndTwoInCorners) {
  const Topology t = build_topology(mesh(5, 4));
  EXPECT_THAT(t.links, SizeIs(2 * (4 * 4 + 5 * 3)));
  EXPECT_THAT(names(t, t.outputs[0]), ElementsAre("x0y0->x1y0", "x0y0->x0y1"));
  EXPECT_THAT(names(t, t.outputs[6]), ElementsAre("x1y1->x2y1", "x1y1->x0y1", "x1y1->x1y2", "x1y1->x1y0"));
  EXPECT_EQ(t.nodes[13].name, "npu13");
  EXPECT_EQ(t.nodes[13].x, 3u);
  EXPECT_EQ(t.nodes[13].y, 2u);
}

TEST(Mesh, GoesAlongXFirst) {
  const Topology t = build_topology(mesh(5, 4));
  EXPECT_THAT(names(t, route(t, NpuId{13}, NpuId{1})),
              ElementsAre("x3y2->x2y2", "x2y2->x1y2", "x1y2->x1y1", "x1y1->x1y0"));
  EXPECT_TRUE(route(t, NpuId{7}, NpuId{7}).empty());
}

TEST(Mesh, RoutesAreShortestBetweenAllPairs) {
  const Topology t = build_topology(mesh(5, 4));
  for (std::uint32_t from = 0; from < 20; ++from) {
    for (std::uint32_t to = 0; to < 20; ++to) {
      const auto distance = [](std::uint32_t a, std::uint32_t b) { return a > b ? a - b : b - a; };
      EXPECT_THAT(route(t, NpuId{from}, NpuId{to}),
                  SizeIs(distance(from % 5, to % 5) + distance(from / 5, to / 5)));
    }
  }
}

TEST(Mesh, OneColumnHasNoXLinks) {
  const Topology t = build_topology(mesh(1, 3));
  EXPECT_THAT(names(t, t.outputs[1]), ElementsAre("x0y1->x0y2", "x0y1->x0y0"));
  EXPECT_THAT(names(t, route(t, NpuId{2}, NpuId{0})), ElementsAre("x0y2->x0y1", "x0y1->x0y0"));
}

TEST(Ring, TakesTheShorterWayAndTiesClockwise) {
  const Topology t = build_topology(ring(6));
  EXPECT_THAT(names(t, t.outputs[0]), ElementsAre("npu0->npu1", "npu0->npu5"));
  EXPECT_THAT(names(t, route(t, NpuId{1}, NpuId{5})), ElementsAre("npu1->npu0", "npu0->npu5"));
  EXPECT_THAT(names(t, route(t, NpuId{1}, NpuId{4})), ElementsAre("npu1->npu2", "npu2->npu3", "npu3->npu4"));
}

TEST(Ring, OfTwoHasOneLinkEachWayAndOfOneHasNone) {
  const Topology two = build_topology(ring(2));
  EXPECT_THAT(two.links, SizeIs(2));
  EXPECT_THAT(names(two, route(two, NpuId{1}, NpuId{0})), ElementsAre("npu1->npu0"));
  EXPECT_TRUE(build_topology(ring(1)).links.empty());
}

TEST(Switch, NumbersPortsByNpu) {
  const Topology t = build_topology(star(3));
  EXPECT_EQ(t.nodes[3].name, "switch");
  EXPECT_EQ(t.switch_latency_ps, 3000u);
  EXPECT_THAT(names(t, t.outputs[3]), ElementsAre("switch->npu0", "switch->npu1", "switch->npu2"));
  EXPECT_THAT(names(t, route(t, NpuId{2}, NpuId{1})), ElementsAre("npu2->switch", "switch->npu1"));
}

TEST(Fred, HasOneMergedUplinkForEachL1AfterItsNpus) {
  const Topology t = build_topology(fred(12000 * kGiga, InNetwork::kYes));
  EXPECT_TRUE(t.in_network);
  EXPECT_THAT(t.nodes, SizeIs(26));
  EXPECT_THAT(names(t, t.outputs[21]),
              ElementsAre("l1_1->npu4", "l1_1->npu5", "l1_1->npu6", "l1_1->npu7", "l1_1->l2"));
  EXPECT_THAT(names(t, t.inputs[25]),
              ElementsAre("l1_0->l2", "l1_1->l2", "l1_2->l2", "l1_3->l2", "l1_4->l2"));
}

TEST(Fred, GoesUpOnlyAsFarAsNeeded) {
  const Topology t = build_topology(fred(12000 * kGiga, InNetwork::kNo));
  EXPECT_THAT(names(t, route(t, NpuId{0}, NpuId{3})), ElementsAre("npu0->l1_0", "l1_0->npu3"));
  EXPECT_THAT(names(t, route(t, NpuId{0}, NpuId{19})),
              ElementsAre("npu0->l1_0", "l1_0->l2", "l2->l1_4", "l1_4->npu19"));
}

TEST(Buffers, HoldARoundTripAndTwoPackets) {
  // ceil(rate * 2 * 20 ns / 4096) + 2: 750 GB/s 30000 B, 3 TB/s 120000 B, 12 TB/s 480000 B.
  EXPECT_EQ(build_topology(mesh(5, 4)).links[0].buffer_packets, 8u + 2);
  const Topology t = build_topology(fred(12000 * kGiga, InNetwork::kYes));
  EXPECT_EQ(t.link(t.outputs[0][0]).buffer_packets, 30u + 2);
  EXPECT_EQ(t.link(t.inputs[25][0]).buffer_packets, 118u + 2);
}

TEST(Buffers, RoundUpExactly) {
  WaferSpec wafer = mesh(2, 1);
  wafer.fabric.mesh2d.link_bytes_per_s = 4096 * kGiga;  // 4096 B a ns
  wafer.fabric.mesh2d.link_latency_ns = 0.5;
  EXPECT_EQ(build_topology(wafer).links[0].buffer_packets, 3u);
  wafer.fabric.mesh2d.link_latency_ns = 0.501;
  EXPECT_EQ(build_topology(wafer).links[0].latency_ps, 501u);
  EXPECT_EQ(build_topology(wafer).links[0].buffer_packets, 4u);
  wafer.fabric.buffer_packets = 6;
  EXPECT_EQ(build_topology(wafer).links[0].buffer_packets, 6u);
}

TEST(LinkRates, OverrideOneDirectionAndItsBuffer) {
  WaferSpec wafer = mesh(5, 4);
  wafer.fabric.link_rates = {{"x0y0->x1y0", 3000 * kGiga}};
  const Topology t = build_topology(wafer);
  EXPECT_EQ(t.links[0].bytes_per_s, 3000 * kGiga);
  EXPECT_EQ(t.links[0].buffer_packets, 32u);
  for (std::size_t i = 1; i < t.links.size(); ++i) EXPECT_EQ(t.links[i].bytes_per_s, 750 * kGiga);
}

TEST(LinkRates, NameTheNearestLinkForAnUnknownOne) {
  WaferSpec wafer = mesh(5, 4);
  wafer.fabric.link_rates = {{"x0y0->x1y1", 1}, {"x4y3-x3y3", 1}};
  const auto issues = issues_of([&] { build_topology(wafer); });
  ASSERT_THAT(issues, SizeIs(2));
  EXPECT_EQ(issues[0].pointer, "/wafer/fabric/link_rates/x0y0->x1y1");
  EXPECT_EQ(issues[1].pointer, "/wafer/fabric/link_rates/x4y3-x3y3");
  EXPECT_THAT(issues[1].text, HasSubstr("x4y3->x3y3"));
}

TEST(Shape, MustCoverTheWafer) {
  WaferSpec wafer = mesh(5, 4);
  wafer.npus = 21;
  const auto issues = issues_of([&] { build_topology(wafer); });
  ASSERT_THAT(issues, SizeIs(1));
  EXPECT_EQ(issues[0].pointer, "/wafer/npus");
  EXPECT_THAT(issues[0].text, HasSubstr("found 21"));
}

}  // namespace
}  // namespace wafervp::test
