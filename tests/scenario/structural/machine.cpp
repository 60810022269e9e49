// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include <cstring>
#include <random>
#include <vector>

#include "core/element.h"
#include "in_child.h"
#include "scenario/reader.h"
#include "topology/fred_built.h"
#include "wafer/fred_routing.h"
#include "wafer/wafer.h"

namespace wafervp::test {
namespace {

class EndTimes final : public AcceleratorObserver {
 public:
  explicit EndTimes(std::size_t ends) : when(ends, kNever) {}
  void on_phase(NpuId, std::uint32_t, std::uint32_t, Time) override {}
  void on_exit(NpuId npu, std::uint32_t how, Time time) override {
    if (how == WVP_EXIT_OK) when[npu.value] = time;
  }
  void on_compute(NpuId, Time, Time) override {}
  std::vector<Time> when;
};

/// Numbers of different sizes in any type: bytes such that no fp16, bf16 or fp32 is infinite or no number.
void fill(std::byte* memory, std::uint64_t bytes, std::uint32_t seed) {
  std::mt19937 random(seed);
  for (std::uint64_t at = 0; at + 1 < bytes; at += 2) {
    const float value = (static_cast<float>(random() % 4000) - 2000) / static_cast<float>(1 + random() % 60);
    const std::uint16_t bits = fp16_from_float(value);
    std::memcpy(memory + at, &bits, sizeof bits);
  }
}

std::uint64_t checksum(const std::byte* memory, std::uint64_t bytes) {  // FNV-1a
  std::uint64_t sum = 0xcbf29ce484222325u;
  for (std::uint64_t at = 0; at < bytes; ++at)
    sum = (sum ^ static_cast<std::uint64_t>(memory[at])) * 0x100000001b3u;
  return sum;
}

std::string run(const nlohmann::json& json) {
  const Scenario scenario = read_scenario(parse_document(json.dump(), "machine"));
  const Topology topology = build_topology(scenario.wafer);
  std::vector<std::string> warnings;
  const Placement placement = place_workers(scenario.wafer, topology, scenario.workload, warnings);
  Workload workload = build_workload(scenario, topology, placement);
  relieve(scenario, topology, workload);
  Wafer wafer(scenario, topology, workload);
  EndTimes ends(topology.ends());
  wafer.set_observer(ends);
  const std::uint64_t bytes = workload.device_memory_bytes;
  for (std::uint32_t n = 0; n < topology.ends(); ++n)
    fill(wafer.accelerator(NpuId(n)).memory(), bytes, n + 1);
  sc_core::sc_start();
  wafer.calendar().rethrow_failure();
  std::string text;
  for (std::uint32_t n = 0; n < topology.ends(); ++n) {
    text += topology.nodes[n].name + " ends at " + std::to_string(ends.when[n]) + " ps with " +
            std::to_string(checksum(wafer.accelerator(NpuId(n)).memory(), bytes)) + "\n";
  }
  for (std::size_t k = 0; k < wafer.links().size(); ++k) {
    const LinkStatistics link = wafer.links()[k]->statistics();
    text += topology.links[k].name + " carries " + std::to_string(link.bytes) + " bytes in " +
            std::to_string(link.busy_ps) + " ps\n";
  }
  return text;
}

}  // namespace

std::string outcome(const nlohmann::json& scenario) {
  return in_child([&] { return run(scenario); });
}

}  // namespace wafervp::test
