// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace wafervp::cli {

/// Who sees how far the work is.
enum class ProgressTo { kNobody, kTerminal, kParent };

/// One line on the standard error that is drawn over, if that is a terminal; or lines for the process that
/// started this one.
class ProgressLine {
 public:
  explicit ProgressLine(ProgressTo to);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// `share` of the work that is done, 0..1: adds it and an estimate of the time left.
  void show(const std::string& text, double share);
  void clear();
  /// Whether anybody sees it.
  bool active() const { return to_ != ProgressTo::kNobody; }

 private:
  using Clock = std::chrono::steady_clock;
  ProgressTo to_;
  bool drawn_ = false;
  Clock::time_point start_, last_;
};

/// The share in a line of a child, where it is one of progress.
std::optional<double> progress_share(const std::string& line);

}  // namespace wafervp::cli
