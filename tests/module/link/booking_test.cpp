// SPDX-License-Identifier: Apache-2.0
// A link that only one flow has ever used books its messages at once, and gives that up for a second flow.
#include "law.h"
#include "traffic.h"

namespace wafervp::test {
namespace {

constexpr std::uint64_t kRate = 750 * kGB;
constexpr Time kLatency = 20 * kNs;

Time slot(std::uint64_t packets) { return serialisation(packets * kPacketBytes, kRate); }

TEST(Booking, TakesOneEventAMessage) {
  LinkBench bench("bench", link_config(kRate, kLatency));
  bench.shared.at(0, [&] {
    for (std::uint64_t k = 0; k < 500; ++k) bench.source.send(flow_packets(100, 0, k));
  });
  bench.run();
  for (std::uint64_t k = 0; k < 500; ++k) {
    ASSERT_EQ(bench.sink.arrival(NpuId(0), k), kLatency + slot(100 * (k + 1)));
  }
  EXPECT_EQ(bench.shared.calendar.executed(), 501u);  // the deliveries, and the call that sends
  EXPECT_EQ(bench.link.statistics().runs, 500u);
}

// The second flow comes while the second of four booked messages is on the wire, or exactly between two.
class Unbooking : public testing::TestWithParam<Time> {};

TEST_P(Unbooking, IsAsIfNothingHadBeenBooked) {
  const Time when = GetParam();
  LinkBench booked("booked", link_config(kRate, kLatency)), free("free", link_config(kRate, kLatency));
  free.shared.flows.unicast(NpuId(0), NpuId(100), 0);
  free.shared.flows.unicast(NpuId(1), NpuId(101), 0);
  for (LinkBench* bench : {&booked, &free}) {
    for (std::uint64_t k = 0; k < 4; ++k) bench->source.send_at(0, flow_packets(64, 0, k));
    bench->source.send_at(when, flow_packets(1, 1, 0));
    bench->source.send_at(when, flow_packets(40, 1, 1));
  }
  simulate({&booked.shared, &free.shared});
  for (std::uint64_t k = 0; k < 4; ++k) {
    EXPECT_EQ(booked.sink.arrival(NpuId(0), k), free.sink.arrival(NpuId(0), k)) << "message " << k;
  }
  EXPECT_EQ(booked.sink.arrival(NpuId(1), 0), free.sink.arrival(NpuId(1), 0));
  EXPECT_EQ(booked.sink.arrival(NpuId(1), 1), free.sink.arrival(NpuId(1), 1));
  // The first packet of the second flow waits for the one on the wire only, and no time is lost.
  std::uint64_t begun = 0;
  while (slot(begun) < when) ++begun;
  EXPECT_EQ(booked.sink.arrival(NpuId(1), 0), kLatency + slot(begun + 1));
  const std::vector<Packet> seen = booked.sink.log.packets();
  EXPECT_EQ(seen.back().tail, kLatency + slot(4 * 64 + 41));
  expect_wire(seen, kRate);
  EXPECT_EQ(booked.link.statistics().bytes, (4 * 64 + 41) * std::uint64_t{kPacketBytes});
  EXPECT_EQ(booked.link.statistics().packets, 4u * 64 + 41);
  EXPECT_EQ(booked.link.statistics().busy_ps, slot(4 * 64 + 41));
}

INSTANTIATE_TEST_SUITE_P(Times, Unbooking,
                         testing::Values(1, slot(64) - 1, slot(64), slot(64) + 1, slot(100) + 77, slot(128),
                                         slot(255) + 1));

// What was booked has been here longer than what comes by the same port later.
TEST(Booking, KeepsTheOrderOfItsPort) {
  LinkBench bench("bench", link_config(kRate, kLatency));
  for (std::uint64_t k = 0; k < 3; ++k) bench.source.send_at(0, flow_packets(64, 0, k));
  Sending later = flow_packets(10, 0, 3);
  later.to = NpuId(101);
  bench.source.send_at(10, later);
  bench.run();
  for (std::uint64_t k = 0; k < 3; ++k)
    EXPECT_EQ(bench.sink.arrival(NpuId(0), k), kLatency + slot(64 * (k + 1)));
  EXPECT_EQ(bench.sink.arrival(NpuId(0), 3), kLatency + slot(3 * 64 + 10));
}

TEST(Booking, GoesOnBehindAnIdleTime) {
  LinkBench bench("bench", link_config(kRate, kLatency));
  bench.source.send_at(0, flow_packets(10, 0, 0));
  bench.source.send_at(1'000'000, flow_packets(10, 0, 1));
  bench.source.send_at(1'000'001, flow_packets(10, 0, 2));
  bench.source.send_at(2'000'000, flow_packets(10, 1, 0));  // a second flow, when all is over
  bench.source.send_at(2'000'000, flow_packets(10, 0, 3));
  bench.run();
  EXPECT_EQ(bench.sink.arrival(NpuId(0), 0), kLatency + slot(10));
  EXPECT_EQ(bench.sink.arrival(NpuId(0), 1), 1'000'000 + kLatency + slot(10));
  EXPECT_EQ(bench.sink.arrival(NpuId(0), 2), 1'000'000 + kLatency + slot(20));
  const Time end = std::max(bench.sink.arrival(NpuId(0), 3), bench.sink.arrival(NpuId(1), 0));
  EXPECT_EQ(end, 2'000'000 + kLatency + slot(20));
}

}  // namespace
}  // namespace wafervp::test
