// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace wafervp::cli {

/// This program, run again.
struct ChildSpec {
  std::string label;              // put before each line of its standard error
  std::vector<std::string> args;  // without the program's name
  std::string input;              // its standard input
};
struct ChildResult {
  int exit_status = 0;    // of a child that ended by itself
  int signal = 0;         // that ended it, or 0
  std::string output;     // standard output
  std::string last_line;  // of its standard error
};

struct ChildWatch {
  std::function<void(std::size_t index)> started;
  std::function<void(std::size_t index, const ChildResult&)> done;
  std::function<void(std::size_t index, double share)> progress;  // of a child that was asked to tell
  std::function<void()> tick;                                     // a few times a second
};

/// Runs all children, at most `jobs` at a time, in the order given. On a request to stop no more are
/// started and those that run are asked to end, and killed when they do not. False when stopped.
/// A request for the state goes to every child. A child ends when this process dies.
bool run_children(const std::vector<ChildSpec>& specs, unsigned jobs, const ChildWatch& watch);

/// Number of processors that this process may use.
unsigned processors();

}  // namespace wafervp::cli
