// SPDX-License-Identifier: Apache-2.0
// Streams of the I/O controllers with errors: does each NPU get the weights, and each controller the sum of
// the gradients, whatever is sent again?
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "in_child.h"
#include "scenario/reader.h"
#include "topology/placement.h"
#include "wafer/wafer.h"

namespace wafervp::test {
namespace {

/// Of each I/O controller; three packets and a short one.
constexpr std::uint32_t kShare = 3 * 1024 + 7;
constexpr std::uint32_t kNpus = 20, kControllers = 18, kValues = kShare * kControllers;

struct Stream {
  std::string fabric, operation;
  nlohmann::json errors;
};

nlohmann::json scenario_of(const Stream& stream) {
  return {{"version", 1},
          {"name", "io_values"},
          {"wafer",
           {{"npus", kNpus},
            {"io", {{"controllers", kControllers}}},
            {"fabric",
             {{"kind", stream.fabric},
              {"flow_control", {{"retransmission", "go_back_n"}}},
              {"errors", stream.errors}}}}},
          {"workload",
           {{"kind", "collective"},
            {"collective", {{"operation", stream.operation}, {"bytes", 4 * kValues}, {"type", "int32"}}}}},
          {"detail", {{"data", "values"}}}};
}

/// Wafer with a vector of values in each end's memory.
class Bench {
 public:
  explicit Bench(const Stream& stream)
      : stream_(stream),
        scenario_(read_scenario(parse_document(scenario_of(stream).dump(), "io_values"))),
        topology_(build_topology(scenario_.wafer)),
        workload_(
            build_workload(scenario_, topology_,
                           place(topology_, scenario_.workload.parallelism, scenario_.workload.placement))),
        wafer_(scenario_, topology_, workload_) {}

  std::string run() {
    std::vector<std::vector<std::int32_t>> before;
    for (std::uint32_t end = 0; end < topology_.ends(); ++end) {
      std::mt19937 random(end + 1);
      std::vector<std::int32_t>& values = before.emplace_back(kValues);
      for (std::int32_t& value : values) value = static_cast<std::int32_t>(random() % 1'000'000);
      std::memcpy(vector_of(end), values.data(), values.size() * sizeof(std::int32_t));
    }
    sc_core::sc_start();
    wafer_.calendar().rethrow_failure();
    std::uint64_t errors = 0;
    for (const auto& link : wafer_.links()) errors += link->statistics().errors;
    if (!stream_.errors.empty() && stream_.errors.contains("script") &&
        errors != stream_.errors["script"].size()) {
      return std::to_string(errors) + " errors";
    }
    return stream_.operation == "load" ? loaded(before) : stored(before);
  }

 private:
  void* vector_of(std::uint32_t end) {
    for (const wvp_command& command : workload_.programs[end].commands) {
      if (command.kind == WVP_CMD_START) return wafer_.accelerator(NpuId(end)).memory() + command.dst;
    }
    throw std::runtime_error("an end without a command");
  }
  std::int32_t value(std::uint32_t end, std::uint32_t at) {
    std::int32_t value;
    std::memcpy(&value, static_cast<std::byte*>(vector_of(end)) + at * sizeof value, sizeof value);
    return value;
  }

  /// All NPUs hold share k of controller k.
  std::string loaded(const std::vector<std::vector<std::int32_t>>& before) {
    for (std::uint32_t npu = 0; npu < kNpus; ++npu) {
      for (std::uint32_t i = 0; i < kValues; ++i) {
        const std::int32_t expected = before[kNpus + i / kShare][i];
        if (value(npu, i) != expected) return "NPU " + std::to_string(npu) + ", value " + std::to_string(i);
      }
    }
    return "";
  }
  /// Share k of controller k is the sum of the NPUs'.
  std::string stored(const std::vector<std::vector<std::int32_t>>& before) {
    for (std::uint32_t i = 0; i < kValues; ++i) {
      std::int32_t sum = 0;
      for (std::uint32_t npu = 0; npu < kNpus; ++npu) sum += before[npu][i];
      if (value(kNpus + i / kShare, i) != sum) return "value " + std::to_string(i);
    }
    return "";
  }

  Stream stream_;
  Scenario scenario_;
  Topology topology_;
  Workload workload_;
  Wafer wafer_;
};

/// Empty when all is as it should be.
std::string wrong(const char* fabric, const char* operation, const nlohmann::json& errors) {
  return in_child([&] { return Bench({fabric, operation, errors}).run(); });
}

nlohmann::json script(std::initializer_list<const char*> links) {
  nlohmann::json errors = nlohmann::json::array();
  for (const char* link : links) {
    for (const unsigned packet : {1u, 2u, 4u, 5u}) errors.push_back({{"link", link}, {"packet", packet}});
  }
  return {{"script", errors}};
}

TEST(IoErrorValues, Scripted) {
  EXPECT_EQ(wrong("mesh2d", "load", script({"io0->npu0", "io5->npu9", "x0y0->x1y0"})), "");
  EXPECT_EQ(wrong("mesh2d", "store", script({"npu0->io0", "x1y0->x0y0"})), "");
  EXPECT_EQ(wrong("fred", "load", script({"io0->l1_0", "l1_0->l2", "l1_3->npu13"})), "");
  EXPECT_EQ(wrong("fred", "store", script({"l1_0->io0", "l2->l1_0", "npu2->l1_0"})), "");
}

TEST(IoErrorValues, ByRate) {
  for (const double rate : {1e-12, 1e-8, 1e-7, 1e-6}) {
    for (const char* fabric : {"mesh2d", "fred"}) {
      for (const char* operation : {"load", "store"}) {
        EXPECT_EQ(wrong(fabric, operation, {{"bit_error_rate", rate}}), "") << fabric << operation << rate;
      }
    }
  }
}

}  // namespace
}  // namespace wafervp::test
