// SPDX-License-Identifier: Apache-2.0
#include "signals.h"

#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <csignal>

#include "status.h"

namespace wafervp::cli {
namespace {

std::atomic<bool> stop{false};
std::atomic<bool> state{false};
static_assert(std::atomic<bool>::is_always_lock_free);

/// A child has a terminal's SIGINT beside the SIGTERM of its parent: only one that comes again is another
/// one.
void on_stop(int number) {
  static std::atomic<int> first{0};
  static_assert(std::atomic<int>::is_always_lock_free);
  int none = 0;
  if (!first.compare_exchange_strong(none, number) && none == number) ::_exit(kInterrupted);
  stop = true;
}

void on_state(int) { state = true; }

void on_watchdog(int) {
  constexpr char kText[] =
      "wafervp: the wall-clock limit (limits.wall_s) has passed and the run does not answer\n";
  [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, kText, sizeof kText - 1);
  ::_exit(kNotFinished);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

void install_signal_handlers() {
  handle(SIGINT, on_stop);
  handle(SIGTERM, on_stop);
  handle(SIGUSR1, on_state);
  handle(SIGALRM, on_watchdog);
  handle(SIGPIPE, SIG_IGN);
  handle(SIGXFSZ, SIG_IGN);
}

void reset_signals() {
  handle(SIGPIPE, SIG_DFL);
  handle(SIGXFSZ, SIG_DFL);
}

bool stop_requested() { return stop; }

bool take_state_request() { return state.exchange(false); }

void arm_watchdog(double seconds) {
  itimerval timer{};
  // A timer holds no more than this; a day is as good as never.
  const double bounded = std::fmin(seconds, 86400.0 * 365);
  timer.it_value.tv_sec = static_cast<time_t>(bounded);
  timer.it_value.tv_usec = static_cast<suseconds_t>((bounded - std::floor(bounded)) * 1e6);
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace wafervp::cli
