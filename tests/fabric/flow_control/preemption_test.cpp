// SPDX-License-Identifier: Apache-2.0
// An MP all-reduce under a running DP one: what may each cost the other? On each link that an MP packet comes
// to it may find one DP packet that has begun, and a FRED switch that has to change over. A DP ring loses no
// more than the time in which MP has its links; a hierarchical one, whose chunks use both dimensions beside
// each other, also loses that overlap, so that nothing is said of its delay here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "core/rate.h"
#include "two_phases.h"

namespace wafervp::test {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;
constexpr Time kCycle = 855;  // the default of reconfiguration_ns
const char* const kGrains[] = {"packet", "auto"};

nlohmann::json fred(bool in_network, double reconfiguration_ns) {
  return {{"npus", 20},
          {"fabric",
           {{"kind", "fred"},
            {"fred", {{"l1_switches", 5}, {"npus_per_l1", 4}, {"in_network", in_network}}},
            {"flow_control", {{"preemption", "mp_pp_dp"}, {"reconfiguration_ns", reconfiguration_ns}}}}}};
}

nlohmann::json mesh() {
  return {{"npus", 20}, {"fabric", {{"kind", "mesh2d"}, {"flow_control", {{"preemption", "mp_pp_dp"}}}}}};
}

enum class DpDelay { kBounded, kUnknown };

/// Runs MP alone, DP alone and both, with MP at several times that differ by parts of a packet.
void expect_bounds(TwoPhases both, Time mp_may_lose, DpDelay dp_delay = DpDelay::kBounded) {
  TwoPhases mp = both, dp = both;
  mp.dp.bytes = dp.mp.bytes = 0;
  const Time mp_alone = run_phases(mp).mp, dp_alone = run_phases(dp).dp;
  Time most = 0, most_of_dp = 0, mp_time = 0;
  for (Time more = 0; more < 5; ++more) {
    both.mp_start += more * 457;
    const PhaseTimes times = run_phases(both);
    // Both are in the fabric together.
    ASSERT_LT(both.mp_start + times.mp, dp_alone + times.mp);
    EXPECT_GE(times.mp, mp_alone);
    EXPECT_LE(times.mp, mp_alone + mp_may_lose) << both.wafer << both.grain << both.mp_start;
    EXPECT_GT(times.dp, dp_alone);
    if (dp_delay == DpDelay::kBounded) {
      EXPECT_LE(times.dp, dp_alone + times.mp) << both.wafer << both.grain << both.mp_start;
    }
    most = std::max(most, times.mp - mp_alone);
    most_of_dp = std::max(most_of_dp, times.dp - dp_alone);
    mp_time = times.mp;
  }
  std::printf("%s, MP of %u NPUs: %.3f ns later, may be %.3f; DP %.3f us later, MP takes %.3f us\n",
              both.grain.c_str(), both.mp.mp, 1e-3 * static_cast<double>(most),
              1e-3 * static_cast<double>(mp_may_lose), 1e-6 * static_cast<double>(most_of_dp),
              1e-6 * static_cast<double>(mp_time));
}

TwoPhases phases(nlohmann::json wafer, const char* grain, std::uint32_t mp_group, const char* dp_algorithm) {
  TwoPhases both;
  both.wafer = std::move(wafer);
  both.grain = grain;
  both.mp = {mp_group, 20 / mp_group, "auto", 4 * kMiB, 1};
  both.dp = {1, 20, dp_algorithm, 16 * kMiB, 0};
  both.mp_start = 3'000'000;
  return both;
}

/// One packet, and a change at each switch on the way: one inside an L1 switch's group, three otherwise.
TEST(Preemption, InFredSwitches) {
  const Time packet = Rate(3'000'000'000'000).ps(kPacketBytes);
  for (const char* grain : kGrains) {
    for (const Time cycle : {Time{0}, kCycle, Time{5000}}) {
      const double ns = cycle == kCycle ? 0.8547 : static_cast<double>(cycle) / 1000;
      for (const std::uint32_t group : {2u, 4u, 20u}) {
        expect_bounds(phases(fred(true, ns), grain, group, "in_switch"),
                      packet + (group <= 4 ? 1 : 3) * cycle);
      }
    }
  }
}

/// A ring of end points is a chain of messages, each of which may find a packet at each link (the sender's
/// own as well) and a change at each switch. In an L1 switch's group of n: 2 (n - 1) messages over two links.
/// Of all: 3 + 3 steps inside the L1 switches, and 8 between them over two more links.
TEST(Preemption, BetweenEndPointsOfFred) {
  const Time packet = Rate(3'000'000'000'000).ps(kPacketBytes),
             up = Rate(12'000'000'000'000).ps(kPacketBytes);
  const Time local = 2 * packet + kCycle, far = 2 * (packet + up) + 3 * kCycle;
  for (const char* grain : kGrains) {
    for (const char* dp : {"ring", "hierarchical"}) {
      const DpDelay delay = std::string(dp) == "ring" ? DpDelay::kBounded : DpDelay::kUnknown;
      expect_bounds(phases(fred(false, 0.8547), grain, 2, dp), 2 * local, delay);
      expect_bounds(phases(fred(false, 0.8547), grain, 4, dp), 6 * local, delay);
      expect_bounds(phases(fred(false, 0.8547), grain, 20, dp), 6 * local + 8 * far, delay);
    }
  }
}

/// Nothing to change over on a mesh. The longest way of a message in row-major groups of 2 is five links (NPU
/// 4 to 5), of 4 as well; of all 20, whose rings are those of columns and rows, four and three.
TEST(Preemption, OnAMesh) {
  const Time packet = Rate(750'000'000'000).ps(kPacketBytes);
  for (const char* grain : kGrains) {
    for (const char* dp : {"ring", "hierarchical"}) {
      const DpDelay delay = std::string(dp) == "ring" ? DpDelay::kBounded : DpDelay::kUnknown;
      expect_bounds(phases(mesh(), grain, 2, dp), 2 * 5 * packet, delay);
      expect_bounds(phases(mesh(), grain, 4, dp), 6 * 5 * packet, delay);
      expect_bounds(phases(mesh(), grain, 20, dp), (8 * 4 + 6 * 3) * packet, delay);
    }
  }
}

/// What would fail: without pre-emption the MP all-reduce waits for its turns.
TEST(Preemption, IsWhatKeepsTheBound) {
  TwoPhases both = phases(fred(true, 0), "auto", 4, "in_switch");
  both.wafer["fabric"]["flow_control"]["preemption"] = "off";
  TwoPhases mp = both;
  mp.dp.bytes = 0;
  EXPECT_GT(run_phases(both).mp, run_phases(mp).mp + 1'000'000);
}

}  // namespace
}  // namespace wafervp::test
