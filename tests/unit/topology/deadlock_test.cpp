// SPDX-License-Identifier: Apache-2.0
// Does the check of channel dependencies find cycles where they are, and only there?
#include "topology/deadlock.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "wafers.h"

namespace wafervp::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

WaferSpec with_io(WaferSpec wafer, std::uint32_t controllers) {
  wafer.io = {controllers, 128 * kGiga, 20, IoPacing::kFair, IoChannels::kPerClass};
  return wafer;
}

std::vector<LinkChannel> cycle_of(const Topology& topology, IoChannels channels = IoChannels::kPerClass) {
  return dependencies_of(topology, channels).find_cycle();
}

/// Each link of the cycle must begin where the one before it ends.
void expect_closed(const Topology& topology, const std::vector<LinkChannel>& cycle) {
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    EXPECT_EQ(topology.link(cycle[i].link).to, topology.link(cycle[(i + 1) % cycle.size()].link).from);
  }
}

LinkId link_named(const Topology& topology, const std::string& name) {
  const auto found = std::find_if(topology.links.begin(), topology.links.end(),
                                  [&](const LinkSpec& link) { return link.name == name; });
  return LinkId{static_cast<std::uint32_t>(found - topology.links.begin())};
}

TEST(ChannelCycle, MeshesSwitchesAndTreesHaveNone) {
  EXPECT_THAT(cycle_of(build_topology(mesh(5, 4))), IsEmpty());
  EXPECT_THAT(cycle_of(build_topology(mesh(1, 7))), IsEmpty());
  EXPECT_THAT(cycle_of(build_topology(star(9))), IsEmpty());
  for (const InNetwork in_network : {InNetwork::kNo, InNetwork::kYes}) {
    EXPECT_THAT(cycle_of(build_topology(fred(12000 * kGiga, in_network))), IsEmpty());
    EXPECT_THAT(cycle_of(build_topology(with_io(fred(12000 * kGiga, in_network), 18))), IsEmpty());
  }
}

TEST(ChannelCycle, FredOfThreeLevelsHasNone) {
  WaferSpec wafer = with_io(fred(12000 * kGiga, InNetwork::kYes), 6);
  wafer.npus = 48;
  wafer.fabric.fred.l1_switches = 12;
  wafer.fabric.fred.upper_children = {4, 3};
  EXPECT_THAT(cycle_of(build_topology(wafer)), IsEmpty());
}

TEST(ChannelCycle, RingsHaveNoneWithADateline) {
  for (const std::uint32_t n : {2u, 3u, 4u, 5u, 16u}) {
    EXPECT_THAT(cycle_of(build_topology(ring(n))), IsEmpty()) << n;
  }
}

TEST(ChannelCycle, IsFoundOnARingWithoutADateline) {
  const Topology topology = build_topology(ring(5));
  ChannelDependencies dependencies(topology);
  for (const NpuId from : npus(5)) {
    for (const NpuId to : npus(5)) {
      const std::vector<LinkId> links = route(topology, from, to);
      for (std::size_t i = 1; i < links.size(); ++i) {
        dependencies.add({links[i - 1], VirtualChannel::kData}, {links[i], VirtualChannel::kData});
      }
    }
  }
  EXPECT_THAT(dependencies.find_cycle(), SizeIs(5));
  expect_closed(topology, dependencies.find_cycle());
}

TEST(ChannelCycle, IsFoundWhenPlantedInAMesh) {
  const Topology topology = build_topology(mesh(5, 4));
  ChannelDependencies dependencies = dependencies_of(topology, IoChannels::kPerClass);
  const auto plant = [&](const char* holds, const char* wants) {
    dependencies.add({link_named(topology, holds), VirtualChannel::kData},
                     {link_named(topology, wants), VirtualChannel::kData});
  };
  // Two turns from y to x close the circle around one square with the two turns that x first has.
  plant("x2y1->x2y2", "x2y2->x1y2");
  EXPECT_THAT(dependencies.find_cycle(), IsEmpty());
  plant("x1y2->x1y1", "x1y1->x2y1");
  EXPECT_THAT(dependencies.find_cycle(), SizeIs(4));
  expect_closed(topology, dependencies.find_cycle());
}

TEST(ChannelCycle, IoTreesNeedAChannelForEachClass) {
  for (const auto& [columns, rows] : {std::pair(4u, 4u), std::pair(5u, 4u), std::pair(2u, 2u)}) {
    const WaferSpec wafer = with_io(mesh(columns, rows), 2 * (columns + rows));
    const Topology topology = build_topology(wafer);
    EXPECT_THAT(cycle_of(topology), IsEmpty());
    const auto cycle = cycle_of(topology, IoChannels::kOne);
    EXPECT_FALSE(cycle.empty()) << columns << " x " << rows;
    expect_closed(topology, cycle);
  }
}

TEST(ChannelCycle, OneChannelForAllIoTreesIsRefused) {
  WaferSpec wafer = with_io(mesh(5, 4), 18);
  wafer.io.channels = IoChannels::kOne;
  const std::vector<Issue> faults = issues_of([&] { build_topology(wafer); });
  ASSERT_THAT(faults, SizeIs(1));
  EXPECT_EQ(faults.front().pointer, "/wafer/io/channels");
  EXPECT_THAT(faults.front().text, HasSubstr("can deadlock"));
}

TEST(DescribeCycles, SaysWhatThereIs) {
  EXPECT_EQ(describe_cycles(build_topology(mesh(5, 4)), IoChannels::kPerClass), "free of cycles");
  EXPECT_THAT(describe_cycles(build_topology(ring(5)), IoChannels::kPerClass), HasSubstr("second channel"));
  const Topology topology = build_topology(with_io(mesh(5, 4), 18));
  EXPECT_THAT(describe_cycles(topology, IoChannels::kOne), HasSubstr("channels that wait for the next"));
}

}  // namespace
}  // namespace wafervp::test
