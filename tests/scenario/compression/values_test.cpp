// SPDX-License-Identifier: Apache-2.0
// Values through compression units: a ring all-reduce whose messages are cast to bf16 on every hop, against
// the same additions and roundings made here.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/element.h"
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

INSTANTIATE_TEST_SUITE_P(Grains, Cast, testing::Values("auto", "packet"),
                         [](const auto& given) { return std::string(given.param); });

}  // namespace
}  // namespace wafervp::test
