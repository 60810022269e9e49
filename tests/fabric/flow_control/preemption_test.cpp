// SPDX-License-Identifier: Apache-2.0
// An MP all-reduce under a running DP one: what may each cost the other? MP finds one DP packet on its way
// that has begun, and a change at each FRED switch; then its links are its own, between its messages as well.
// DP loses no more than the time in which MP has them.
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
const char* const kRings[] = {"ring", "hierarchical"};

nlohmann::json fred(bool in_network, double reconfiguration_ns) {
  return {{"npus", 20},
          {"fabric",
           {{"kind", "fred"},
            {"fred", {{"l1_switches", 5}, {"npus_per_l1", 4}, {"in_network", in_network}}},
            {"flow_control", {{"preemption", "mp_pp_dp"}, {"reconfiguration_ns", reconfiguration_ns}}}}}};
}

nlohmann::json mesh(int columns) {
  return {{"npus", 20},
          {"fabric",
           {{"kind", "mesh2d"},
            {"mesh2d", {{"columns", columns}, {"rows", 20 / columns}}},
            {"flow_control", {{"preemption", "mp_pp_dp"}}}}}};
}

nlohmann::json by_packet(nlohmann::json wafer) {
  wafer["fabric"]["flow_control"]["hold_ns"] = 0;
  return wafer;
}

nlohmann::json of_whole_wafer(nlohmann::json wafer) {
  wafer["fabric"]["flow_control"]["hold_scope"] = "wafer";
  return wafer;
}

/// What DP may lose: the time of MP, or nothing is said.
enum class DpDelay { kTimeOfMp, kUnknown };

