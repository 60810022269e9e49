// SPDX-License-Identifier: Apache-2.0
// Do the switches of the running wafer get the same parts of a flow as the chips that routing speaks of?
#include "wafer/tree_flows.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <systemc>

#include "core/split_mix.h"
#include "topology/fred_wafer.h"
#include "topology/up_ports.h"
#include "wafers.h"

namespace wafervp::test {
namespace {

std::vector<unsigned> sorted(std::vector<unsigned> ports) {
  std::sort(ports.begin(), ports.end());
  return ports;
}
std::vector<unsigned> ends(const std::vector<NpuId>& npus) {
  std::vector<unsigned> all;
  for (const NpuId npu : npus) all.push_back(npu.value);
  return all;
}

TEST(TreeFlowsOfTheWafer, AreSplitAsRoutingSplitsThem) {
  const Topology topology = build_topology(fred(12000 * kGiga, InNetwork::kYes));
  // Its lanes are merged: one up port an L1, and no I/O controllers.
  const FredWafer wafer{std::vector<FredL1>(5, FredL1{4, 0}), 1, 1, 3, 1, {}};
  std::vector<Communicator> communicators;
  SplitMix random(1);
  for (unsigned c = 0; c < 60; ++c) {
    Communicator communicator;
    communicator.members = npus(20);
    for (std::uint32_t n = 20; n > 1; --n) {
      std::swap(communicator.members[n - 1], communicator.members[random.below(n)]);
    }
    communicator.members.resize(2 + random.below(c < 30 ? 4 : 19));
    communicators.push_back(communicator);
  }
  const TreeFlows flows(topology, communicators);
  unsigned stages = 0;
  for (std::size_t c = 0; c < communicators.size(); ++c) {
    // The all-reduce, then a reduce to each member, then a multicast from each.
    const auto members = static_cast<std::uint32_t>(communicators[c].members.size());
    for (std::uint32_t handle = flows.first_handle(c); handle <= flows.first_handle(c) + 2 * members;
         ++handle) {
      const TreeFlows::Ends of_flow = flows.ends(handle);
      const std::vector<FredFlow> alone = {
          {flows.describe(handle), ends(of_flow.sources), ends(of_flow.sinks)}};
      const std::vector<Crossing> crossing = crossings(wafer, alone);
      const UpPortChoice ports = make_up_port_policy("in_order")->choose(wafer, alone, crossing, {});
      ASSERT_TRUE(ports.ports);
      const std::vector<ChipFlows> chips = split(wafer, alone, crossing, *ports.ports);
      for (std::uint32_t chip = 0; chip < chips.size(); ++chip) {
        for (const FredFlow& part : chips[chip].flows) {
          const StageConfig stage = flows.find(NodeId(20 + chip), handle, part.inputs.front());
          EXPECT_EQ(sorted(stage.inputs), sorted(part.inputs)) << part.name << " at chip " << chip;
          EXPECT_EQ(sorted(stage.outputs), sorted(part.outputs)) << part.name << " at chip " << chip;
          ++stages;
        }
      }
    }
  }
  EXPECT_GT(stages, 1000u);
}

}  // namespace
}  // namespace wafervp::test

int sc_main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
