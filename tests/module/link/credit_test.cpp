// SPDX-License-Identifier: Apache-2.0
// Credits: a buffer of B packets and a round trip T give B packets in each T, and no packet more.
#include "law.h"
#include "traffic.h"

namespace wafervp::test {
namespace {

constexpr std::uint64_t kRate = 750 * kGB;
constexpr Time kLatency = 20 * kNs;

Sending packets(std::uint64_t count, std::uint64_t tag = 0, std::uint32_t from = 0) {
  Sending sending;
  sending.from = NpuId(from);
  sending.to = NpuId(100);
  sending.bytes = count * kPacketBytes;
  sending.tag = tag;
  return sending;
}

LinkConfig with_buffer(std::uint32_t buffer_packets, bool packet_grain) {
  LinkConfig config = link_config(kRate, kLatency, packet_grain);
  config.buffer_packets = buffer_packets;
  return config;
}

class Credits : public testing::TestWithParam<std::tuple<std::uint32_t, Time>> {};

TEST_P(Credits, GiveABufferEachRoundTrip) {
  const auto [buffer, hold] = GetParam();
  LinkBench runs("runs", with_buffer(buffer, false)), single("single", with_buffer(buffer, true));
  constexpr std::uint64_t kCount = 96;
  for (LinkBench* bench : {&runs, &single}) {
    bench->sink.hold_packets(hold);
    bench->source.send_at(0, packets(kCount));
  }
  simulate({&runs.shared, &single.shared});

  const Time trip = serialisation(kPacketBytes, kRate) + 2 * kLatency + hold;
  const Time burst = serialisation(buffer * std::uint64_t{kPacketBytes}, kRate);
  for (LinkBench* bench : {&runs, &single}) {
    const std::vector<Packet> seen = bench->sink.log.packets();
    ASSERT_EQ(seen.size(), kCount);
    expect_wire(seen, kRate);
    if (trip <= burst) {  // the buffer covers the round trip: never a gap
      EXPECT_EQ(seen.back().tail, kLatency + serialisation(kCount * kPacketBytes, kRate))
          << bench->link.name();
      EXPECT_EQ(bench->link.statistics().stalled_ps, 0u);
      continue;
    }
    for (std::uint64_t j = 0; j < kCount; ++j) {
      const Time expected =
          kLatency + j / buffer * trip + serialisation(j % buffer * std::uint64_t{kPacketBytes}, kRate);
      ASSERT_EQ(seen[j].head, expected) << "packet " << j << " on " << bench->link.name();
    }
    EXPECT_EQ(bench->link.statistics().stalled_ps, (kCount - 1) / buffer * (trip - burst))
        << bench->link.name();
  }
}

INSTANTIATE_TEST_SUITE_P(Buffers, Credits,
                         testing::Combine(testing::Values(1u, 2u, 4u, 6u, 8u, 9u, 10u, 32u),
                                          testing::Values(Time{0}, 100 * kNs, 1000 * kNs)));

// The platform's buffer keeps the link busy at any rate and latency.
TEST(CreditsOfThePlatform, CoverTheRoundTrip) {
  std::deque<LinkBench> benches;
  int number = 0;
  for (std::uint64_t rate : {375 * kGB, 750 * kGB, 3000 * kGB, 12'000 * kGB}) {
    for (Time latency : {Time{1}, 5 * kNs, 20 * kNs, 500 * kNs}) {
      LinkBench& bench = benches.emplace_back("b" + std::to_string(number++), link_config(rate, latency));
      bench.sink.hold_packets(0);
      bench.source.send_at(0, packets(3000));
    }
  }
  sc_core::sc_start();
  for (LinkBench& bench : benches) {
    const LinkConfig& config = bench.link.config();
    EXPECT_EQ(bench.sink.arrival(NpuId(0), 0),
              config.latency + serialisation(3000 * std::uint64_t{kPacketBytes}, config.rate.bytes_per_s()));
    EXPECT_EQ(bench.link.statistics().stalled_ps, 0u);
  }
}

// A run that hopes for credits costs no more than a few events, however long the message is.
TEST(CreditsOfThePlatform, MakeLongRuns) {
  LinkBench bench("bench", link_config(kRate, kLatency));
  bench.sink.hold_packets(0);
  bench.source.send_at(0, packets(100'000));
  bench.run();
  EXPECT_LE(bench.link.statistics().runs, 2u);
  EXPECT_LE(bench.shared.calendar.executed(), 20u);
}

// A flow without credit does not hold up another flow of its port.
TEST(CreditsOfAFlow, DoNotHoldUpOthers) {
  LinkBench bench("bench", with_buffer(2, false));
  bench.sink.hold_packets(10'000 * kNs);
  bench.source.send_at(0, packets(4, 0));
  Sending other = packets(2, 1);
  other.to = NpuId(101);
  bench.source.send_at(1 * kNs, other);
  bench.run();
  EXPECT_EQ(bench.sink.arrival(NpuId(0), 1), kLatency + serialisation(4 * kPacketBytes, kRate));
  EXPECT_GT(bench.sink.arrival(NpuId(0), 0), 10'000 * kNs);
}

}  // namespace
}  // namespace wafervp::test