/// Runs MP alone, DP alone and both, with MP at several times that differ by parts of a packet.
void expect_bounds(TwoPhases both, Time mp_may_lose, DpDelay dp_delay = DpDelay::kTimeOfMp) {
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
    if (dp_delay == DpDelay::kTimeOfMp) {
      EXPECT_LE(times.dp, dp_alone + times.mp) << both.wafer << both.grain << both.mp_start;
    }
    most = std::max(most, times.mp - mp_alone);
    most_of_dp = std::max(most_of_dp, times.dp - dp_alone);
    mp_time = times.mp;
  }
  std::printf("%s, %s DP, MP of %u NPUs: %.3f ns later, may be %.3f; DP %.4f us later, MP takes %.4f us\n",
              both.grain.c_str(), both.dp.algorithm.c_str(), both.mp.mp, 1e-3 * static_cast<double>(most),
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
Time packet_and_changes(std::uint32_t group, Time cycle) {
  return Rate(3'000'000'000'000).ps(kPacketBytes) + (group <= 4 ? 1 : 3) * cycle;
}

TEST(Preemption, InFredSwitches) {
  for (const char* grain : kGrains) {
    for (const Time cycle : {Time{0}, kCycle, Time{5000}}) {
      const double ns = cycle == kCycle ? 0.8547 : static_cast<double>(cycle) / 1000;
      for (const std::uint32_t group : {2u, 4u, 20u}) {
        expect_bounds(phases(fred(true, ns), grain, group, "in_switch"), packet_and_changes(group, cycle));
      }
    }
  }
}

/// As in the switches: the notice of the operation is at each link before its first packet, which has waited
/// for a packet at the first one.
void expect_bounds_between_end_points(Time cycle) {
  const double ns = cycle == kCycle ? 0.8547 : static_cast<double>(cycle) / 1000;
  for (const char* grain : kGrains) {
    for (const char* dp : kRings) {
      for (const std::uint32_t group : {2u, 4u, 20u})
        expect_bounds(phases(fred(false, ns), grain, group, dp), packet_and_changes(group, cycle));
    }
  }
}

TEST(Preemption, BetweenEndPointsOfFred) { expect_bounds_between_end_points(kCycle); }
TEST(Preemption, BetweenEndPointsOfFredThatChangeInNoTime) { expect_bounds_between_end_points(0); }
TEST(Preemption, BetweenEndPointsOfFredThatChangeSlowly) { expect_bounds_between_end_points(5000); }

/// Nothing to change over on a mesh. In rows of four the groups of two and of four have links of their own.
TEST(Preemption, OnAMesh) {
  const Time packet = Rate(750'000'000'000).ps(kPacketBytes);
  for (const char* grain : kGrains) {
    for (const char* dp : kRings) {
      for (const std::uint32_t group : {2u, 4u, 20u})
        expect_bounds(phases(mesh(4), grain, group, dp), packet);
    }
  }
}

/// In rows of five, groups that reach over the end of a row (NPU 4 to 5, five links) share links with others.
/// What is said of the last case: StoppedInAPartMayLoseMore.
TEST(Preemption, OnAMeshWhereGroupsShareLinks) {
  const Time packet = Rate(750'000'000'000).ps(kPacketBytes);
  for (const char* grain : kGrains) {
    for (const std::uint32_t group : {2u, 4u, 20u}) {
      expect_bounds(phases(mesh(5), grain, group, "ring"), packet);
      expect_bounds(phases(mesh(5), grain, group, "hierarchical"), packet,
                    group == 2 ? DpDelay::kUnknown : DpDelay::kTimeOfMp);
    }
  }
}

/// What is stopped everywhere goes on as it was, so much later: in all cases.
TEST(Preemption, OfAWholeFred) {
  for (const char* grain : kGrains) {
    for (const char* dp : kRings) {
      for (const std::uint32_t group : {2u, 4u, 20u})
        expect_bounds(phases(of_whole_wafer(fred(false, 0.8547)), grain, group, dp),
                      packet_and_changes(group, kCycle));
    }
  }
}

class OfAWholeMesh : public testing::TestWithParam<int> {};

TEST_P(OfAWholeMesh, Preemption) {
  const Time packet = Rate(750'000'000'000).ps(kPacketBytes);
  for (const char* grain : kGrains) {
    for (const char* dp : kRings) {
      for (const std::uint32_t group : {2u, 4u, 20u})
        expect_bounds(phases(of_whole_wafer(mesh(GetParam())), grain, group, dp), packet);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Columns, OfAWholeMesh, testing::Values(4, 5));

/// Of a hierarchical DP, in chunks that go along rows first and such that go along columns first, MP stops
/// some rings for its whole time and others for half of it. These go on with later phases, messages of which
/// are under way when the others' earlier ones come: the phases along rows and columns, which overlapped,
/// wait for each other. The fewer the chunks the more. Stopped as a whole DP loses no more than MP's time,
/// however it is cut.
TEST(Preemption, StoppedInAPartMayLoseMore) {
  TwoPhases least = phases(mesh(3), "auto", 2, "hierarchical");
  least.wafer["npus"] = 6;
  least.mp = {2, 3, "auto", 2 * kMiB, 1};
  least.dp = {1, 6, "hierarchical", 16 * kMiB, 4};
  least.wafer["fabric"]["mesh2d"] = {{"columns", 3}, {"rows", 2}};
  TwoPhases whole_chunks = phases(mesh(5), "auto", 2, "hierarchical"), cut = whole_chunks;
  whole_chunks.dp.chunks = 1;
  for (TwoPhases* both : {&least, &whole_chunks, &cut}) {
    TwoPhases dp = *both, stopped = *both;
    dp.mp.bytes = 0;
    stopped.wafer = of_whole_wafer(both->wafer);
    const Time alone = run_phases(dp).dp;
    const PhaseTimes in_part = run_phases(*both), in_whole = run_phases(stopped);
    std::printf("%s, %u chunks: DP %.4f us later, MP takes %.4f us; DP stopped as a whole %.4f us\n",
                both->wafer["fabric"]["mesh2d"].dump().c_str(), both->dp.chunks,
                1e-6 * static_cast<double>(in_part.dp - alone), 1e-6 * static_cast<double>(in_part.mp),
                1e-6 * static_cast<double>(in_whole.dp - alone));
    EXPECT_GT(in_part.dp, alone + in_part.mp);
    EXPECT_LE(in_whole.dp, alone + in_whole.mp);
  }
}

/// Without holding, each message of the chain that a ring is may find a packet at each link (the sender's own
/// as well) and a change at each switch. In an L1 switch's group of n: 2 (n - 1) messages over two links. Of
/// all: 3 + 3 steps inside the L1 switches, and 8 between them over two more links.
TEST(Preemption, ByPacketBetweenEndPoints) {
  const Time packet = Rate(3'000'000'000'000).ps(kPacketBytes),
             up = Rate(12'000'000'000'000).ps(kPacketBytes);
  const Time local = 2 * packet + kCycle, far = 2 * (packet + up) + 3 * kCycle;
  for (const char* grain : kGrains) {
    for (const char* dp : kRings) {
      const DpDelay delay = dp == kRings[0] ? DpDelay::kTimeOfMp : DpDelay::kUnknown;
      expect_bounds(phases(by_packet(fred(false, 0.8547)), grain, 4, dp), 6 * local, delay);
      expect_bounds(phases(by_packet(fred(false, 0.8547)), grain, 20, dp), 6 * local + 8 * far, delay);
    }
  }
}

/// Each MP group has a member that enters when DP has ended, which the other one holds back: it lets go when
/// it has heard nothing for as long as it may. Where DP ends first, MP goes before the rest of it.
TEST(Preemption, LetsGoOfWhatItsPeerWaitsFor) {
  for (const char* grain : kGrains) {
    for (const auto& [wafer, rate] : {std::pair(fred(false, 0.8547), Rate(3'000'000'000'000)),
                                      std::pair(mesh(4), Rate(750'000'000'000))}) {
      for (const Time quiet : {Time{1'000'000}, Time{20'000'000}}) {
        TwoPhases both = phases(wafer, grain, 2, "ring");
        both.wafer["fabric"]["flow_control"]["hold_ns"] = quiet / 1000;
        both.odd_npus_wait = true;
        TwoPhases dp = both, mp = both;
        dp.mp.bytes = mp.dp.bytes = 0;
        mp.odd_npus_wait = false;
        const Time held = rate.ps(both.mp.bytes / 2) + quiet;
        const Time dp_alone = run_phases(dp).dp, dp_held = run_phases(both).dp;
        EXPECT_LE(dp_held, dp_alone + held + run_phases(mp).mp) << both.wafer << grain;
        EXPECT_GT(dp_held, dp_alone + held / 2) << both.wafer << grain;
      }
    }
  }
}

/// What would fail: without pre-emption the MP all-reduce waits for its turns, and a ring that does not hold
/// finds packets at each step.
TEST(Preemption, IsWhatKeepsTheBound) {
  const auto loss = [](const TwoPhases& both) {
    TwoPhases mp = both;
    mp.dp.bytes = 0;
    return run_phases(both).mp - run_phases(mp).mp;
  };
  TwoPhases off = phases(fred(true, 0), "auto", 4, "in_switch");
  off.wafer["fabric"]["flow_control"]["preemption"] = "off";
  EXPECT_GT(loss(off), 1'000'000);
  EXPECT_GT(loss(phases(by_packet(fred(false, 0.8547)), "auto", 4, "ring")), packet_and_changes(4, kCycle));
}

}  // namespace
}  // namespace wafervp::test
