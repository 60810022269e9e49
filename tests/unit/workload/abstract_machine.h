// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "workload/programs.h"

namespace wafervp::test {

/// Runs a workload's programs without time, as strictly as can be: an operation is done on a rank only
/// when every member has entered it (a send when its receiver has), each as the same operation with the same
/// size and number. What deadlocks on a real machine deadlocks here too.
struct AbstractRun {
  /// Empty when all programs ended; else who waits for what, or the first rule that was broken.
  std::string fault;
  /// Operations by communicator name and operation, each counted once.
  std::map<std::pair<std::string, std::uint8_t>, std::uint64_t> operations;
};
AbstractRun run_abstractly(const Workload& workload);

}  // namespace wafervp::test
