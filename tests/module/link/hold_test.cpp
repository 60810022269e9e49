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
  void hold_path_at(Time when, bool begins, Time from) {
    bench_.shared.at(when, [=] { bench_.link.hold_path(kFirst, begins, from); });
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
  hold_path_at(0, true, slot(10) + 1);
  hold_path_at(slot(20), true, slot(20));
  send(0);
  send(slot(30), 1);
  Sending first = flow_packets(10, 2);
  first.traffic_class = kFirst;
  bench_.source.send_at(slot(40), first);
  hold_path_at(slot(60), false, slot(60));
  hold_path_at(slot(90), false, slot(90));
  bench_.run();
  constexpr double kRounding = 2;
  EXPECT_NEAR(arrival(2), slot(40) + slot(10) + kLatency, kRounding);
  EXPECT_NEAR(std::max(arrival(0), arrival(1)), slot(90) + slot(189) + kLatency, kRounding);
}

/// An operation that is over before the notice of its beginning is here does not hold.
TEST_P(Hold, OfAPathThatEndsFirstIsNone) {
  hold_path_at(0, true, slot(50));
  hold_path_at(slot(10), false, slot(10));
  send(0);
  bench_.run();
  EXPECT_EQ(arrival(), slot(100) + kLatency);
}

INSTANTIATE_TEST_SUITE_P(Grain, Hold, testing::Bool(),
                         [](const auto& info) { return std::string(info.param ? "Packet" : "Auto"); });

}  // namespace
}  // namespace wafervp::test
