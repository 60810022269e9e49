// SPDX-License-Identifier: Apache-2.0
// When is an in-network operation done? S / rate and the latencies of the way, once.
#include "fred_bench.h"

namespace wafervp::test {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;
constexpr std::uint64_t kRate = 3000 * kGB;
constexpr Time kLatency = 20 * kNs;

class OneLevel : public testing::TestWithParam<std::tuple<std::uint64_t, bool>> {};

TEST_P(OneLevel, AllReduceTakesBytesOverRateAndTwoLatencies) {
  const auto [bytes, packet_grain] = GetParam();
  FredRates rates;
  rates.packet_grain = packet_grain;
  SwitchBench bench("bench", 5, rates);
  const std::uint32_t group = bench.flow({0, 1, 2, 3, 4}, {0, 1, 2, 3, 4});
  for (std::uint32_t npu = 0; npu < 5; ++npu) bench.send_at(0, npu, group, bytes);
  bench.run();
  for (const Sink& sink : bench.sinks) {
    ASSERT_EQ(sink.deliveries.size(), 1u);
    const Time expected = 2 * kLatency + serialisation(bytes, kRate);
    EXPECT_GE(sink.deliveries[0].when + 2, expected);
    EXPECT_LE(sink.deliveries[0].when, expected + 2);
  }
  for (const Link& link : bench.ups) EXPECT_EQ(link.statistics().bytes, bytes);
  for (const Link& link : bench.downs) EXPECT_EQ(link.statistics().bytes, bytes);
}

INSTANTIATE_TEST_SUITE_P(Sizes, OneLevel,
                         testing::Combine(testing::Values<std::uint64_t>(1, 4096, 10'001, kMiB, 16 * kMiB),
                                          testing::Bool()));

TEST(OneLevelLate, TheLastRankDecides) {
  SwitchBench bench("bench", 4);
  const std::uint32_t group = bench.flow({0, 1, 2, 3}, {0, 1, 2, 3});
  for (std::uint32_t npu = 0; npu < 4; ++npu)
    bench.send_at(npu == 2 ? 5000 * kNs : npu * 10 * kNs, npu, group, kMiB);
  bench.run();
  for (const Sink& sink : bench.sinks) {
    EXPECT_NEAR(static_cast<double>(sink.deliveries.at(0).when),
                static_cast<double>(5000 * kNs + 2 * kLatency + serialisation(kMiB, kRate)), 4.0);
  }
}

TEST(OneLevelLate, TheLatencyOfTheSwitchIsAddedOnce) {
  FredRates rates;
  rates.switch_latency = 1 * kNs;
  SwitchBench bench("bench", 2, rates);
  const std::uint32_t group = bench.flow({0, 1}, {0, 1});
  for (std::uint32_t npu : {0u, 1u}) bench.send_at(0, npu, group, 20 * kPacketBytes);
  bench.run();
  EXPECT_NEAR(static_cast<double>(bench.sinks[0].deliveries.at(0).when),
              static_cast<double>(2 * kLatency + 1 * kNs + serialisation(20 * kPacketBytes, kRate)), 4.0);
}

// Two operations of one communicator follow each other without a gap.
TEST(OneLevelLate, MessagesFollowEachOther) {
  SwitchBench bench("bench", 3);
  const std::uint32_t group = bench.flow({0, 1, 2}, {0, 1, 2});
  for (std::uint32_t npu = 0; npu < 3; ++npu) {
    for (int k = 0; k < 8; ++k) bench.send_at(0, npu, group, 100'000);
  }
  bench.run();
  for (std::size_t k = 0; k < 8; ++k) {
    EXPECT_NEAR(static_cast<double>(bench.sinks[1].deliveries.at(k).when),
                static_cast<double>(2 * kLatency + serialisation(100'000 * (k + 1), kRate)), 8.0);
  }
}

// A multicast whose outputs differ: the free one is ahead, by its buffers only, and the taken one sets the
// pace.
TEST(OneLevelLate, CopiesLeaveIndependentlyWithinTheBuffers) {
  SwitchBench bench("bench", 4);
  const std::uint32_t group = bench.flow({0}, {1, 2});
  constexpr std::uint64_t kPackets = 2000;
  bench.send_at(0, 0, group, kPackets * kPacketBytes);
  Sending other;  // takes half of output 2
  other.from = NpuId(3);
  other.to = NpuId(2);
  other.bytes = 2 * kPackets * kPacketBytes;
  bench.sources[3].send_at(0, other);
  bench.run();
  const std::vector<Packet> free =
      bench.sinks[1].log.packets_of(FlowId(bench.sinks[1].log.packets()[0].flow));
  std::vector<Packet> taken;
  for (const Packet& packet : bench.sinks[2].log.packets()) {
    if (packet.flow != FlowId(0) && packet.flow != FlowId(1)) taken.push_back(packet);
  }
  ASSERT_EQ(free.size(), kPackets);
  ASSERT_EQ(taken.size(), kPackets);
  const std::uint32_t buffer = bench.ups[0].buffer_packets();
  for (std::uint64_t j = buffer; j < kPackets; ++j) {
    ASSERT_GE(free[j].head + 2, taken[j - buffer].tail)
        << "packet " << j << " is ahead by more than the buffer";
  }
  EXPECT_NEAR(static_cast<double>(taken.back().tail),
              static_cast<double>(2 * kLatency + serialisation(2 * kPackets * kPacketBytes, kRate)),
              0.01 * static_cast<double>(serialisation(2 * kPackets * kPacketBytes, kRate)));
}

TEST(TwoLevels, AllReduceTakesBytesOverRateAndFourLatencies) {
  FredRates rates;
  rates.switch_latency = 0;
  TreeBench equal("equal", 2, 2, rates, 3000 * kGB), wide("wide", 5, 4, rates, 12'000 * kGB);
  for (std::uint32_t npu = 0; npu < 4; ++npu) equal.send_at(0, npu, 16 * kMiB);
  for (std::uint32_t npu = 0; npu < 20; ++npu) wide.send_at(0, npu, 16 * kMiB);
  sc_core::sc_start();
  equal.shared.calendar.rethrow_failure();
  wide.shared.calendar.rethrow_failure();
  const auto expected = static_cast<double>(4 * kLatency + serialisation(16 * kMiB, kRate));
  EXPECT_GE(static_cast<double>(equal.end()) + 4, expected);
  EXPECT_GE(static_cast<double>(wide.end()) + 4, expected);
  EXPECT_NEAR(static_cast<double>(equal.end()), expected, 4.0);
  // Faster uplinks bring no more than the NPUs' links carry.
  EXPECT_LT(static_cast<double>(wide.end()), 1.001 * expected);
}

TEST(TwoLevels, ANarrowUplinkDecides) {
  TreeBench bench("bench", 5, 4, {}, 1500 * kGB);
  for (std::uint32_t npu = 0; npu < 20; ++npu) bench.send_at(npu * 7, npu, 16 * kMiB);
  sc_core::sc_start();
  bench.shared.calendar.rethrow_failure();
  const auto expected = static_cast<double>(4 * kLatency + serialisation(16 * kMiB, 1500 * kGB));
  EXPECT_GE(static_cast<double>(bench.end()) + 4, expected);
  EXPECT_LT(static_cast<double>(bench.end()), 1.001 * expected);
}

// Unicast messages pass a FRED switch as any switch.
TEST(FredUnicast, TakesBytesOverRateAndTwoLatencies) {
  SwitchBench bench("bench", 3);
  Sending sending;
  sending.from = NpuId(0);
  sending.to = NpuId(2);
  sending.bytes = 1'000'000;
  bench.sources[0].send_at(0, sending);
  bench.run();
  EXPECT_EQ(bench.sinks[2].arrival(NpuId(0), 0), 2 * kLatency + serialisation(1'000'000, kRate));
}

}  // namespace
}  // namespace wafervp::test
