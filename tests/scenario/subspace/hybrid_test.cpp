// SPDX-License-Identifier: Apache-2.0
// Values of model-parallel groups through lossless units on the mesh and in rings of Fred-D's NPUs: the
// all-reduces of a layer under the hybrid policy, every bit of whose sums comes back.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "compression/gaussian.h"
#include "scenario/reader.h"
#include "topology/placement.h"
#include "wafer/wafer.h"

namespace wafervp::test {
namespace {

constexpr std::uint32_t kNpus = 8, kGroup = 4;
constexpr std::uint64_t kElements = 6144;  // of fp32

Scenario scenario(const char* fabric) {
  const nlohmann::json json = {{"version", 1},
                               {"name", "hybrid"},
                               {"wafer",
                                {{"npus", kNpus},
                                 {"fabric",
                                  {{"kind", fabric},
                                   {"mesh2d", {{"columns", 4}, {"rows", 2}}},
                                   {"fred", {{"l1_switches", 2}, {"npus_per_l1", 4}, {"in_network", true}}}}},
                                 {"compression",
                                  {{"placement", "npu"},
                                   {"policy", {{"mp", "lossless"}, {"pp", "lossless"}, {"dp", "zfp"}}},
                                   {"codec", {{"width", 32}}}}}}},
                               {"workload",
                                {{"kind", "collective"},
                                 {"parallelism", {{"mp", kGroup}, {"dp", 2}, {"pp", 1}}},
                                 {"collective",
                                  {{"operation", "all_reduce"},
                                   {"algorithm", "ring"},
                                   {"groups", "mp"},
                                   {"bytes", 4 * kElements},
                                   {"type", "fp32"}}}}},
                               {"detail", {{"data", "values"}}}};
  return read_scenario(parse_document(json.dump(), "hybrid"));
}

/// Multiples of 1/256 below 16, so that sums are exact in any order.
float value(std::uint32_t npu, std::uint64_t i) {
  static const auto kNoise = compression::gaussian_matrix(kNpus, kElements, 3, 2.0);
  const double bounded = std::fmin(std::fmax(kNoise.row(npu)[i], -15.0), 15.0);
  return static_cast<float>(std::round(bounded * 256) / 256);
}

class Hybrid : public testing::TestWithParam<const char*> {};

TEST_P(Hybrid, ModelParallelSumsAreExact) {
  const Scenario wanted = scenario(GetParam());
  const Topology topology = build_topology(wanted.wafer);
  const Placement placement = place(topology, wanted.workload.parallelism, wanted.workload.placement);
  const Workload workload = build_workload(wanted, topology, placement);
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

  for (std::uint32_t rank = 0; rank < kNpus; ++rank) {
    const std::uint32_t npu = placement.npu_of_rank[rank].value, first = rank / kGroup * kGroup;
    for (std::uint64_t i = 0; i < kElements; ++i) {
      float sum = 0, held;
      for (std::uint32_t m = first; m < first + kGroup; ++m) sum += value(placement.npu_of_rank[m].value, i);
      std::memcpy(&held, wafer.accelerator(NpuId(npu)).memory() + address[npu] + 4 * i, 4);
      ASSERT_EQ(held, sum) << "NPU " << npu << ", element " << i;
    }
    const auto& of_class =
        wafer.compression_unit(NpuId(npu))->statistics(compression::TrafficClass::kModelParallel);
    EXPECT_GT(of_class.values_squared, 0);
    EXPECT_EQ(of_class.errors_squared, 0);
    // A ring sends 2 (n - 1) / n of the vector.
    EXPECT_EQ(of_class.dense_bytes, 4 * kElements * 2 * (kGroup - 1) / kGroup);
    EXPECT_LT(of_class.wire_bytes, of_class.dense_bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(Fabrics, Hybrid, testing::Values("mesh2d", "fred"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace wafervp::test
