// SPDX-License-Identifier: Apache-2.0
#include "child.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>

#include "output.h"
#include "progress.h"
#include "results/folder.h"
#include "signals.h"

namespace wafervp::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kGrace = std::chrono::seconds(5);  // from the request to end to the kill
constexpr int kTickMs = 200;

[[noreturn]] void fail(const char* what) {
  const int code = errno;
  throw FileError(std::string("cannot start a run: ") + what + ": " + std::strerror(code), code);
}

/// False with errno set when not all can be written.
bool write_all(int descriptor, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(descriptor, text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) return false;
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  return true;
}

class Child {
 public:
  Child(std::size_t index, const ChildSpec& spec, const ChildWatch& watch)
      : index_(index), label_(spec.label), watch_(watch) {
    start(spec);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ > 0) {
      signal(SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    for (Stream& stream : streams_) stream.close();
  }

  std::size_t index() const { return index_; }
  void signal(int number) const { ::kill(pid_, number); }
  void add_to(std::vector<pollfd>& polled) const {
    for (const Stream& stream : streams_) {
      if (stream.descriptor >= 0) polled.push_back({stream.descriptor, POLLIN, 0});
    }
  }
  /// Takes what there is to read. True when both streams are at their end.
  bool read() {
    for (Stream& stream : streams_) {
      char buffer[1 << 14];
      while (stream.descriptor >= 0) {
        const ssize_t n = ::read(stream.descriptor, buffer, sizeof buffer);
        if (n > 0) {
          stream.text.append(buffer, static_cast<std::size_t>(n));
        } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
          stream.close();
        } else if (errno == EAGAIN) {
          break;
        }
      }
    }
    pass_lines();
    return streams_[0].descriptor < 0 && streams_[1].descriptor < 0;
  }
  ChildResult wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    if (!streams_[1].text.empty()) {
      streams_[1].text += '\n';
      pass_lines();
    }
    if (WIFSIGNALED(status)) {
      result_.signal = WTERMSIG(status);
    } else {
      result_.exit_status = WEXITSTATUS(status);
    }
    result_.output = std::move(streams_[0].text);
    return std::move(result_);
  }

 private:
  struct Stream {
    int descriptor = -1;
    std::string text;
    void close() {
      if (descriptor >= 0) ::close(descriptor);
      descriptor = -1;
    }
  };

  void start(const ChildSpec& spec) {
    const int input = ::memfd_create("input", MFD_CLOEXEC);
    if (input < 0) fail("memfd_create");
    if (!write_all(input, spec.input) || ::lseek(input, 0, SEEK_SET) != 0) {
      const int code = errno;
      ::close(input);
      errno = code;
      fail("its input");
    }
    int output[2], error[2];
    if (::pipe2(output, O_CLOEXEC) != 0) fail("pipe");
    streams_[0].descriptor = output[0];
    if (::pipe2(error, O_CLOEXEC) != 0) fail("pipe");
    streams_[1].descriptor = error[0];
    std::vector<std::string> words{"wafervp"};
    words.insert(words.end(), spec.args.begin(), spec.args.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(127);
      ::dup2(input, STDIN_FILENO);
      ::dup2(output[1], STDOUT_FILENO);
      ::dup2(error[1], STDERR_FILENO);
      reset_signals();
      ::execv("/proc/self/exe", argv.data());
      ::_exit(127);
    }
    ::close(input);
    ::close(output[1]);
    ::close(error[1]);
    if (pid_ < 0) fail("fork");
    for (const Stream& stream : streams_) ::fcntl(stream.descriptor, F_SETFL, O_NONBLOCK);
  }

  /// Whole lines of the standard error, with the label; progress goes to the watch.
  void pass_lines() {
    std::string& text = streams_[1].text;
    std::size_t end;
    while ((end = text.find('\n')) != std::string::npos) {
      const std::string line = text.substr(0, end);
      text.erase(0, end + 1);
      if (line.empty()) continue;
      if (const std::optional<double> share = progress_share(line)) {
        if (watch_.progress) watch_.progress(index_, *share);
        continue;
      }
      note(label_ + line + '\n');
      result_.last_line = line;
    }
  }

  std::size_t index_;
  std::string label_;
  const ChildWatch& watch_;
  pid_t pid_ = -1;
  Stream streams_[2];  // standard output, standard error
  ChildResult result_;
};

}  // namespace

unsigned processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

bool run_children(const std::vector<ChildSpec>& specs, unsigned jobs, const ChildWatch& watch) {
  std::vector<std::unique_ptr<Child>> running;
  std::size_t next = 0;
  bool stopping = false, killed = false;
  Clock::time_point stopped_at;
  while (!running.empty() || (next < specs.size() && !stopping)) {
    while (!stopping && next < specs.size() && running.size() < jobs) {
      running.push_back(std::make_unique<Child>(next, specs[next], watch));
      if (watch.started) watch.started(next);
      ++next;
    }
    std::vector<pollfd> polled;
    for (const auto& child : running) child->add_to(polled);
    ::poll(polled.data(), polled.size(), kTickMs);
    for (std::size_t i = 0; i < running.size();) {
      if (!running[i]->read()) {
        ++i;
        continue;
      }
      const std::size_t index = running[i]->index();
      const ChildResult result = running[i]->wait();
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
      // An end that was asked for is no outcome of the variant.
      if (watch.done && !(stopping && (result.signal != 0 || result.exit_status == 130)))
        watch.done(index, result);
    }
    if (watch.tick) watch.tick();
    if (take_state_request()) {
      for (const auto& child : running) child->signal(SIGUSR1);
    }
    if (stop_requested() && !stopping) {
      stopping = true;
      stopped_at = Clock::now();
      for (const auto& child : running) child->signal(SIGTERM);
    }
    if (stopping && !killed && Clock::now() - stopped_at > kGrace) {
      killed = true;
      for (const auto& child : running) child->signal(SIGKILL);
    }
  }
  return !stopping;
}

}  // namespace wafervp::cli
