// SPDX-License-Identifier: Apache-2.0
// Does the reference obey the law? Expected times are closed forms.
#include "packet_loop/packet_loop.h"

#include <gtest/gtest.h>

#include <vector>

namespace packet_loop {
namespace {

constexpr Time kL = 20'000;  // 20 ns
constexpr std::uint64_t kMiB = 1u << 20;
constexpr std::uint64_t k750 = 750'000'000'000;
constexpr std::uint64_t k375 = 375'000'000'000;
constexpr std::uint64_t k3000 = 3'000'000'000'000;
constexpr std::uint64_t k12000 = 12'000'000'000'000;

LinkId link(Loop& loop, std::uint64_t rate, Time latency = kL) {
  return loop.add_link(rate, latency, default_buffer_packets(rate, latency));
}

std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t rate) { return serialisation_ps(bytes, rate); }

TEST(PacketLoop, OneFlowTakesItsLatenciesAndOneSerialisation) {
  for (const std::uint64_t bytes :
       {std::uint64_t{1}, std::uint64_t{4096}, std::uint64_t{4097}, 4 * kMiB + 17}) {
    for (std::size_t hops = 1; hops <= 7; ++hops) {
      Loop loop;
      std::vector<LinkId> path;
      for (std::size_t i = 0; i < hops; ++i) path.push_back(link(loop, k3000));
      const FlowId flow = loop.add_flow(path, 1);
      loop.inject(flow, bytes, 5'000);
      ASSERT_TRUE(loop.run());
      EXPECT_EQ(loop.delivered(flow).at(0), 5'000 + hops * kL + rounded_up(bytes, k3000));
      EXPECT_EQ(loop.link(path.back()).bytes, bytes);
    }
  }
}

TEST(PacketLoop, AnEmptyMessageTakesItsLatencies) {
  Loop loop;
  const FlowId flow = loop.add_flow({link(loop, k750), link(loop, k750)}, 1);
  loop.inject(flow, 0, 0);
  loop.inject(flow, 0, 0);
  ASSERT_TRUE(loop.run());
  EXPECT_EQ(loop.delivered(flow), (std::vector<Time>{2 * kL, 2 * kL}));
}

TEST(PacketLoop, MessagesOfOneFlowFollowEachOther) {
  Loop loop;
  const FlowId flow = loop.add_flow({link(loop, k750)}, 1);
  loop.inject(flow, 10'000, 0);
  loop.inject(flow, 20'000, 0);
  ASSERT_TRUE(loop.run());
  EXPECT_EQ(loop.delivered(flow),
            (std::vector<Time>{kL + rounded_up(10'000, k750), kL + rounded_up(30'000, k750)}));
  EXPECT_EQ(loop.departed(flow), (std::vector<Time>{rounded_up(10'000, k750), rounded_up(30'000, k750)}));
}

TEST(PacketLoop, TwoInputPortsShareALinkEqually) {
  Loop loop;
  const LinkId a = link(loop, k750), b = link(loop, k750), shared = link(loop, k750);
  const FlowId first = loop.add_flow({a, shared}, 2);
  const FlowId second = loop.add_flow({b, shared}, 2);
  loop.inject(first, 4 * kMiB, 0);
  loop.inject(second, 1 * kMiB, 0);
  ASSERT_TRUE(loop.run());
  // Turns alternate from the lower port on, so the short message's last packet ends two MiB of traffic.
  EXPECT_EQ(loop.delivered(second).at(0), 2 * kL + rounded_up(2 * kMiB, k750));
  EXPECT_EQ(loop.delivered(first).at(0), 2 * kL + rounded_up(5 * kMiB, k750));
}

TEST(PacketLoop, InsideAPortTheOldestGoesFirst) {
  Loop loop;
  const LinkId shared = link(loop, k750);
  const FlowId late = loop.add_flow({shared}, 1);
  const FlowId early = loop.add_flow({shared}, 2);
  loop.inject(late, kMiB, 1'000);
  loop.inject(early, kMiB, 0);
  ASSERT_TRUE(loop.run());
  EXPECT_EQ(loop.delivered(early).at(0), kL + rounded_up(kMiB, k750));
  EXPECT_EQ(loop.delivered(late).at(0), kL + rounded_up(2 * kMiB, k750));
}

TEST(PacketLoop, ARateStepEndsAtTheSlowerRate) {
  for (const auto& [first, second] : {std::pair{k3000, k375}, std::pair{k375, k3000}}) {
    Loop loop;
    const FlowId flow = loop.add_flow({link(loop, first), link(loop, second)}, 1);
    loop.inject(flow, 4 * kMiB, 0);
    ASSERT_TRUE(loop.run());
    EXPECT_NEAR(loop.delivered(flow).at(0), 2 * kL + rounded_up(4 * kMiB, k375), 1);
  }
}

TEST(PacketLoop, ASlowFlowLeavesItsGapsToAFastOne) {
  // 375 and 750 GB/s flows meet on one 3 TB/s link: neither is slowed, but for waits of one packet.
  Loop loop;
  const LinkId slow = link(loop, k375), fast = link(loop, k750), shared = link(loop, k3000);
  const FlowId slow_flow = loop.add_flow({slow, shared}, 1);
  const FlowId fast_flow = loop.add_flow({fast, shared}, 1);
  loop.inject(slow_flow, 4 * kMiB, 0);
  loop.inject(fast_flow, 8 * kMiB, 0);
  ASSERT_TRUE(loop.run());
  const Time wait = 2 * rounded_up(kPacketBytes, k3000);
  EXPECT_GE(loop.delivered(slow_flow).at(0) + 1, 2 * kL + rounded_up(4 * kMiB, k375));
  EXPECT_LE(loop.delivered(slow_flow).at(0), 2 * kL + rounded_up(4 * kMiB, k375) + wait);
  EXPECT_LE(loop.delivered(fast_flow).at(0), 2 * kL + rounded_up(8 * kMiB, k750) + wait);
}

TEST(PacketLoop, ShortBuffersStarveTheLink) {
  // A buffer of b packets passes b packets in a round trip: 2 L and the packet's own time.
  for (const std::uint32_t buffer : {1u, 6u}) {
    Loop loop;
    const LinkId first = loop.add_link(k750, kL, buffer);
    const FlowId flow = loop.add_flow({first, link(loop, k750)}, 1);
    const std::uint64_t packets = 600;
    loop.inject(flow, packets * kPacketBytes, 0);
    ASSERT_TRUE(loop.run());
    const Time packet = rounded_up(kPacketBytes, k750);
    const Time expected =
        (packets / buffer - 1) * (2 * kL + packet) + 2 * kL + rounded_up(buffer * kPacketBytes, k750);
    EXPECT_NEAR(loop.delivered(flow).at(0), expected, packets);  // a ps of rounding a packet at most
  }
}

TEST(PacketLoop, ABlockedFlowHoldsItsOwnBufferOnly) {
  // `blocked` waits for a slow link; `free` shares its first link and goes on beside it at what is left.
  Loop loop;
  const LinkId in = link(loop, k750), slow = link(loop, k375), fast = link(loop, k750);
  const FlowId blocked = loop.add_flow({in, slow}, 1);
  const FlowId unblocked = loop.add_flow({in, fast}, 2);
  loop.inject(blocked, 4 * kMiB, 0);
  loop.inject(unblocked, 4 * kMiB, 0);
  ASSERT_TRUE(loop.run());
  EXPECT_NEAR(loop.delivered(blocked).at(0), 2 * kL + rounded_up(4 * kMiB, k375), 200'000);
  EXPECT_NEAR(loop.delivered(unblocked).at(0), 2 * kL + rounded_up(8 * kMiB, k750), 200'000);
}

TEST(PacketLoop, DeliveriesOfOneTimeAreOrderedByDestination) {
  Loop loop;
  const FlowId last = loop.add_flow({link(loop, k750)}, 9);
  const FlowId first = loop.add_flow({link(loop, k750)}, 3);
  loop.inject(last, 4096, 0);
  loop.inject(first, 4096, 0);
  std::vector<FlowId> order;
  loop.set_on_delivered([&](FlowId flow, std::uint32_t, Time) { order.push_back(flow); });
  ASSERT_TRUE(loop.run());
  EXPECT_EQ(order, (std::vector<FlowId>{first, last}));
}

TEST(PacketLoop, ADeliveryMayInject) {
  Loop loop;
  const FlowId there = loop.add_flow({link(loop, k750)}, 1);
  const FlowId back = loop.add_flow({link(loop, k750)}, 0);
  loop.set_on_delivered([&](FlowId flow, std::uint32_t, Time now) {
    if (flow == there) loop.inject(back, kMiB, now);
  });
  loop.inject(there, kMiB, 0);
  ASSERT_TRUE(loop.run());
  EXPECT_EQ(loop.delivered(back).at(0), 2 * (kL + rounded_up(kMiB, k750)));
}

TEST(PacketLoop, ALowerLevelGoesFirst) {
  // It waits for the packet that has begun, and no longer.
  Loop loop;
  const LinkId wire = link(loop, k750);
  const FlowId low = loop.add_flow({wire}, 1, 3);
  const FlowId first = loop.add_flow({wire}, 2, 1);
  loop.inject(low, 4 * kMiB, 0);
  loop.inject(first, kMiB, 1'000'000);
  ASSERT_TRUE(loop.run());
  const Time begun =
      rounded_up(((1'000'000 * k750 / 1'000'000'000'000) / kPacketBytes + 1) * kPacketBytes, k750);
  EXPECT_NEAR(loop.delivered(first).at(0), kL + begun + rounded_up(kMiB, k750), 1);
  EXPECT_EQ(loop.delivered(low).at(0), kL + rounded_up(5 * kMiB, k750));
}

TEST(PacketLoop, AChangeOfLevelTakesItsTime) {
  // Up at once; down when the wire has been free for as long as a change takes.
  Loop loop;
  const LinkId wire = link(loop, k750);
  loop.set_reconfiguration(wire, 7'000);
  const FlowId low = loop.add_flow({wire}, 1, 3);
  const FlowId first = loop.add_flow({wire}, 2, 1);
  loop.inject(low, 4 * kMiB, 0);
  loop.inject(first, kMiB, 1'000'000);
  ASSERT_TRUE(loop.run());
  EXPECT_NEAR(loop.delivered(low).at(0), kL + rounded_up(5 * kMiB, k750) + 3 * 7'000, 3);
}

/// Reduction and multicast in the switches of a two-level tree: l1 groups of `per_l1`.
struct Tree {
  Loop loop;
  std::vector<FlowId> up, down;

  Tree(std::uint32_t l1, std::uint32_t per_l1) {
    std::vector<FlowId> middle_up, middle_down;
    for (std::uint32_t s = 0; s < l1; ++s) {
      std::vector<FlowId> ins, outs;
      for (std::uint32_t i = 0; i < per_l1; ++i) {
        ins.push_back(loop.add_flow({link(loop, k3000)}, s));
        outs.push_back(loop.add_flow({link(loop, k3000)}, s * per_l1 + i));
      }
      middle_up.push_back(loop.add_flow({link(loop, k12000)}, s));
      middle_down.push_back(loop.add_flow({link(loop, k12000)}, s));
      loop.add_stage(ins, {middle_up.back()});
      loop.add_stage({middle_down.back()}, outs);
      up.insert(up.end(), ins.begin(), ins.end());
      down.insert(down.end(), outs.begin(), outs.end());
    }
    loop.add_stage(middle_up, middle_down);
  }
};

TEST(PacketLoop, InSwitchAllReduceTakesOneSerialisationAndFourLatencies) {
  Tree tree(5, 4);
  const std::uint64_t bytes = 4 * kMiB;
  for (const FlowId flow : tree.up) tree.loop.inject(flow, bytes, 0);
  ASSERT_TRUE(tree.loop.run());
  // The 12 TB/s uplink waits until the first packet can pass without a gap.
  const Time wait = rounded_up(kPacketBytes, k3000) - rounded_up(kPacketBytes, k12000);
  for (const FlowId flow : tree.down) {
    EXPECT_NEAR(tree.loop.delivered(flow).at(0), 4 * kL + rounded_up(bytes, k3000) + wait, 10);
  }
}

TEST(PacketLoop, AStragglerDelaysAReductionByItsLateness) {
  Tree tree(5, 4);
  const std::uint64_t bytes = 4 * kMiB;
  const Time late = 1'000'000;
  for (std::size_t i = 0; i < tree.up.size(); ++i) tree.loop.inject(tree.up[i], bytes, i == 7 ? late : 0);
  ASSERT_TRUE(tree.loop.run());
  for (const FlowId flow : tree.down) {
    EXPECT_NEAR(tree.loop.delivered(flow).at(0), late + 4 * kL + rounded_up(bytes, k3000), 5'000);
  }
}

TEST(PacketLoop, AStageWaitsForTheSlowestOutput) {
  // Multicast to a fast sink and to a slow link's sink: the fast one gets at most a buffer ahead.
  Loop loop;
  const FlowId in = loop.add_flow({link(loop, k3000)}, 0);
  const FlowId fast = loop.add_flow({link(loop, k3000)}, 1);
  const FlowId slow = loop.add_flow({link(loop, k3000), link(loop, k375)}, 2);
  loop.add_stage({in}, {fast, slow});
  loop.inject(in, 4 * kMiB, 0);
  ASSERT_TRUE(loop.run());
  EXPECT_NEAR(loop.delivered(slow).at(0), 3 * kL + rounded_up(4 * kMiB, k375), 2'000);
  const Time buffer = rounded_up(default_buffer_packets(k3000, kL) * kPacketBytes, k375);
  EXPECT_GT(loop.delivered(fast).at(0), loop.delivered(slow).at(0) - buffer - 2 * kL);
}

TEST(PacketLoop, ARunThatCannotEndSaysSo) {
  Tree tree(2, 2);
  for (std::size_t i = 1; i < tree.up.size(); ++i) tree.loop.inject(tree.up[i], kMiB, 0);
  EXPECT_FALSE(tree.loop.run());
  EXPECT_TRUE(tree.loop.delivered(tree.down[0]).empty());
}

TEST(PacketLoop, RefusesWhatItCannotRun) {
  Loop loop;
  EXPECT_THROW(loop.add_link(0, kL, 1), std::invalid_argument);
  EXPECT_THROW(loop.add_flow({}, 0), std::invalid_argument);
  const FlowId flow = loop.add_flow({link(loop, k750)}, 0);
  loop.inject(flow, 1, 100);
  EXPECT_THROW(loop.inject(flow, 1, 50), std::invalid_argument);
}

}  // namespace
}  // namespace packet_loop
