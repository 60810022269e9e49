// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "output.h"

namespace wafervp::cli {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(200);
constexpr char kShareMark = '\x1f';  // no line of text begins with it

std::string estimate(double seconds) {
  if (seconds < 60) return fmt::format("about {:.0f} s left", seconds + 0.5);
  if (seconds < 3600) return fmt::format("about {:.0f} min left", seconds / 60);
  return fmt::format("about {:.1f} h left", seconds / 3600);
}

}  // namespace

ProgressLine::ProgressLine(ProgressTo to) : to_(to), start_(Clock::now()), last_(start_) {
  if (to == ProgressTo::kTerminal && ::isatty(STDERR_FILENO) != 1) to_ = ProgressTo::kNobody;
}

void ProgressLine::show(const std::string& text, double share) {
  if (!active()) return;
  const Clock::time_point now = Clock::now();
  if (now - last_ < kRedraw) return;
  last_ = now;
  if (to_ == ProgressTo::kParent) return note(fmt::format("{}{}\n", kShareMark, share));
  std::string line = text + fmt::format(", {:.0f} % done", 100 * share);
  if (share > 0.01) {
    line += ", " + estimate(std::chrono::duration<double>(now - start_).count() * (1 - share) / share);
  }
  note("\r" + line + "\033[K");
  drawn_ = true;
}

void ProgressLine::clear() {
  if (drawn_) note("\r\033[K");
  drawn_ = false;
}

std::optional<double> progress_share(const std::string& line) {
  if (line.empty() || line[0] != kShareMark) return std::nullopt;
  return std::strtod(line.c_str() + 1, nullptr);
}

}  // namespace wafervp::cli
