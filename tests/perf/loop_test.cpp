// SPDX-License-Identifier: Apache-2.0
// Is the plain loop right? Its times are held against closed forms and the packet loop.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "loop/fabric.h"
#include "loop/ranks.h"
#include "packet_loop/packet_loop.h"

namespace perf_loop {
namespace {

constexpr std::uint64_t kRate = 805'306'368'000;
constexpr Time kL = 20'000;

Time ring_time(std::uint32_t n, std::uint64_t share, std::uint32_t chunks, std::uint32_t active, Time step) {
  Fabric fabric;
  std::vector<std::uint32_t> flows;
  for (std::uint32_t i = 0; i < n; ++i)
    flows.push_back(fabric.add_flow({fabric.add_link(kRate, kL)}, i, (i + 1) % n));
  fabric.finish();
  Ranks ranks(fabric, {flows}, std::vector<ChunkPlan>(chunks, ChunkPlan{{Phase{2 * (n - 1), share, 0}}}),
              active, step);
  const Time time = ranks.run();
  EXPECT_EQ(ranks.finished(), n);
  return time;
}

// Closed forms of a ring: K = 2 (n - 1) steps of m bytes, E a step.
TEST(PerfLoop, SerialChunksOnARing) {
  const std::uint64_t share = 1 << 20;
  const double transfer = share * 1e12 / kRate;
  for (const std::uint32_t chunks : {1u, 4u}) {
    for (const Time step : {Time{0}, Time{1000}}) {
      const double k = 2 * 63;
      const double expected = chunks * (k * (kL + transfer) + (k + 1) * static_cast<double>(step));
      EXPECT_NEAR(static_cast<double>(ring_time(64, share, chunks, 1, step)), expected, chunks * k);
    }
  }
}

TEST(PerfLoop, PipelinedChunksOnARing) {
  const std::uint64_t share = 1 << 18;
  const double transfer = share * 1e12 / kRate;
  const double k = 2 * 63, step = 1000;
  const double expected =
      (k - 1) * std::max(4 * transfer, kL + transfer + step) + 4 * transfer + kL + 2 * step;
  EXPECT_NEAR(static_cast<double>(ring_time(64, share, 4, 0, 1000)), expected, 4 * k);
}

/// Route on a mesh, x first, as a list of nodes.
std::vector<std::uint32_t> nodes(std::uint32_t from, std::uint32_t to, std::uint32_t w) {
  std::vector<std::uint32_t> list{from};
  while (from % w != to % w) list.push_back(from = from % w < to % w ? from + 1 : from - 1);
  while (from != to) list.push_back(from = from < to ? from + w : from - w);
  return list;
}

TEST(PerfLoop, AllToAllAgreesWithThePacketLoop) {
  const std::uint32_t w = 5, n = 20;
  const std::uint64_t bytes = 200'000;
  Fabric fabric;
  packet_loop::Loop law;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::uint32_t, packet_loop::LinkId>> links;
  for (std::uint32_t a = 0; a < n; ++a) {
    for (std::uint32_t b = 0; b < n; ++b) {
      const bool beside = a / w == b / w && (a + 1 == b || b + 1 == a), above = a + w == b || b + w == a;
      if (!beside && !above) continue;
      links[{a, b}] = {fabric.add_link(kRate, kL),
                       law.add_link(kRate, kL, packet_loop::default_buffer_packets(kRate, kL))};
    }
  }
  std::vector<packet_loop::FlowId> law_flows;
  for (std::uint32_t from = 0; from < n; ++from) {
    for (std::uint32_t i = 1; i < n; ++i) {
      const std::uint32_t to = (from + i) % n;
      const std::vector<std::uint32_t> list = nodes(from, to, w);
      std::vector<std::uint32_t> path;
      std::vector<packet_loop::LinkId> law_path;
      for (std::size_t k = 0; k + 1 < list.size(); ++k) {
        path.push_back(links.at({list[k], list[k + 1]}).first);
        law_path.push_back(links.at({list[k], list[k + 1]}).second);
      }
      fabric.add_flow(path, from, to);
      law_flows.push_back(law.add_flow(law_path, to));
    }
  }
  fabric.finish();
  for (std::uint32_t i = 0; i < law_flows.size(); ++i) {
    fabric.inject(i, bytes, 0, 0);
    law.inject(law_flows[i], bytes, 0);
  }
  std::vector<Time> ends(n);
  fabric.run([&](const Message& message) { ends[message.flow->destination] = fabric.now(); });
  ASSERT_TRUE(law.run());
  for (std::uint32_t to = 0; to < n; ++to) {
    Time expected = 0;
    for (std::uint32_t i = 0; i < law_flows.size(); ++i) {
      const std::uint32_t from = i / (n - 1);
      if ((from + 1 + i % (n - 1)) % n == to)
        expected = std::max(expected, law.delivered(law_flows[i]).at(0));
    }
    EXPECT_NEAR(static_cast<double>(ends[to]), static_cast<double>(expected),
                0.01 * static_cast<double>(expected));
  }
}

TEST(PerfLoop, AWholeRunNeverMissesACredit) {
  // One flow over 31 links, as the wrap-around message of a mesh row.
  Fabric fabric;
  std::vector<std::uint32_t> path;
  for (int i = 0; i < 31; ++i) path.push_back(fabric.add_link(kRate, kL));
  fabric.add_flow(path, 0, 1);
  fabric.finish();
  fabric.inject(0, 1 << 20, 0, 0);
  fabric.inject(0, 1 << 20, 0, 0);
  fabric.run([](const Message&) {});
  EXPECT_EQ(fabric.credit_misses(), 0u);
  EXPECT_EQ(fabric.events(), 2u * 31u);
  EXPECT_NEAR(static_cast<double>(fabric.now()), 31.0 * kL + (2 << 20) * 1e12 / kRate, 100);
}

}  // namespace
}  // namespace perf_loop
