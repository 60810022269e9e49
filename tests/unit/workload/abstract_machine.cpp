// SPDX-License-Identifier: Apache-2.0
#include "abstract_machine.h"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <vector>

namespace wafervp::test {
namespace {

/// Names one operation on all its members: communicator, kind, sequence, and for messages sender and
/// receiver.
using Key = std::tuple<std::uint16_t, bool, std::uint32_t, std::uint32_t, std::uint32_t>;

struct Instance {
  wvp_command first;
  std::size_t entered = 0, needed = 0;
};

class Machine {
 public:
  explicit Machine(const Workload& workload)
      : workload_(workload), at_(workload.programs.size()), slots_(workload.programs.size()) {}

  AbstractRun run() {
    bool moved = true;
    while (moved && result_.fault.empty()) {
      moved = false;
      for (std::uint32_t npu = 0; npu < at_.size() && result_.fault.empty(); ++npu) {
        while (result_.fault.empty() && step(npu)) moved = true;
      }
    }
    for (std::uint32_t npu = 0; npu < at_.size() && result_.fault.empty(); ++npu) finish(npu);
    for (const auto& entry : instances_) {
      const Instance& instance = entry.second;
      const Communicator& c = workload_.communicators[instance.first.comm];
      ++result_.operations[{
          c.name, instance.first.op == WVP_OP_RECEIVE ? std::uint8_t{WVP_OP_SEND} : instance.first.op}];
    }
    return std::move(result_);
  }

 private:
  bool done(const std::optional<Key>& key) const {
    if (!key) return true;
    const Instance& instance = instances_.at(*key);
    return instance.entered == instance.needed;
  }

  /// Executes one command; false when it has to wait or the program has ended.
  bool step(std::uint32_t npu) {
    const wvp_command& command = workload_.programs[npu].commands.at(at_[npu]);
    switch (command.kind) {
      case WVP_CMD_END:
        return false;
      case WVP_CMD_COMPUTE:
        if (command.compute_flops == 0 && command.compute_ps == 0) fail(npu, "computes nothing");
        break;
      case WVP_CMD_START:
        start(npu, command);
        break;
      case WVP_CMD_WAIT:
        if (!done(slots_[npu][command.slot])) return false;
        break;
      default:
        fail(npu, "unknown command");
    }
    ++at_[npu];
    return true;
  }

  void start(std::uint32_t npu, const wvp_command& command) {
    if (command.slot >= WVP_SLOTS) return fail(npu, "slot out of range");
    if (!done(slots_[npu][command.slot])) return fail(npu, "starts in a busy slot");
    if (command.comm >= workload_.communicators.size()) return fail(npu, "no such communicator");
    const auto& members = workload_.communicators[command.comm].members;
    const bool is_message = command.op == WVP_OP_SEND || command.op == WVP_OP_RECEIVE;
    if (std::find(members.begin(), members.end(), NpuId{npu}) == members.end()) {
      return fail(npu, "is no member of the communicator");
    }
    // The peer of a message is an NPU, the root of a collective a member.
    if (command.root >= (is_message ? workload_.programs.size() : members.size())) {
      return fail(npu, "no such root or peer");
    }
    const bool is_sender = command.op == WVP_OP_SEND;
    const Key key = is_message ? Key{std::uint16_t{0xffff}, true, command.sequence,
                                     is_sender ? npu : command.root, is_sender ? command.root : npu}
                               : Key{command.comm, false, command.sequence, 0, 0};
    Instance& instance = instances_[key];
    if (instance.entered == 0) {
      instance.first = command;
      instance.needed = is_message ? 2 : members.size();
    }
    const wvp_command& first = instance.first;
    if (!is_message && (first.op != command.op || first.root != command.root ||
                        first.algorithm != command.algorithm || first.chunks != command.chunks)) {
      return fail(npu, "enters another operation than the other members");
    }
    if (first.bytes != command.bytes || first.dtype != command.dtype ||
        first.traffic_class != command.traffic_class) {
      return fail(npu, "disagrees in size, type or class");
    }
    if (++instance.entered > instance.needed) return fail(npu, "enters an operation twice");
    slots_[npu][command.slot] = key;
  }

  void finish(std::uint32_t npu) {
    const auto& commands = workload_.programs[npu].commands;
    if (commands.at(at_[npu]).kind != WVP_CMD_END) return fail(npu, "waits for ever");
    if (at_[npu] + 1 != commands.size()) return fail(npu, "has commands after its end");
    for (const auto& key : slots_[npu]) {
      if (!done(key)) return fail(npu, "ended before an operation was done");
    }
  }

  void fail(std::uint32_t npu, const std::string& what) {
    if (result_.fault.empty()) {
      result_.fault = "NPU " + std::to_string(npu) + ", command " + std::to_string(at_[npu]) + ": " + what;
    }
  }

  const Workload& workload_;
  AbstractRun result_;
  std::vector<std::size_t> at_;
  std::vector<std::array<std::optional<Key>, WVP_SLOTS>> slots_;
  std::map<Key, Instance> instances_;
};

}  // namespace

AbstractRun run_abstractly(const Workload& workload) { return Machine(workload).run(); }

}  // namespace wafervp::test
