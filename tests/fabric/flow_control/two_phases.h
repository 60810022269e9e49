// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "core/time.h"

namespace wafervp::test {

/// An all-reduce of all groups of one kind.
struct Phase {
  std::uint32_t mp = 1, dp = 1;  ///< parallelism; one group of 20 NPUs, ten of two, ...
  std::string algorithm = "auto";
  std::uint64_t bytes = 0;
  std::uint32_t chunks = 1;
};

/// An all-reduce of the MP groups that enters `mp_start` after one of the DP groups, on one wafer.
struct TwoPhases {
  nlohmann::json wafer;  ///< "npus" and "fabric" of a scenario
  std::string grain = "auto";
  Phase mp, dp;  ///< without bytes: not there
  Time mp_start = 0;
  bool odd_npus_wait = false;  ///< they enter MP when DP has ended there
};

/// From the first entry to the last end, of the slowest group, in ps; 0 where the phase is not there.
struct PhaseTimes {
  Time mp = 0, dp = 0;
};

/// Runs it in a child process (a simulation has a process to itself). Throws std::runtime_error with what the
/// child said when it did not end well.
PhaseTimes run_phases(const TwoPhases& phases);

}  // namespace wafervp::test
