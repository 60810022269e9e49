// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "progress.h"
#include "run/run.h"

namespace wafervp::cli {

/// "LEVEL[:NAME]" into the hooks. Throws UsageError.
void parse_log(const std::string& text, RunHooks& hooks);

/// What a run asks of its surroundings: progress line, signals, and an end of the process where the run
/// does not notice that its wall-clock limit has passed.
class RunWatch {
 public:
  /// `wall_s` 0: no limit. `log` as on the command line.
  RunWatch(const std::string& name, double wall_s, ProgressTo progress_to, const std::string& log);
  ~RunWatch();
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;

  const RunHooks& hooks() const { return hooks_; }

 private:
  bool go_on(const Progress& progress);

  std::string name_;
  double wall_s_;
  ProgressLine line_;
  RunHooks hooks_;
};

}  // namespace wafervp::cli
