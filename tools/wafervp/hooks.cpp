// SPDX-License-Identifier: Apache-2.0
#include "hooks.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "errors.h"
#include "format.h"
#include "output.h"
#include "scenario/text.h"
#include "signals.h"

namespace wafervp::cli {
namespace {

/// Wall time after the limit that a run has to notice it.
constexpr double kWatchdogGraceS = 5;

}  // namespace

void parse_log(const std::string& text, RunHooks& hooks) {
  if (text.empty()) return;
  static const std::vector<std::string> kLevels{"off", "error", "warning", "info", "debug", "trace"};
  const std::string level = text.substr(0, text.find(':'));
  const auto found = std::find(kLevels.begin(), kLevels.end(), level);
  if (found == kLevels.end()) {
    const std::string near = nearest_word(level, kLevels);
    throw UsageError("--log " + quote(text) + ": expected one of " + join_words(kLevels) +
                     ", and :NAME of a module, rank or flow if wanted" +
                     (near.empty() ? "" : "; did you mean " + near + '?'));
  }
  hooks.log_level = static_cast<int>(std::distance(kLevels.begin(), found));
  if (level.size() < text.size()) hooks.log_filter = text.substr(level.size() + 1);
  hooks.log = [](const std::string& line) { note(line + '\n'); };
}

RunWatch::RunWatch(const std::string& name, double wall_s, ProgressTo progress_to, const std::string& log)
    : name_(name), wall_s_(wall_s), line_(progress_to) {
  parse_log(log, hooks_);
  hooks_.progress = [this](const Progress& progress) { return go_on(progress); };
  hooks_.state_wanted = take_state_request;
  hooks_.report = [this](const std::string& text) {
    line_.clear();
    note(text.empty() || text.back() == '\n' ? text : text + '\n');
  };
  if (wall_s_ > 0) arm_watchdog(wall_s_ + kWatchdogGraceS);
}

RunWatch::~RunWatch() {
  if (wall_s_ > 0) arm_watchdog(0);
}

bool RunWatch::go_on(const Progress& progress) {
  std::string text = name_ + ": " + format_time(progress.now_ps) + " simulated";
  if (progress.training != nullptr && !progress.training->curve.empty()) {
    const TrainingPoint& last = progress.training->curve.back();
    text += fmt::format(", step {} of {}, loss {:.3f}", last.step, progress.training->steps, last.loss);
  }
  line_.show(text, progress.share);
  return !stop_requested();
}

}  // namespace wafervp::cli
