// SPDX-License-Identifier: Apache-2.0
// Packets in error: when is what sent again, how often, and what does it cost? Expected times are formulas.
#include <gtest/gtest.h>

#include <cmath>

#include "link/error_process.h"
#include "traffic.h"

namespace wafervp::test {
namespace {

constexpr std::uint64_t kRate = 750 * kGB;
constexpr Time kLatency = 20 * kNs;

LinkConfig with_errors(bool packet_grain, std::vector<std::uint64_t> script, double bit_error_rate = 0) {
  LinkConfig config = link_config(kRate, kLatency, packet_grain);
  config.go_back_n.on = true;
  config.go_back_n.errors.script = std::move(script);
  config.go_back_n.errors.bit_error_rate = bit_error_rate;
  config.go_back_n.errors.seed = 7;
  return config;
}

/// Packets that go in vain for each error: those that begin until the sender knows. It knows when the packet
/// in error has passed, a latency later, a control packet later, and a latency later.
std::uint64_t in_vain(std::uint64_t rate, Time latency) {
  const Time packet = serialisation(kPacketBytes, rate);
  const Time known = packet + 2 * latency + serialisation(kControlPacketBytes, rate);
  return (known + packet - 1) / packet;
}

class GoBackN : public testing::TestWithParam<bool> {};

TEST_P(GoBackN, AnErrorCostsTheRoundTrip) {
  LinkBench bench("errors", with_errors(GetParam(), {101}));
  bench.source.send_at(0, flow_packets(1000, 1));
  bench.run();
  const std::uint64_t again = in_vain(kRate, kLatency);
  EXPECT_EQ(again, 9u);
  EXPECT_EQ(bench.sink.arrival(NpuId(1), 0), kLatency + serialisation((1000 + again) * kPacketBytes, kRate));
  const LinkStatistics statistics = bench.link.statistics();
  EXPECT_EQ(statistics.bytes, 1000u * kPacketBytes);
  EXPECT_EQ(statistics.errors, 1u);
  EXPECT_EQ(statistics.resent_packets, again);
  EXPECT_EQ(statistics.resent_bytes, again * kPacketBytes);
  EXPECT_EQ(statistics.busy_ps, serialisation((1000 + again) * kPacketBytes, kRate));
  EXPECT_EQ(statistics.ack_bytes, 1000u / 16 * 512);
}

/// The last packets of a message: nothing follows that could go in vain, and the link waits.
TEST_P(GoBackN, AtTheEndTheLinkWaits) {
  LinkBench bench("end", with_errors(GetParam(), {1000}));
  bench.source.send_at(0, flow_packets(1000, 1));
  bench.run();
  const Time packet = serialisation(kPacketBytes, kRate);
  EXPECT_NEAR(bench.sink.arrival(NpuId(1), 0),
              serialisation(1000 * kPacketBytes, kRate) + 3 * kLatency +
                  serialisation(kControlPacketBytes, kRate) + packet,
              2);
  EXPECT_EQ(bench.link.statistics().resent_packets, 1u);
}

/// The same packet three times: it is number 101, then 102, then 103 of the link's stream.
TEST_P(GoBackN, TheSamePacketAgain) {
  LinkBench bench("again", with_errors(GetParam(), {101, 102, 103}));
  bench.source.send_at(0, flow_packets(1000, 1));
  bench.run();
  const std::uint64_t again = 3 * in_vain(kRate, kLatency);
  EXPECT_EQ(bench.sink.arrival(NpuId(1), 0), kLatency + serialisation((1000 + again) * kPacketBytes, kRate));
  EXPECT_EQ(bench.link.statistics().errors, 3u);
}

/// Other flows of the channel are behind the error too; those of another channel are not.
TEST_P(GoBackN, ConcernsTheChannel) {
  LinkBench same("same", with_errors(GetParam(), {51})), other("other", with_errors(GetParam(), {51}));
  for (LinkBench* bench : {&same, &other}) {
    Sending two = flow_packets(100, 2);
    two.traffic_class = bench == &same ? 0 : 1;
    bench->source.send_at(0, flow_packets(100, 1));
    bench->source.send_at(0, two);
  }
  simulate({&same.shared, &other.shared});
  const std::uint64_t window = in_vain(kRate, kLatency);
  EXPECT_EQ(same.link.statistics().resent_packets, window);
  EXPECT_LT(other.link.statistics().resent_packets, window);
  EXPECT_GE(other.link.statistics().resent_packets, 1u);
  for (LinkBench* bench : {&same, &other}) {
    EXPECT_EQ(bench->link.statistics().errors, 1u);
    EXPECT_EQ(bench->link.statistics().bytes, 200u * kPacketBytes);
    const Time last = std::max(bench->sink.arrival(NpuId(1), 0), bench->sink.arrival(NpuId(2), 0));
    EXPECT_LE(last, kLatency + serialisation((200 + window) * kPacketBytes, kRate));
  }
}

TEST_P(GoBackN, ADeadLinkSaysSo) {
  LinkBench bench("dead", with_errors(GetParam(), {}, 1.0));
  bench.source.send_at(0, flow_packets(10, 1));
  EXPECT_THROW(bench.run(), DeadLink);
}

/// Behind a link with errors all is as on a chain: packets come later, in order, and each once.
TEST_P(GoBackN, OnAChain) {
  LinkConfig plain = link_config(kRate, kLatency, GetParam());
  MergeBench bench("chain", {with_errors(GetParam(), {11, 500}), plain}, with_errors(GetParam(), {300}));
  bench.sources[0].send_at(0, flow_packets(1000, 0));
  simulate({&bench.shared});
  const std::uint64_t again = in_vain(kRate, kLatency);
  EXPECT_EQ(bench.feeds[0].statistics().resent_packets, 2 * again);
  EXPECT_EQ(bench.link.statistics().resent_packets, again);
  EXPECT_EQ(bench.sink.log.packets().size(), 1000u);
  // What one link waits for, the other makes good: the errors do not lie beside each other.
  const Time alone = 2 * kLatency + serialisation(1000 * kPacketBytes, kRate);
  EXPECT_GE(bench.sink.arrival(NpuId(0), 0), alone + serialisation(2 * again * kPacketBytes, kRate) - 2);
  EXPECT_LE(bench.sink.arrival(NpuId(0), 0), alone + serialisation(3 * again * kPacketBytes, kRate) + 2);
}

/// Errors: packets * q / (1 - q), for each try of a packet is in error with q = 1 - (1 - p)^bits. Four
/// standard deviations, by the seed always the same.
TEST_P(GoBackN, RatesGiveTheExpectedErrors) {
  constexpr std::uint64_t kPackets = 100'000;
  constexpr double kRates[] = {1e-12, 1e-9, 1e-8, 1e-7, 1e-6};
  Shared* all[5];
  std::deque<LinkBench> benches;
  for (const double rate : kRates) {
    LinkBench& bench =
        benches.emplace_back("rate" + std::to_string(benches.size()), with_errors(GetParam(), {}, rate));
    bench.source.send_at(0, flow_packets(kPackets, 1));
    all[benches.size() - 1] = &bench.shared;
  }
  simulate({all[0], all[1], all[2], all[3], all[4]});
  for (std::size_t k = 0; k < benches.size(); ++k) {
    const double q = -std::expm1(8 * kPacketBytes * std::log1p(-kRates[k]));
    const double expected = kPackets * q / (1 - q);
    const LinkStatistics statistics = benches[k].link.statistics();
    EXPECT_NEAR(static_cast<double>(statistics.errors), expected, 4 * std::sqrt(expected) + 0.1) << kRates[k];
    EXPECT_EQ(statistics.bytes, kPackets * kPacketBytes);
    // At the end fewer may follow an error.
    const std::uint64_t window = in_vain(kRate, kLatency);
    EXPECT_LE(statistics.resent_packets, statistics.errors * window);
    EXPECT_GE(statistics.resent_packets + window, statistics.errors * window);
    // One acknowledgement for 16 packets: 0.78 %.
    EXPECT_EQ(statistics.ack_bytes, kPackets / 16 * 512);
    EXPECT_EQ(128 * statistics.ack_bytes, statistics.bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(Grains, GoBackN, testing::Values(false, true),
                         [](const auto& grain) { return grain.param ? "Packet" : "Auto"; });

/// Single bytes, where each is in error with 1 - (1 - p)^8.
TEST(ErrorProcess, GapsHaveTheirMean) {
  LinkErrors errors;
  errors.bit_error_rate = 1e-3;
  errors.seed = 3;
  ErrorProcess process(errors);
  SentSoFar sent;
  std::uint64_t count = 0;
  while (sent.bytes < 10'000'000) {
    sent.bytes += process.clear(sent, 1) + 1;
    process.pass(sent);
    ++count;
  }
  const double expected = 10'000'000 * -std::expm1(8 * std::log1p(-1e-3));
  EXPECT_NEAR(static_cast<double>(count), expected, 4 * std::sqrt(expected));
}

TEST(ErrorProcess, WithoutErrorsAllIsClear) {
  const ErrorProcess process{LinkErrors()};
  EXPECT_GT(process.clear({}, 4096), std::uint64_t{1} << 40);
}

}  // namespace
}  // namespace wafervp::test
