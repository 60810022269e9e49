// SPDX-License-Identifier: Apache-2.0
// Random traffic over feeds of random rates into one link: whatever happens, the law holds for each packet.
#include <algorithm>
#include <random>

#include "law.h"
#include "traffic.h"

namespace wafervp::test {
namespace {

struct RandomBench {
  RandomBench(std::uint64_t seed, bool packet_grain) : random(seed) {
    static constexpr std::uint64_t kRates[] = {375, 500, 750, 1500, 3000};
    const auto config = [&] {
      LinkConfig made = link_config(kRates[random() % 5] * kGB, (5 + random() % 40) * kNs, packet_grain);
      if (random() % 4 == 0) made.buffer_packets = 1 + static_cast<std::uint32_t>(random() % 8);
      made.train_packets = 1 + static_cast<std::uint32_t>(random() % 8);
      return made;
    };
    std::vector<LinkConfig> feeds;
    for (std::uint64_t k = 0, n = 2 + random() % 3; k < n; ++k) feeds.push_back(config());
    bench = std::make_unique<MergeBench>("b" + std::to_string(seed) + (packet_grain ? "p" : "a"), feeds,
                                         config());
    if (random() % 2 == 0) bench->sink.hold_packets(random() % 100 * kNs);
    for (std::uint64_t m = 0; m < 16; ++m) {
      Sending sending;
      const auto port = static_cast<std::uint32_t>(random() % feeds.size());
      sending.from = NpuId(port);
      sending.to = NpuId(100 + static_cast<std::uint32_t>(random() % 3));
      sending.bytes = random() % 8 == 0 ? 0 : random() % 400'000;
      sending.tag = m;
      bytes += sending.bytes;
      bench->sources[port].send_at(random() % 2'000'000, sending);
    }
  }
  std::mt19937_64 random;
  std::unique_ptr<MergeBench> bench;
  std::uint64_t bytes = 0;
};

void expect_law(const RandomBench& random, bool packet_grain) {
  const MergeBench& bench = *random.bench;
  SCOPED_TRACE(bench.link.name());
  const LinkConfig& config = bench.link.config();
  EXPECT_EQ(bench.sink.deliveries.size(), 16u);
  EXPECT_EQ(bench.shared.pool.outstanding(), 0u);
  EXPECT_EQ(bench.link.statistics().bytes, random.bytes);
  std::uint64_t fed = 0;
  for (const Link& feed : bench.feeds) fed += feed.statistics().bytes;
  EXPECT_EQ(fed, random.bytes);
  const std::uint64_t rate = config.rate.bytes_per_s();
  expect_wire(bench.sink.log.packets(), rate, packet_grain ? 2 : serialisation(kPacketBytes, rate));
  for (std::size_t k = 0; k < bench.feeds.size(); ++k) {
    const LinkConfig& feed = bench.feeds[k].config();
    for (std::uint32_t flow = 0; flow < bench.shared.flows.size(); ++flow) {
      const std::vector<Packet> before = bench.monitors[k].log.packets_of(FlowId(flow));
      if (before.empty()) continue;
      const std::vector<Packet> after = bench.sink.log.packets_of(FlowId(flow));
      expect_same_packets(before, after);
      expect_passage({before, feed.latency, feed.buffer_packets, after, config.latency, rate});
    }
  }
}

class RandomTraffic : public testing::TestWithParam<bool> {};

TEST_P(RandomTraffic, ObeysTheLawPacketByPacket) {
  std::deque<RandomBench> benches;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) benches.emplace_back(seed, GetParam());
  sc_core::sc_start();
  for (const RandomBench& bench : benches) {
    bench.bench->shared.calendar.rethrow_failure();
    expect_law(bench, GetParam());
    if (testing::Test::HasFailure()) break;
  }
}

INSTANTIATE_TEST_SUITE_P(Grains, RandomTraffic, testing::Bool(),
                         [](const auto& param) { return param.param ? "Packet" : "Auto"; });

// The end of all traffic hardly depends on the grain.
TEST(RandomTrafficInBothGrains, EndsAtTheSameTime) {
  std::deque<RandomBench> runs, single;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    runs.emplace_back(seed, false);
    single.emplace_back(seed, true);
  }
  sc_core::sc_start();
  const auto end = [](const RandomBench& of) {
    Time last = 0;
    for (const Delivery& delivery : of.bench->sink.deliveries) last = std::max(last, delivery.when);
    return static_cast<double>(last);
  };
  for (std::size_t i = 0; i < runs.size(); ++i) {
    EXPECT_NEAR(end(runs[i]) / end(single[i]), 1, 0.02) << runs[i].bench->link.name();
  }
}

}  // namespace
}  // namespace wafervp::test
