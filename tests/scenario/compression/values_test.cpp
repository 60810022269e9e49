// SPDX-License-Identifier: Apache-2.0
// Values through compression units: a ring all-reduce whose messages are cast to bf16 on every hop, and one
// whose messages are added up as bf16 in FRED switches, against the same additions and roundings made here.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/element.h"
#include "router/tree_router.h"
#include "scenario/reader.h"
#include "topology/placement.h"
#include "wafer/wafer.h"

namespace wafervp::test {
namespace {

constexpr std::uint32_t kNpus = 4;
constexpr std::uint64_t kElements = 4000;  // of fp32, in one share of 1000 for each NPU

Scenario scenario(const char* grain) {
  const nlohmann::json json = {{"version", 1},
                               {"name", "cast"},
                               {"wafer",
                                {{"npus", kNpus},
                                 {"fabric", {{"kind", "ring"}}},
                                 {"compression", {{"placement", "npu"}, {"policy", {{"dp", "cast"}}}}}}},
                               {"workload",
                                {{"kind", "collective"},
                                 {"collective",
                                  {{"operation", "all_reduce"},
                                   {"algorithm", "ring"},
                                   {"bytes", 4 * kElements},
                                   {"type", "fp32"},
                                   {"chunks", 1}}}}},
                               {"detail", {{"data", "values"}, {"grain", grain}}}};
  return read_scenario(parse_document(json.dump(), "cast"));
}

float value(std::uint32_t npu, std::uint64_t i) {
  return std::sin(static_cast<float>(i) * 0.37f + static_cast<float>(npu)) * static_cast<float>(1 + npu);
}

float cast(float x) { return float_from_bf16(bf16_from_float(x)); }

class Cast : public testing::TestWithParam<const char*> {};

TEST_P(Cast, RingAllReduceRoundsOnEveryHop) {
  const Scenario wanted = scenario(GetParam());
  const Topology topology = build_topology(wanted.wafer);
  const Workload workload = build_workload(
      wanted, topology, place(topology, wanted.workload.parallelism, wanted.workload.placement));
  Wafer wafer(wanted, topology, workload);
  std::vector<std::uint64_t> address(kNpus);
  for (std::uint32_t n = 0; n < kNpus; ++n) {
    for (const wvp_command& command : workload.programs[n].commands) {
      if (command.kind == WVP_CMD_START) address[n] = command.dst;
    }
    for (std::uint64_t i = 0; i < kElements; ++i) {
      const float x = value(n, i);
      std::memcpy(wafer.accelerator(NpuId(n)).memory() + address[n] + 4 * i, &x, 4);
    }
  }
  sc_core::sc_start();
  wafer.calendar().rethrow_failure();

  // Whatever share starts where: the sum of an element went once round the ring, rounded on each hop, and
  // then its owner's sum, rounded, to all others. So the NPUs hold either the owner's unrounded sum, which
  // one of them has, or that sum rounded once.
  for (std::uint64_t i = 0; i < kElements; ++i) {
    std::vector<float> held(kNpus);
    for (std::uint32_t n = 0; n < kNpus; ++n) {
      std::memcpy(&held[n], wafer.accelerator(NpuId(n)).memory() + address[n] + 4 * i, 4);
    }
    unsigned owners = 0;
    for (std::uint32_t owner = 0; owner < kNpus; ++owner) {
      float sum = value((owner + 1) % kNpus, i);
      for (std::uint32_t hop = 2; hop <= kNpus; ++hop) sum = value((owner + hop) % kNpus, i) + cast(sum);
      bool fits = held[owner] == sum;
      for (std::uint32_t n = 0; n < kNpus; ++n) fits = fits && (n == owner || held[n] == cast(sum));
      owners += fits ? 1 : 0;
    }
    ASSERT_GE(owners, 1u) << "element " << i;
  }
  const CompressionStatistics& statistics = wafer.compression_unit(NpuId(0))->statistics();
  EXPECT_EQ(statistics.egress.dense_bytes, 2 * (kNpus - 1) * kElements);  // 2 (n - 1) / n of 4 bytes each
  EXPECT_EQ(statistics.egress.wire_bytes, statistics.egress.dense_bytes / 2);
  EXPECT_GT(statistics.errors_squared, 0);
  EXPECT_LT(statistics.errors_squared, statistics.values_squared / 256 / 256);
  for (const auto& link : wafer.links()) {
    if (link->statistics().bytes != 0) {
      EXPECT_EQ(link->statistics().bytes, statistics.egress.wire_bytes);
    }
  }
}

/// The scenario's all-reduce in the switches of a FRED fabric with `per_l1` of the NPUs at each L1 switch.
Scenario in_switches(std::uint32_t per_l1, const char* data, const char* codec, const char* switches) {
  nlohmann::json json = {
      {"version", 1},
      {"name", "sum"},
      {"wafer",
       {{"npus", kNpus},
        {"fabric",
         {{"kind", "fred"},
          {"fred", {{"l1_switches", kNpus / per_l1}, {"npus_per_l1", per_l1}, {"in_network", true}}}}},
        {"compression",
         {{"placement", "npu"}, {"policy", {{"dp", codec}}}, {"codec", {{"k", 8}, {"width", 40}}}}}}},
      {"workload",
       {{"kind", "collective"},
        {"collective",
         {{"operation", "all_reduce"},
          {"algorithm", "in_switch"},
          {"bytes", 4 * kElements},
          {"type", "fp32"}}}}},
      {"detail", {{"data", data}, {"fred_switch", switches}}}};
  return read_scenario(parse_document(json.dump(), "sum"));
}

class InSwitches : public testing::TestWithParam<std::pair<std::uint32_t, const char*>> {};

TEST_P(InSwitches, AddsElementsOfTheWireType) {
  const Scenario wanted = in_switches(GetParam().first, "values", "cast", GetParam().second);
  const Topology topology = build_topology(wanted.wafer);
  const Workload workload = build_workload(
      wanted, topology, place(topology, wanted.workload.parallelism, wanted.workload.placement));
  CompressionPlan(wanted).check(topology, workload);
  Wafer wafer(wanted, topology, workload);
  std::vector<std::uint64_t> address(kNpus);
  for (std::uint32_t n = 0; n < kNpus; ++n) {
    for (const wvp_command& command : workload.programs[n].commands) {
      if (command.kind == WVP_CMD_START) address[n] = command.dst;
    }
    for (std::uint64_t i = 0; i < kElements; ++i) {
      const float x = value(n, i);
      std::memcpy(wafer.accelerator(NpuId(n)).memory() + address[n] + 4 * i, &x, 4);
    }
  }
  sc_core::sc_start();
  wafer.calendar().rethrow_failure();
  // Neighbours first, then their sums; on one switch or on two levels.
  for (std::uint64_t i = 0; i < kElements; ++i) {
    const auto pair = [i](std::uint32_t n) { return cast(cast(value(n, i)) + cast(value(n + 1, i))); };
    const float sum = cast(pair(0) + pair(2));
    for (std::uint32_t n = 0; n < kNpus; ++n) {
      float held;
      std::memcpy(&held, wafer.accelerator(NpuId(n)).memory() + address[n] + 4 * i, 4);
      ASSERT_EQ(held, sum) << "NPU " << n << ", element " << i;
    }
  }
  for (const auto& link : wafer.links()) {
    const std::uint64_t bytes = link->statistics().bytes;
    EXPECT_TRUE(bytes % (2 * kElements) == 0 || GetParam().first != kNpus) << bytes;
    EXPECT_LE(bytes, 2 * kElements);
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, InSwitches,
                         testing::Values(std::pair{4u, "behavioural"}, std::pair{2u, "behavioural"},
                                         std::pair{4u, "structural"}),
                         [](const auto& given) {
                           return std::string(given.param.second) + std::to_string(given.param.first);
                         });

TEST(InSwitches, RefuseTwoVersionsOfU) {
  const Scenario wanted = in_switches(4, "none", "subspace", "behavioural");
  const Topology topology = build_topology(wanted.wafer);
  const Workload workload = build_workload(
      wanted, topology, place(topology, wanted.workload.parallelism, wanted.workload.placement));
  Wafer wafer(wanted, topology, workload);
  constexpr std::uint32_t kSelect = 0x010, kVersion = 0x01c, kDp = WVP_CLASS_DP;
  CompressionUnit& unit = *wafer.compression_unit(NpuId(2));
  for (std::uint32_t tensor = 0; tensor < 3; ++tensor) {
    unit.write32(kSelect, 4 * kDp + tensor);
    unit.write32(kVersion, 7);
  }
  sc_core::sc_start();
  try {
    wafer.calendar().rethrow_failure();
    FAIL() << "two versions of U were added up";
  } catch (const CollectiveMismatch& found) {
    EXPECT_NE(
        std::string(found.what())
            .find("messages of NPU 0 and NPU 2 cannot be added up: subspace: expected version 0 of U, found "
                  "version 7"),
        std::string::npos)
        << found.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Grains, Cast, testing::Values("auto", "packet"),
                         [](const auto& given) { return std::string(given.param); });

}  // namespace
}  // namespace wafervp::test
