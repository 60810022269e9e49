// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "scenario/errors.h"
#include "topology/topology.h"

namespace wafervp::test {

inline constexpr std::uint64_t kGiga = 1'000'000'000;

inline WaferSpec mesh(std::uint32_t columns, std::uint32_t rows) {
  WaferSpec wafer{};
  wafer.npus = columns * rows;
  wafer.fabric.kind = FabricKind::kMesh2d;
  wafer.fabric.mesh2d = {columns, rows, 750 * kGiga, 20};
  return wafer;
}
inline WaferSpec ring(std::uint32_t npus) {
  WaferSpec wafer{};
  wafer.npus = npus;
  wafer.fabric.kind = FabricKind::kRing;
  wafer.fabric.ring = {100 * kGiga, 500};
  return wafer;
}
inline WaferSpec star(std::uint32_t npus) {
  WaferSpec wafer{};
  wafer.npus = npus;
  wafer.fabric.kind = FabricKind::kSwitch;
  wafer.fabric.switch_ = {100 * kGiga, 500, 3};
  return wafer;
}
enum class InNetwork { kNo, kYes };
/// 5 x 4 as in the FRED paper; the uplink is 1500 GB/s in A and B, 12 TB/s in C and D.
inline WaferSpec fred(std::uint64_t uplink_bytes_per_s, InNetwork in_network) {
  WaferSpec wafer{};
  wafer.npus = 20;
  wafer.fabric.kind = FabricKind::kFred;
  wafer.fabric.fred = {
      5, 4, {}, {}, 3000 * kGiga, uplink_bytes_per_s,    20, 0, in_network == InNetwork::kYes,
      3, 0, 1,  5,  1536,         FredRemedy::kSerialise};
  return wafer;
}

inline std::vector<NpuId> npus(std::uint32_t count) {
  std::vector<NpuId> all;
  for (std::uint32_t n = 0; n < count; ++n) all.push_back(NpuId{n});
  return all;
}

/// The faults that `action` ends with; empty when it does not fail.
template <class Action>
std::vector<Issue> issues_of(Action action) {
  try {
    action();
  } catch (const ScenarioError& error) {
    return error.issues();
  }
  return {};
}

}  // namespace wafervp::test
