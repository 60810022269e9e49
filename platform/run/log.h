// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/ids.h"
#include "core/time.h"
#include "run/run.h"
#include "scenario/scenario.h"

namespace wafervp {

/// Log lines of a run: "time  name  text". The names are `run`, a module (`npu7`, a link as in the results),
/// a rank (`rank3`, which stands for its NPU) and a flow (`0->5`: a message between two NPUs); a filter
/// lets one name through. info: what was built and what came out; debug: operations begin and end; trace:
/// waits and computes as well.
class RunLog {
 public:
  enum Level { kError = 1, kWarning, kInfo, kDebug, kTrace };

  RunLog(const RunHooks& hooks, const std::vector<NpuId>& npu_of_rank);

  /// To be asked before a line is put together.
  bool wants(Level level) const { return level <= level_; }
  void line(Time when, const std::string& name, const std::string& text) const;
  void npu_line(Time when, NpuId npu, const std::string& text) const {
    line(when, "npu" + std::to_string(npu.value), text);
  }

 private:
  const RunHooks& hooks_;
  int level_;
  std::string filter_;
};

/// What is wrong with a filter that no line of the scenario's runs can have, with the nearest name; else
/// empty. The scenario must build (build_topology).
std::string unknown_log_name(const Scenario& scenario, const std::string& filter);

}  // namespace wafervp
