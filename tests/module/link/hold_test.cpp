// SPDX-License-Identifier: Apache-2.0
// Flows that are held back, by their source or by an operation that has the link for itself: they stop at a
// packet boundary and go on where they stopped.
#include "law.h"
#include "traffic.h"

namespace wafervp::test {
namespace {

constexpr std::uint64_t kRate = 750 * kGB;
constexpr Time kLatency = 20 * kNs;
constexpr std::uint8_t kFirst = 0, kSecond = 2;  // traffic classes, by who goes first

Time slot(std::uint64_t packets) { return serialisation(packets * kPacketBytes, kRate); }

class Hold : public testing::TestWithParam<bool> {
 protected:
  static LinkConfig config() {
    LinkConfig config = link_config(kRate, kLatency, GetParam());
    config.preemption.level = {1, 2, 3, 4};
    return config;
  }
  /// 100 packets of the second class from port `port`, at `when`.
  void send(Time when, std::uint32_t port = 0) {
    Sending sending = flow_packets(100, port);
    sending.traffic_class = kSecond;
    bench_.source.send_at(when, sending);
  }
  void hold_flow_at(Time when, bool back) {
    bench_.shared.at(when, [this, back] {
      const Flow& flow = bench_.shared.flows.unicast(NpuId(0), NpuId(100), kSecond);
      bench_.link.hold_flow(*flow.hops[0].lane, back);
    });
  }
  /// An operation of the first class, known at the link `from` on.
  void begin_path_at(Time when, Time from) {
    bench_.shared.at(when, [=] { bench_.link.begin_path(kFirst, from); });
  }
  /// It ends with packet `end_packet` of its flow, by port `port`.
  void end_path_at(Time when, std::uint64_t end_packet, std::uint32_t port) {
    bench_.shared.at(when, [=] {
      const Flow& flow = bench_.shared.flows.unicast(NpuId(port), NpuId(100 + port), kFirst);
      bench_.link.end_path(*flow.hops[0].lane, end_packet);
    });
  }
  void send_first(Time when, std::uint64_t packets, std::uint32_t port, std::uint64_t tag = 0) {
    Sending first = flow_packets(packets, port, tag);
    first.traffic_class = kFirst;
    bench_.source.send_at(when, first);
  }
  Time arrival(std::uint32_t port = 0) const { return bench_.sink.arrival(NpuId(port), 0); }

  LinkBench bench_{"bench", config()};
};

/// Ten packets have gone and one is on its way.
TEST_P(Hold, StopsAtAPacketBoundaryAndGoesOnThere) {
  send(0);
  hold_flow_at(slot(10) + 1, true);
  hold_flow_at(slot(1000), false);
  bench_.run();
  expect_wire(bench_.sink.log.packets(), kRate);
  EXPECT_EQ(arrival(), slot(1000) + slot(89) + kLatency);
}

/// A packet that would begin right now does not.
TEST_P(Hold, GoesBeforeWhatBeginsAtItsTime) {
  send(slot(10));
  hold_flow_at(slot(10), true);
  hold_flow_at(slot(50), false);
  bench_.run();
  EXPECT_EQ(arrival(), slot(50) + slot(100) + kLatency);
}

TEST_P(Hold, OfOneFlowLeavesTheLinkToOthers) {
  send(0);
  send(0, 1);
  hold_flow_at(1, true);
  hold_flow_at(slot(1000), false);
  bench_.run();
  // One packet of either may have begun first.
  EXPECT_LE(arrival(1), slot(101) + kLatency);
  EXPECT_GE(arrival(), slot(1000) + slot(99) + kLatency);
}

/// From the time of the notice to the end of the last operation, and also a flow that comes meanwhile.
TEST_P(Hold, OfAPathIsForAllFlowsOfClassesBehind) {
  begin_path_at(0, slot(10) + 1);
  begin_path_at(slot(20), slot(20));
  send(0);
  send(slot(30), 1);
  send_first(slot(40), 10, 2);
  end_path_at(slot(60), 10, 2);
  end_path_at(slot(90), 10, 2);
  bench_.run();
  constexpr double kRounding = 2;
  EXPECT_NEAR(arrival(2), slot(40) + slot(10) + kLatency, kRounding);
  EXPECT_NEAR(std::max(arrival(0), arrival(1)), slot(90) + slot(189) + kLatency, kRounding);
}

/// It ends with the operation's last packet, here the last of two messages, of which it is known ahead.
TEST_P(Hold, OfAPathEndsWithItsLastPacket) {
  begin_path_at(0, 0);
  send(0);
  send_first(slot(10), 5, 2);
  send_first(slot(40), 10, 2, 1);
  end_path_at(slot(20), 15, 2);
  bench_.run();
  EXPECT_EQ(bench_.sink.arrival(NpuId(2), 1), slot(40) + slot(10) + kLatency);
  EXPECT_EQ(arrival(), slot(50) + slot(100) + kLatency);
}

/// An operation that is over before the notice of its beginning is here does not hold.
TEST_P(Hold, OfAPathThatEndsFirstIsNone) {
  begin_path_at(slot(5), slot(50));
  send_first(0, 3, 2);
  end_path_at(slot(10), 3, 2);
  send(slot(10));
  bench_.run();
  EXPECT_EQ(arrival(), slot(10) + slot(100) + kLatency);
}

INSTANTIATE_TEST_SUITE_P(Grain, Hold, testing::Bool(),
                         [](const auto& info) { return std::string(info.param ? "Packet" : "Auto"); });

}  // namespace
}  // namespace wafervp::test
