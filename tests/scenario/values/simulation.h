// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace wafervp::test {

/// One collective on one wafer, as the values test asks for it.
struct Wanted {
  nlohmann::json wafer;  // "npus" and "fabric" of a scenario
  std::string operation, algorithm, type;
  std::uint64_t elements = 0;
  std::uint32_t chunks = 1;
  std::uint32_t root = 0;
  std::vector<std::uint32_t> ranks;  // empty: all
  std::string fred_switch = "behavioural";
};

std::string describe(const Wanted& wanted);

/// Runs the collective in a child process (a simulation has a process to itself), once with seeded values in
/// the NPUs' memories and once with sizes only. Empty when each NPU ends at the same time in both and holds
/// what the plain reference says, bit for bit; else what was different.
std::string difference(const Wanted& wanted);

}  // namespace wafervp::test
