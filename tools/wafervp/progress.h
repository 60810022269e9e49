// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

namespace wafervp::cli {

/// One line on the standard error that is drawn over, on a terminal only.
class ProgressLine {
 public:
  explicit ProgressLine(bool wanted);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// `share` of the work that is done, 0..1: adds it and an estimate of the time left.
  void show(const std::string& text, double share);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool active_;
  bool drawn_ = false;
  Clock::time_point start_, last_;
};

}  // namespace wafervp::cli
