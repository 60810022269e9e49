// SPDX-License-Identifier: Apache-2.0
#include "output.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace wafervp::cli {
namespace {

std::string pending;

/// errno of the first write that failed, or 0.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(descriptor, text.data(), text.size());
    if (n >= 0) {
      text.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

void print(std::string_view text) { pending += text; }

bool flush_output() {
  const int code = write_all(STDOUT_FILENO, pending);
  pending.clear();
  if (code == 0 || code == EPIPE) return true;
  complain(std::string("cannot write to the standard output: ") + std::strerror(code));
  return false;
}

void complain(std::string_view text) { note("wafervp: " + std::string(text) + '\n'); }

void note(std::string_view text) { write_all(STDERR_FILENO, text); }

}  // namespace wafervp::cli
