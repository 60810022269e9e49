// SPDX-License-Identifier: Apache-2.0
// A router between links: its latency once, no other time, the right port, credits back.
#include "router/router.h"

#include "law.h"
#include "traffic.h"

namespace wafervp::test {
namespace {

constexpr std::uint64_t kRate = 750 * kGB;
constexpr Time kLatency = 20 * kNs;

/// Two sources with a link each, a router, and two links with a sink each; NPU n goes to output n.
struct Crossing {
  Crossing(const std::string& name, Time latency)
      : shared(name),
        router((name + "_router").c_str(), {2, 2, false, latency},
               std::make_unique<TableRouting>(std::vector<unsigned>{0, 1})) {
    for (unsigned k = 0; k < 2; ++k) {
      const std::string number = std::to_string(k);
      sources.emplace_back((name + "_source" + number).c_str(), shared);
      feeds.emplace_back((name + "_feed" + number).c_str(), link_config(kRate, kLatency), shared.calendar);
      links.emplace_back((name + "_link" + number).c_str(), link_config(kRate, kLatency), shared.calendar);
      sinks.emplace_back((name + "_sink" + number).c_str(), shared, kLatency);
      sources[k].out.bind(feeds[k].in);
      feeds[k].out.bind(router.in[k]);
      feeds[k].set_target(router, k);
      sources[k].serve(NpuId(k), feeds[k]);
      router.out[k].bind(links[k].in);
      router.set_output_link(k, links[k]);
      links[k].out.bind(sinks[k].in);
      links[k].set_target(sinks[k], 0);
    }
  }
  void send(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, std::uint64_t tag = 0) {
    Sending sending;
    sending.from = NpuId(from);
    sending.to = NpuId(to);
    sending.bytes = bytes;
    sending.tag = tag;
    sources[from].send_at(0, sending);
  }
  Shared shared;
  std::deque<Source> sources;
  std::deque<Link> feeds;
  Router router;
  std::deque<Link> links;
  std::deque<Sink> sinks;
};

class RouterLatency : public testing::TestWithParam<Time> {};

TEST_P(RouterLatency, IsAddedOnce) {
  Crossing bench("bench", GetParam());
  bench.send(0, 1, 1'000'000);
  simulate({&bench.shared});
  EXPECT_EQ(bench.sinks[1].arrival(NpuId(0), 0), 2 * kLatency + GetParam() + serialisation(1'000'000, kRate));
  EXPECT_TRUE(bench.sinks[0].deliveries.empty());
}

// Latency of the router within what the buffer covers.
INSTANTIATE_TEST_SUITE_P(Latencies, RouterLatency, testing::Values(Time{0}, Time{1}, 3 * kNs));

TEST(Router, CrossesWithoutContention) {
  Crossing bench("bench", 0);
  for (std::uint64_t k = 0; k < 10; ++k) {
    bench.send(0, 1, 100'000, k);
    bench.send(1, 0, 100'000, k);
  }
  simulate({&bench.shared});
  for (std::uint64_t k = 0; k < 10; ++k) {
    const Time expected = 2 * kLatency + serialisation(100'000 * (k + 1), kRate);
    EXPECT_NEAR(static_cast<double>(bench.sinks[1].arrival(NpuId(0), k)), static_cast<double>(expected), 2.0);
    EXPECT_NEAR(static_cast<double>(bench.sinks[0].arrival(NpuId(1), k)), static_cast<double>(expected), 2.0);
  }
}

// Inputs share an output, and what waits in the router's queues is what the feeds get credits for.
TEST(Router, SharesAnOutputAndReturnsCredits) {
  Crossing bench("bench", 0);
  bench.send(0, 1, 600 * kPacketBytes);
  bench.send(1, 1, 600 * kPacketBytes);
  simulate({&bench.shared});
  const std::vector<Packet> seen = bench.sinks[1].log.packets();
  expect_wire(seen, kRate, 8);
  EXPECT_NEAR(static_cast<double>(seen.back().tail),
              static_cast<double>(2 * kLatency + serialisation(1200 * kPacketBytes, kRate)), 8.0);
  // Each feed has sent half of what it could: for the rest it had to wait for credits.
  for (const Link& feed : bench.feeds)
    EXPECT_GT(feed.statistics().stalled_ps, serialisation(550 * kPacketBytes, kRate));
}

TEST(Router, KnowsWhereFlowsEnd) {
  Router router("router", {3, 3, true, 0}, std::make_unique<TableRouting>(std::vector<unsigned>{0, 2, 1}));
  Flow flow;
  flow.destination = NpuId(0);
  EXPECT_EQ(router.route(flow, 1), FabricNode::kEndsHere);
  flow.destination = NpuId(1);
  EXPECT_EQ(router.route(flow, 0), 2u);
  EXPECT_TRUE(router.consumes(flow));
}

}  // namespace
}  // namespace wafervp::test
