// SPDX-License-Identifier: Apache-2.0
// Links behind links: cut-through, steps of the rate, hopes and their answers, paced runs.
#include "law.h"
#include "traffic.h"

namespace wafervp::test {
namespace {

constexpr Time kLatency = 20 * kNs;

void expect_law(const MergeBench& bench, Time overlap = 2) {
  const std::uint64_t rate = bench.link.config().rate.bytes_per_s();
  expect_wire(bench.sink.log.packets(), rate, overlap);
  for (std::size_t k = 0; k < bench.feeds.size(); ++k) {
    const LinkConfig& feed = bench.feeds[k].config();
    const std::vector<Packet> all = bench.monitors[k].log.packets();
    expect_wire(all, feed.rate.bytes_per_s());
    for (std::uint32_t flow = 0; flow < bench.shared.flows.size(); ++flow) {
      const std::vector<Packet> before = bench.monitors[k].log.packets_of(FlowId(flow));
      if (before.empty()) continue;
      const std::vector<Packet> after = bench.sink.log.packets_of(FlowId(flow));
      expect_same_packets(before, after);
      expect_passage({before, feed.latency, feed.buffer_packets, after, bench.link.config().latency, rate});
    }
  }
}

class Chain : public testing::TestWithParam<std::tuple<std::uint64_t, std::uint64_t>> {};

// The head takes both latencies, the whole the time of the slower link: in both grains.
TEST_P(Chain, IsAsFastAsItsSlowerLink) {
  const auto [first, second] = GetParam();
  MergeBench runs("runs", {link_config(first, kLatency)}, link_config(second, kLatency));
  MergeBench single("single", {link_config(first, kLatency, true)}, link_config(second, kLatency, true));
  constexpr std::uint64_t kCount = 2000;
  for (MergeBench* bench : {&runs, &single}) bench->sources[0].send_at(0, flow_packets(kCount, 0));
  simulate({&runs.shared, &single.shared});
  for (MergeBench* bench : {&runs, &single}) {
    // Cut-through: where the second link is faster, its last packet ends with that of the first one.
    const Time expected = 2 * kLatency + serialisation(kCount * kPacketBytes, std::min(first, second));
    const Time found = bench->sink.arrival(NpuId(0), 0);
    EXPECT_GE(found + 2, expected) << bench->link.name();
    EXPECT_LE(found, expected + 2) << bench->link.name();
    expect_law(*bench);
  }
}

INSTANTIATE_TEST_SUITE_P(Rates, Chain,
                         testing::Combine(testing::Values(375 * kGB, 750 * kGB, 3000 * kGB, 12'000 * kGB),
                                          testing::Values(375 * kGB, 750 * kGB, 3000 * kGB, 12'000 * kGB)));

// The feed runs ahead in hope, is told that the link behind is slow or taken, and keeps to its credits.
TEST(Chain, AHopefulRunIsCutToWhatIsCovered) {
  MergeBench bench("bench", {link_config(3000 * kGB), link_config(3000 * kGB)}, link_config(375 * kGB));
  bench.sources[0].send_at(0, flow_packets(1000, 0));
  bench.sources[1].send_at(0, flow_packets(1000, 1));
  simulate({&bench.shared});
  expect_law(bench);
  EXPECT_GT(bench.feeds[0].statistics().stalled_ps, 0u);
  EXPECT_EQ(bench.sink.log.packets().back().tail - bench.sink.log.packets().front().head,
            serialisation(2000 * std::uint64_t{kPacketBytes}, 375 * kGB));
  const LinkStatistics& statistics = bench.feeds[0].statistics();
  EXPECT_EQ(statistics.bytes, 1000 * std::uint64_t{kPacketBytes});
}

// Nothing leaves the link behind for a while: the head's answer is STALL, not silence.
TEST(Chain, AStalledPlaceAnswersAHopefulRun) {
  MergeBench bench("bench", {link_config(3000 * kGB), link_config(3000 * kGB)}, link_config(3000 * kGB));
  bench.sink.hold_packets(50'000 * kNs);
  bench.sources[0].send_at(0, flow_packets(500, 0));
  simulate({&bench.shared});
  expect_law(bench);
  EXPECT_GT(bench.monitors[0].stalls, 0u);
}

// Two slow flows fit on a fast link, each at its own pace; a third one that is fast gets the gaps.
TEST(Chain, SlowFlowsShareAFastLink) {
  const LinkConfig slow = link_config(375 * kGB), fast = link_config(3000 * kGB);
  MergeBench bench("bench", {slow, link_config(375 * kGB), fast}, link_config(3000 * kGB));
  bench.sources[0].send_at(0, flow_packets(1000, 0));
  bench.sources[1].send_at(3 * kNs, flow_packets(1000, 1));
  simulate({&bench.shared});
  const Time alone = serialisation(1000 * std::uint64_t{kPacketBytes}, 375 * kGB);
  const Time packet = serialisation(kPacketBytes, 3000 * kGB);
  EXPECT_NEAR(static_cast<double>(bench.sink.arrival(NpuId(0), 0)), static_cast<double>(2 * kLatency + alone),
              4.0);
  EXPECT_NEAR(static_cast<double>(bench.sink.arrival(NpuId(1), 0)),
              static_cast<double>(2 * kLatency + alone + 3 * kNs), 4.0);
  // A paced packet may find another one on the wire: neglected, less than one packet time.
  expect_law(bench, packet);
  EXPECT_LE(bench.shared.calendar.executed(), 50u);
}

TEST(Chain, AFastFlowGetsTheGapsOfASlowOne) {
  MergeBench bench("bench", {link_config(375 * kGB), link_config(3000 * kGB)}, link_config(3000 * kGB));
  constexpr std::uint64_t kSlow = 1000, kFast = 6000;
  bench.sources[0].send_at(0, flow_packets(kSlow, 0));
  bench.sources[1].send_at(500 * kNs, flow_packets(kFast, 1));
  simulate({&bench.shared});
  // Neither waits: 375 + 3000 * 7/8 fit, the fast one has 2625 GB/s while the slow one lasts.
  const Time slow_end = 2 * kLatency + serialisation(kSlow * kPacketBytes, 375 * kGB);
  EXPECT_LT(static_cast<double>(bench.sink.arrival(NpuId(0), 0)), 1.01 * static_cast<double>(slow_end));
  const Time fast_time = serialisation(kFast * kPacketBytes, 2625 * kGB);
  const Time fast_end = 500 * kNs + 2 * kLatency + fast_time;
  EXPECT_LT(static_cast<double>(bench.sink.arrival(NpuId(1), 0)), 1.01 * static_cast<double>(fast_end));
  expect_law(bench, serialisation(kPacketBytes, 3000 * kGB));
}

}  // namespace
}  // namespace wafervp::test
