// SPDX-License-Identifier: Apache-2.0
// Flows that want one link: round robin by port, order of arrival inside a port, cuts at packet boundaries.
#include <algorithm>
#include <map>

#include "law.h"
#include "traffic.h"

namespace wafervp::test {
namespace {

constexpr std::uint64_t kRate = 750 * kGB;
constexpr Time kLatency = 20 * kNs;

Time slot(std::uint64_t packets) { return serialisation(packets * kPacketBytes, kRate); }

Sending packets(std::uint64_t count, std::uint32_t port, std::uint64_t tag = 0, std::uint32_t to = 100) {
  Sending sending;
  sending.from = NpuId(port);
  sending.to = NpuId(to);
  sending.bytes = count * kPacketBytes;
  sending.tag = tag;
  return sending;
}

class Sharing : public testing::TestWithParam<bool> {
 protected:
  LinkConfig config() const { return link_config(kRate, kLatency, GetParam()); }
  std::uint64_t turn() const { return GetParam() ? 1 : config().train_packets; }
};

/// Several flows at one time: each adds its rounding.
constexpr Time kOverlap = 8;

/// While all ports have packets, the packets of two ports never differ by more than a turn.
void expect_fair(const std::vector<Packet>& packets, const std::map<FlowId, unsigned>& port_of,
                 std::map<unsigned, std::uint64_t> left, std::uint64_t turn) {
  std::map<unsigned, std::uint64_t> sent;
  for (const auto& [port, count] : left) sent[port] = 0;
  for (const Packet& packet : packets) {
    const unsigned port = port_of.at(packet.flow);
    ++sent[port];
    const auto [least, most] = std::minmax_element(
        sent.begin(), sent.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    ASSERT_LE(most->second, least->second + turn);
    if (--left[port] == 0) return;
  }
}

TEST_P(Sharing, TwoPortsGetTheSame) {
  LinkBench bench("bench", config());
  bench.source.send_at(0, packets(600, 0));
  bench.source.send_at(0, packets(600, 1));
  bench.run();
  const std::vector<Packet> seen = bench.sink.log.packets();
  expect_wire(seen, kRate, kOverlap);
  expect_fair(seen, {{FlowId(0), 0}, {FlowId(1), 1}}, {{0, 600}, {1, 600}}, turn());
  // The link is never idle, and the first one ends a turn or less before the second.
  const Time ends[] = {bench.sink.arrival(NpuId(0), 0), bench.sink.arrival(NpuId(1), 0)};
  EXPECT_EQ(std::max(ends[0], ends[1]), kLatency + slot(1200));
  EXPECT_GE(std::min(ends[0], ends[1]), kLatency + slot(1200 - turn()));
  EXPECT_LE(std::min(ends[0], ends[1]), kLatency + slot(1199));
  EXPECT_EQ(bench.link.statistics().busy_ps, slot(1200));
}

TEST_P(Sharing, APortIsServedNotAFlow) {
  LinkBench bench("bench", config());
  bench.source.send_at(0, packets(200, 0, 0, 100));
  bench.source.send_at(0, packets(200, 0, 1, 101));
  bench.source.send_at(0, packets(400, 1, 2, 102));
  bench.source.send_at(0, packets(400, 2, 3, 103));
  bench.run();
  const std::vector<Packet> seen = bench.sink.log.packets();
  expect_wire(seen, kRate, kOverlap);
  expect_fair(seen, {{FlowId(0), 0}, {FlowId(1), 0}, {FlowId(2), 1}, {FlowId(3), 2}},
              {{0, 400}, {1, 400}, {2, 400}}, turn());
  EXPECT_EQ(seen.back().tail, kLatency + slot(1200));
}

TEST_P(Sharing, InsideAPortTheOldestGoesFirst) {
  LinkBench bench("bench", config());
  const std::vector<std::uint32_t> to = {100, 101, 100, 102, 101, 100};
  for (std::size_t k = 0; k < to.size(); ++k) bench.source.send_at(k * 10, packets(7, 0, k, to[k]));
  bench.run();
  ASSERT_EQ(bench.sink.deliveries.size(), to.size());
  for (std::size_t k = 0; k < to.size(); ++k) {
    EXPECT_EQ(bench.sink.deliveries[k].tag, k);
    EXPECT_EQ(bench.sink.deliveries[k].when, kLatency + slot(7 * (k + 1)));
  }
}

// At k packets and a half a claimant comes: it leaves behind packet k, which has begun.
TEST_P(Sharing, AClaimantCutsALongRunAtAPacketBoundary) {
  LinkBench bench("bench", config());
  bench.shared.flows.unicast(NpuId(1), NpuId(100), 0);  // opened before, so that nothing is booked
  constexpr std::uint64_t kBegun = 301;
  bench.source.send_at(0, packets(1000, 0));
  bench.source.send_at(slot(300) + 2000, packets(1, 1));
  bench.run();
  EXPECT_EQ(bench.sink.arrival(NpuId(1), 0), kLatency + slot(kBegun + 1));
  EXPECT_EQ(bench.sink.arrival(NpuId(0), 0), kLatency + slot(1001));
  expect_wire(bench.sink.log.packets(), kRate, kOverlap);
  EXPECT_EQ(bench.link.statistics().runs, GetParam() ? 1001u : 3u);
}

// A packet that would begin at the very time has not begun.
TEST_P(Sharing, AClaimantAtABoundaryGoesThere) {
  LinkBench bench("bench", config());
  bench.shared.flows.unicast(NpuId(1), NpuId(100), 0);
  bench.source.send_at(0, packets(1000, 0));
  bench.source.send_at(slot(300), packets(1, 1));
  bench.run();
  EXPECT_EQ(bench.sink.arrival(NpuId(1), 0), kLatency + slot(301));
  EXPECT_EQ(bench.sink.arrival(NpuId(0), 0), kLatency + slot(1001));
}

TEST_P(Sharing, StatisticsConserveBytes) {
  LinkBench bench("bench", config());
  std::uint64_t bytes = 0, count = 0;
  std::map<std::uint8_t, std::uint64_t> by_class;
  for (std::uint64_t k = 0; k < 60; ++k) {
    Sending sending =
        packets(0, static_cast<std::uint32_t>(k % 5), k, static_cast<std::uint32_t>(100 + k % 3));
    sending.bytes = k * k * 97 + k % 7 * 4096;
    sending.traffic_class = static_cast<std::uint8_t>(k % 4);
    bytes += sending.bytes;
    count += packets_of(sending.bytes);
    by_class[sending.traffic_class] += sending.bytes;
    bench.source.send_at(k * 1777, sending);
  }
  bench.run();
  const LinkStatistics& statistics = bench.link.statistics();
  EXPECT_EQ(statistics.bytes, bytes);
  EXPECT_EQ(statistics.packets, count);
  for (const auto& [number, sum] : by_class) EXPECT_EQ(statistics.class_bytes[number], sum);
  EXPECT_EQ(statistics.runs, bench.sink.log.runs());
  EXPECT_EQ(statistics.stalled_ps, 0u);
  expect_wire(bench.sink.log.packets(), kRate, kOverlap);
  // Rounding of each period that is cut may add a picosecond.
  EXPECT_GE(statistics.busy_ps, serialisation(bytes, kRate));
  EXPECT_LE(statistics.busy_ps, serialisation(bytes, kRate) + statistics.runs);
  EXPECT_EQ(bench.sink.deliveries.size(), 60u);
}

INSTANTIATE_TEST_SUITE_P(Grains, Sharing, testing::Bool(),
                         [](const auto& param) { return param.param ? "Packet" : "Auto"; });

}  // namespace
}  // namespace wafervp::test
