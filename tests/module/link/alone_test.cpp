// SPDX-License-Identifier: Apache-2.0
// A link with the traffic of one flow: latency + bytes / rate, to the picosecond, in both grains.
#include "law.h"
#include "traffic.h"

namespace wafervp::test {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;
constexpr Time kApart = 100'000'000'000'000;  // longer than any message takes
const std::vector<std::uint64_t> kSizes = {1, 100, 4095, 4096, 4097, 8192, 100'000, kMiB, 16 * kMiB + 1};

/// The same traffic on three links: booked, not booked because a second flow has been opened, and packet
/// by packet.
struct Three {
  explicit Three(std::uint64_t rate, Time latency)
      : booked("booked", link_config(rate, latency)),
        arbitrated("arbitrated", link_config(rate, latency)),
        packets("packets", link_config(rate, latency, true)) {
    arbitrated.shared.flows.unicast(NpuId(1), NpuId(101), 0);
    arbitrated.shared.flows.unicast(NpuId(0), NpuId(100), 0);
  }
  LinkBench booked, arbitrated, packets;
  std::vector<LinkBench*> all() { return {&booked, &arbitrated, &packets}; }
  void run() { simulate({&booked.shared, &arbitrated.shared, &packets.shared}); }
};

Sending message(std::uint64_t bytes, std::uint64_t tag, std::uint32_t from = 0) {
  Sending sending;
  sending.from = NpuId(from);
  sending.to = NpuId(100 + from);
  sending.bytes = bytes;
  sending.tag = tag;
  return sending;
}

class Alone : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Alone, TakesLatencyAndBytesOverRate) {
  const std::uint64_t rate = GetParam();
  Three links(rate, 20 * kNs);
  for (LinkBench* bench : links.all()) {
    for (std::size_t k = 0; k < kSizes.size(); ++k) {
      bench->source.send_at(k * kApart, message(kSizes[k], k));
    }
  }
  links.run();
  for (LinkBench* bench : links.all()) {
    for (std::size_t k = 0; k < kSizes.size(); ++k) {
      EXPECT_EQ(bench->sink.arrival(NpuId(0), k), k * kApart + 20 * kNs + serialisation(kSizes[k], rate))
          << bench->link.name() << ", " << kSizes[k] << " bytes";
    }
    expect_wire(bench->sink.log.packets(), rate);
  }
}

TEST_P(Alone, MessagesBackToBackAreOneBusyPeriod) {
  const std::uint64_t rate = GetParam();
  Three links(rate, 7);
  for (LinkBench* bench : links.all()) {
    for (std::size_t k = 0; k < kSizes.size(); ++k) bench->source.send_at(0, message(kSizes[k], k));
    bench->source.send_at(1, message(12'345, 99));  // while the link is busy
  }
  links.run();
  for (LinkBench* bench : links.all()) {
    std::uint64_t sum = 0;
    for (std::size_t k = 0; k < kSizes.size(); ++k) {
      sum += kSizes[k];
      EXPECT_EQ(bench->sink.arrival(NpuId(0), k), 7 + serialisation(sum, rate)) << bench->link.name();
    }
    EXPECT_EQ(bench->sink.arrival(NpuId(0), 99), 7 + serialisation(sum + 12'345, rate)) << bench->link.name();
    const LinkStatistics& statistics = bench->link.statistics();
    EXPECT_EQ(statistics.bytes, sum + 12'345);
    EXPECT_EQ(statistics.busy_ps, serialisation(sum + 12'345, rate));
    EXPECT_EQ(statistics.stalled_ps, 0u);
    EXPECT_EQ(statistics.class_bytes[0], statistics.bytes);
  }
  EXPECT_EQ(links.packets.link.statistics().packets, links.packets.link.statistics().runs);
  EXPECT_EQ(links.packets.link.statistics().packets, links.booked.link.statistics().packets);
  EXPECT_EQ(links.booked.link.statistics().runs, kSizes.size() + 1);
  EXPECT_EQ(links.arbitrated.link.statistics().runs, kSizes.size() + 1);
}

INSTANTIATE_TEST_SUITE_P(Rates, Alone,
                         testing::Values(375 * kGB, 750 * kGB, 3000 * kGB, 12'000 * kGB, 805'306'368'000,
                                         999'999'999'989, 1'000'003));

TEST(Link, AnEmptyMessageTakesTheLatency) {
  Three links(750 * kGB, 20 * kNs);
  for (LinkBench* bench : links.all()) {
    bench->source.send_at(0, message(0, 0));
    bench->source.send_at(100 * kNs, message(8192, 1));
    bench->source.send_at(100 * kNs, message(0, 2));
    bench->source.send_at(100 * kNs, message(0, 3));
    bench->source.send_at(100 * kNs, message(1, 4));
  }
  links.run();
  for (LinkBench* bench : links.all()) {
    EXPECT_EQ(bench->sink.arrival(NpuId(0), 0), 20 * kNs) << bench->link.name();
    const Time end = 120 * kNs + serialisation(8192, 750 * kGB);
    EXPECT_EQ(bench->sink.arrival(NpuId(0), 1), end) << bench->link.name();
    EXPECT_EQ(bench->sink.arrival(NpuId(0), 2), end) << bench->link.name();
    EXPECT_EQ(bench->sink.arrival(NpuId(0), 3), end) << bench->link.name();
    EXPECT_EQ(bench->sink.arrival(NpuId(0), 4), 120 * kNs + serialisation(8193, 750 * kGB))
        << bench->link.name();
  }
}

TEST(Link, TellsTheSourceWhenPacketsHaveLeft) {
  LinkBench bench("bench", link_config(750 * kGB));
  bench.source.send_at(0, message(3 * 4096 + 10, 0));
  bench.run();
  ASSERT_EQ(bench.source.credits.size(), 1u);
  const wafervp::Run& left = bench.source.credits[0];
  EXPECT_EQ(left.first, 0u);
  EXPECT_EQ(left.count, 4u);
  for (std::uint64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(left.tail(i), serialisation(std::min<std::uint64_t>((i + 1) * 4096, 3 * 4096 + 10), 750 * kGB));
  }
}

TEST(Link, NeedsABuffer) {
  Shared shared("shared");
  LinkConfig config = link_config(750 * kGB);
  config.buffer_packets = 0;
  EXPECT_THROW(Link("link", config, shared.calendar), std::invalid_argument);
}

}  // namespace
}  // namespace wafervp::test
