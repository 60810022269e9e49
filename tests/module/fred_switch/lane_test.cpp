// SPDX-License-Identifier: Apache-2.0
// Do flows that share a lane take turns, and flows beside them not?
#include "fred_bench.h"

namespace wafervp::test {
namespace {

constexpr std::uint64_t kPackets = 400;

/// `n` packets at 3 TB/s, and the way in and out.
Time packets_and_way(std::uint64_t n) { return Rate(3000 * kGB).ps(n * kPacketBytes) + 2 * 20 * kNs; }

class Lane : public testing::TestWithParam<bool> {
 protected:
  FredRates rates() const {
    FredRates rates;
    rates.packet_grain = GetParam();
    return rates;
  }
  static Time end(const SwitchBench& bench, unsigned port) {
    EXPECT_EQ(bench.sinks[port].deliveries.size(), 1u);
    return bench.sinks[port].deliveries.back().when;
  }
};

TEST_P(Lane, IsAsFastAsAPort) {
  SwitchBench bench("bench", 4, rates(), 1);
  const std::uint32_t group = bench.flow_through(0, {0, 1}, {0, 1});
  for (const unsigned port : {0u, 1u}) bench.send_at(0, port, group, kPackets * kPacketBytes);
  bench.run();
  EXPECT_EQ(end(bench, 0), packets_and_way(kPackets));
  EXPECT_EQ(end(bench, 1), packets_and_way(kPackets));
}

TEST_P(Lane, IsPassedByOnePacketAtATime) {
  // Three all-reduces, of which the first two share a lane, and the third has none.
  SwitchBench bench("bench", 6, rates(), 1);
  const std::uint32_t a = bench.flow_through(0, {0, 1}, {0, 1}), b = bench.flow_through(0, {2, 3}, {2, 3}),
                      c = bench.flow({4, 5}, {4, 5});
  for (const auto& [port, group] : {std::pair{0u, a}, {1u, a}, {2u, b}, {3u, b}, {4u, c}, {5u, c}}) {
    bench.send_at(0, port, group, kPackets * kPacketBytes);
  }
  bench.run();
  EXPECT_EQ(end(bench, 4), packets_and_way(kPackets));
  // The lane carries both, and is never idle before it has: the later one ends when all has passed, the other
  // a turn before.
  const Time turn = 4 * Rate(3000 * kGB).ps(kPacketBytes);
  // Whole picoseconds: what the lane sends in two runs begins a rounded time later at the next link.
  EXPECT_NEAR(static_cast<double>(std::max(end(bench, 0), end(bench, 2))),
              static_cast<double>(packets_and_way(2 * kPackets)), 2);
  EXPECT_GE(std::min(end(bench, 0), end(bench, 2)), packets_and_way(2 * kPackets) - turn);
  const LinkStatistics lane = bench.fred.lanes()[0]->statistics();
  EXPECT_EQ(lane.bytes, 2 * kPackets * kPacketBytes);
  EXPECT_EQ(lane.busy_ps, Rate(3000 * kGB).ps(2 * kPackets * kPacketBytes));
}

TEST_P(Lane, IsNotHeldByAFlowThatWaits) {
  // Flow a has its second input 100 us late: b passes meanwhile as if it were alone.
  SwitchBench bench("bench", 4, rates(), 1);
  const std::uint32_t a = bench.flow_through(0, {0, 1}, {0, 1}), b = bench.flow_through(0, {2, 3}, {2, 3});
  bench.send_at(0, 0, a, kPackets * kPacketBytes);
  bench.send_at(100'000 * kNs, 1, a, kPackets * kPacketBytes);
  for (const unsigned port : {2u, 3u}) bench.send_at(0, port, b, kPackets * kPacketBytes);
  bench.run();
  EXPECT_EQ(end(bench, 2), packets_and_way(kPackets));
  EXPECT_EQ(end(bench, 0), 100'000 * kNs + packets_and_way(kPackets));
}

TEST_P(Lane, TakesTheSwitchsLatencyOnce) {
  FredRates slow = rates();
  slow.switch_latency = 6 * kNs;
  SwitchBench bench("bench", 2, slow, 1);
  const std::uint32_t group = bench.flow_through(0, {0, 1}, {0, 1});
  for (const unsigned port : {0u, 1u}) bench.send_at(0, port, group, kPacketBytes);
  bench.run();
  EXPECT_EQ(end(bench, 0), packets_and_way(1) + 6 * kNs);
}

INSTANTIATE_TEST_SUITE_P(Grain, Lane, testing::Bool(),
                         [](const auto& given) { return given.param ? "packet" : "automatic"; });

}  // namespace
}  // namespace wafervp::test
