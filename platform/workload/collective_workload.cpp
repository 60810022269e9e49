// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <map>

#include "scenario/words.h"
#include "topology/picoseconds.h"
#include "workload/algorithms.h"
#include "workload/communicators.h"
#include "workload/errors.h"
#include "workload/stream_paces.h"
#include "workload/workload_kinds.h"

namespace wafervp {
namespace {

// Slots: a member of two hand-overs of the pipeline is in two collectives at once.
constexpr unsigned kCollectiveSlots = 2;
constexpr unsigned kFirstSendSlot = kCollectiveSlots;
constexpr unsigned kSendSlots = 6;
constexpr unsigned kFirstReceiveSlot = kFirstSendSlot + kSendSlots;
constexpr unsigned kReceiveSlots = 8;
static_assert(kFirstReceiveSlot + kReceiveSlots == WVP_SLOTS);

/// The NPU that a member name of `start_ns` or `bytes_of` means.
std::uint32_t npu_of_key(const std::string& key, std::uint32_t npus, const std::string& pointer) {
  const bool digits = !key.empty() && key.size() < 10 &&
                      std::all_of(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; });
  const unsigned long npu = digits ? std::strtoul(key.c_str(), nullptr, 10) : npus;
  if (npu >= npus) refuse(pointer, "expected the number of an NPU, 0 to " + std::to_string(npus - 1));
  return static_cast<std::uint32_t>(npu);
}

/// One operation or message as one NPU takes part in it.
struct Part {
  Time at = 0;  // when the NPU enters it
  wvp_command command{};
};
/// What an NPU does; see write().
struct Duties {
  std::vector<Part> collectives, sends, receives;
};

/// Collectives of all groups and the messages beside them, as duties of each NPU.
class MicroBenchmark {
 public:
  MicroBenchmark(const Scenario& scenario, const Topology& topology, const Placement& placement)
      : scenario_(scenario),
        topology_(topology),
        placement_(placement),
        spec_(scenario.workload.collective),
        communicators_(topology, scenario.wafer.firmware),
        draft_(topology),
        duties_(topology.ends()) {}

  Draft build() {
    if (scenario_.workload.has_collective) add_collectives();
    add_messages();
    for (std::uint32_t n = 0; n < topology_.ends(); ++n) {
      write(duties_[n], draft_.builders[n]);
      draft_.memory[n].activations = draft_.builders[n].allocated();
    }
    draft_.communicators = communicators_.take();
    return std::move(draft_);
  }

 private:
  /// The groups that the scenario asks for, and what their traffic counts as.
  std::vector<GroupName> chosen_groups(TrafficKind& kind) const {
    const ParallelismSpec& p = scenario_.workload.parallelism;
    kind = TrafficKind::kDp;
    if (!spec_.ranks.empty()) return {{"ranks", explicit_group()}};
    std::vector<GroupName> named;
    const auto add = [&](const char* name, GroupKind group_kind) {
      const auto members = groups(p, placement_, group_kind);
      for (std::size_t i = 0; i < members.size(); ++i) {
        named.push_back({std::string(name) + "[" + std::to_string(i) + "]", members[i]});
      }
    };
    if (spec_.groups == "mp") {
      kind = TrafficKind::kMp;
      add("mp", GroupKind::kMp);
    } else if (spec_.groups == "dp") {
      add("dp", GroupKind::kDp);
    } else if (spec_.groups == "pp") {
      kind = TrafficKind::kPp;
      if (p.pp < 2) {
        refuse("/workload/collective/groups",
               "groups \"pp\" need parallelism.pp of 2 or more, found " + std::to_string(p.pp));
      }
      if (spec_.operation == Operation::kBroadcast) {
        // The hand-over of an activation: forward only.
        for (const StageTransfer& t : stage_transfers(p, placement_)) {
          if (t.from_stage > t.to_stage) continue;
          named.push_back({"pp[dp=" + std::to_string(t.dp) + ",stage=" + std::to_string(t.from_stage) + "->" +
                               std::to_string(t.to_stage) + "]",
                           t.chain});
        }
      } else {
        add("pp", GroupKind::kPp);
      }
    } else if (spec_.groups == "all") {
      // In the order of the NPUs, so that a whole mesh is a grid whatever the placement.
      std::vector<NpuId> all = placement_.npu_of_rank;
      std::sort(all.begin(), all.end());
      named.push_back({"all", std::move(all)});
    } else {
      refuse("/workload/collective/groups",
             "expected \"all\", \"mp\", \"dp\" or \"pp\", found \"" + spec_.groups + "\"");
    }
    return named;
  }

  std::vector<NpuId> explicit_group() const {
    std::vector<std::uint8_t> seen(topology_.npus);
    std::vector<NpuId> members;
    for (std::size_t i = 0; i < spec_.ranks.size(); ++i) {
      const std::uint32_t n = spec_.ranks[i];
      const std::string pointer = "/workload/collective/ranks/" + std::to_string(i);
      if (n >= topology_.npus) {
        refuse(pointer, "expected an NPU of 0 to " + std::to_string(topology_.npus - 1) + ", found " +
                            std::to_string(n));
      }
      if (seen[n]++ != 0) refuse(pointer, "NPU " + std::to_string(n) + " is in the group already");
      members.push_back(NpuId{n});
    }
    return members;
  }

  void add_collectives() {
    const std::uint32_t element = wvp_dtype_bytes(to_wvp(spec_.type));
    check_size(spec_.bytes, element, "/workload/collective/bytes");
    check_commands("/workload/collective/repeats", 4.0 * spec_.repeats * topology_.npus);
    TrafficKind kind{};
    const std::vector<GroupName> chosen = chosen_groups(kind);
    const std::vector<Family> families = add_families(kind, chosen);

    std::vector<Time> start(topology_.ends());
    for (const auto& [key, ns] : spec_.start_ns) {
      start[npu_of_key(key, topology_.npus, "/workload/collective/start_ns/" + key)] = ps_of_ns(ns);
    }
    std::vector<std::uint64_t> bytes(topology_.ends(), spec_.bytes);
    for (const auto& [key, other] : spec_.bytes_of) {
      const std::string pointer = "/workload/collective/bytes_of/" + key;
      check_size(other, element, pointer);
      bytes[npu_of_key(key, topology_.npus, pointer)] = other;
    }
    std::vector<std::uint8_t> absent(topology_.ends());
    for (std::size_t i = 0; i < spec_.absent.size(); ++i) {
      if (spec_.absent[i] >= topology_.npus) {
        refuse("/workload/collective/absent/" + std::to_string(i),
               "expected an NPU of 0 to " + std::to_string(topology_.npus - 1) + ", found " +
                   std::to_string(spec_.absent[i]));
      }
      absent[spec_.absent[i]] = 1;
    }
    std::vector<std::uint8_t> member(topology_.ends());

    for (std::size_t i = 0; i < families.size() * chosen.size(); ++i) {
      const Family& family = families[i / chosen.size()];
      const auto index = static_cast<std::uint16_t>(family.first + i % chosen.size());
      const Communicator& communicator = communicators_[index];
      wvp_command command =
          make_operation(topology_, family.operation, choice(), communicator, index, spec_.bytes, spec_.type);
      if (spec_.operation == Operation::kBroadcast) {
        command.root = root(communicator, communicator.members.size());
      }
      for (const NpuId npu : communicator.members) {
        member[npu.value] = 1;
        if (absent[npu.value] != 0) continue;
        command.bytes = bytes[npu.value];
        if (spec_.operation == Operation::kSend) {
          add_group_send(communicator, npu, command, start[npu.value]);
        } else {
          duties_[npu.value].collectives.push_back({start[npu.value], command});
        }
      }
    }
    warn_strangers(member);
  }

  /// Communicators of all groups for one operation.
  struct Family {
    Operation operation;
    std::uint16_t first;
  };
  /// One, but for loads and stores at the same time, which have communicators, and trees, of their own.
  std::vector<Family> add_families(TrafficKind kind, const std::vector<GroupName>& chosen) {
    const bool both = spec_.operation == Operation::kLoadAndStore;
    if (!both && spec_.operation != Operation::kLoad && spec_.operation != Operation::kStore) {
      // What a pipeline hands over in a broadcast is an activation.
      const bool forward = kind == TrafficKind::kPp && spec_.operation == Operation::kBroadcast;
      return {{spec_.operation, communicators_.add(kind, chosen, choice().algorithm, "",
                                                   forward ? WVP_TENSOR_FORWARD : WVP_TENSOR_NONE)}};
    }
    const std::size_t most = both ? WVP_SLOTS / 2 : WVP_SLOTS;
    if (chosen.size() > most) {
      refuse("/workload/collective/groups", "an I/O controller serves at most " + std::to_string(most) +
                                                " groups at once in " + to_word(spec_.operation) +
                                                ", found " + std::to_string(chosen.size()));
    }
    const StreamPaces paces = stream_paces(scenario_, topology_, chosen);
    if (!both) {
      const std::uint64_t pace = spec_.operation == Operation::kLoad ? paces.load : paces.store;
      return {{spec_.operation, communicators_.add_memory(chosen, pace)}};
    }
    const std::uint16_t loads = communicators_.add_memory(chosen, paces.both);
    return {{Operation::kLoad, loads}, {Operation::kStore, communicators_.add_memory(chosen, paces.both)}};
  }

  /// A named NPU that takes no part is likely a slip.
  void warn_strangers(const std::vector<std::uint8_t>& member) {
    const auto check = [&](std::uint32_t npu, const std::string& pointer) {
      if (member[npu] != 0) return;
      draft_.warnings.push_back(pointer + ": NPU " + std::to_string(npu) +
                                " is in no group of the collective");
    };
    for (const auto& entry : spec_.start_ns) {
      check(static_cast<std::uint32_t>(std::stoul(entry.first)),
            "/workload/collective/start_ns/" + entry.first);
    }
    for (const auto& entry : spec_.bytes_of) {
      check(static_cast<std::uint32_t>(std::stoul(entry.first)),
            "/workload/collective/bytes_of/" + entry.first);
    }
    for (std::size_t i = 0; i < spec_.absent.size(); ++i) {
      check(spec_.absent[i], "/workload/collective/absent/" + std::to_string(i));
    }
  }

  std::uint32_t root(const Communicator& communicator, std::size_t roots) const {
    if (spec_.root >= roots) {
      refuse("/workload/collective/root", "expected a member of " + communicator.name + ", 0 to " +
                                              std::to_string(roots == 0 ? 0 : roots - 1) + ", found " +
                                              std::to_string(spec_.root));
    }
    return spec_.root;
  }

  /// Operation send: from member `root` to the next one.
  void add_group_send(const Communicator& communicator, NpuId npu, wvp_command command, Time at) {
    if (communicator.members.size() < 2) {
      refuse("/workload/collective/operation",
             "send needs groups of two or more, " + communicator.name + " has 1");
    }
    const std::uint32_t sender = root(communicator, communicator.members.size() - 1);
    if (npu == communicator.members[sender]) {
      command.root = communicator.members[sender + 1].value;
      duties_[npu.value].collectives.push_back({at, command});
    } else if (npu == communicator.members[sender + 1]) {
      command.op = WVP_OP_RECEIVE;
      command.root = communicator.members[sender].value;
      duties_[npu.value].collectives.push_back({at, command});
    }
  }

  AlgorithmChoice choice() const {
    AlgorithmChoice chosen = firmware_choice(scenario_.wafer.firmware, spec_.operation);
    if (spec_.algorithm != Algorithm::kAuto) {
      chosen.algorithm = spec_.algorithm;
      chosen.pointer = "/workload/collective/algorithm";
    }
    if (spec_.chunks != 0) chosen.chunks = chosen.relay_chunks = spec_.chunks;
    if (spec_.active_chunks != 0) chosen.active_chunks = spec_.active_chunks;
    return chosen;
  }

  static void check_size(std::uint64_t bytes, std::uint32_t element, const std::string& pointer) {
    if (bytes % element != 0) {
      refuse(pointer, "expected a multiple of the element's " + std::to_string(element) + " bytes, found " +
                          std::to_string(bytes));
    }
  }

  void add_messages() {
    const std::vector<MessageSpec>& messages = scenario_.workload.messages;
    if (messages.empty()) return;
    std::vector<bool> takes_part(topology_.npus, false);
    GroupName group{"messages", {}};
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const std::string pointer = "/workload/messages/" + std::to_string(i);
      for (const auto& [npu, name] :
           {std::pair{messages[i].from, "/from"}, std::pair{messages[i].to, "/to"}}) {
        if (npu < topology_.npus) continue;
        refuse(pointer + name, "expected an NPU of 0 to " + std::to_string(topology_.npus - 1) + ", found " +
                                   std::to_string(npu));
      }
      if (messages[i].from == messages[i].to) refuse(pointer, "from and to are the same NPU");
      takes_part[messages[i].from] = takes_part[messages[i].to] = true;
    }
    for (std::uint32_t n = 0; n < topology_.npus; ++n) {
      if (takes_part[n]) group.members.push_back(NpuId{n});
    }
    const std::uint16_t index = communicators_.add(TrafficKind::kPp, {group});
    // Messages of two ranks have numbers, the same at both ends; the collective's come first.
    const bool collective_sends = scenario_.workload.has_collective && spec_.operation == Operation::kSend;
    const std::uint32_t first_number = collective_sends ? spec_.repeats : 0;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> numbers;
    for (const MessageSpec& message : messages) {
      wvp_command command = make_operation(topology_, Operation::kSend, {}, communicators_[index], index,
                                           message.bytes, ElementType::kFp16);
      command.sequence = first_number + numbers[{message.from, message.to}]++;
      command.root = message.to;
      duties_[message.from].sends.push_back({ps_of_ns(message.start_ns), command});
      command.op = WVP_OP_RECEIVE;
      command.root = message.from;
      duties_[message.to].receives.push_back({0, command});
    }
  }

  /// Buffers of a collective, each operation its own.
  void place_buffers(wvp_command& command, ProgramBuilder& program) const {
    if (command.op == WVP_OP_BARRIER) return;
    if (command.op == WVP_OP_SEND || command.op == WVP_OP_ALL_TO_ALL) {
      command.src = program.allocate(command.bytes);
    }
    if (command.op == WVP_OP_ALL_TO_ALL) {
      // A place for each member's share, which may be one element longer than the even one.
      const std::uint64_t members = communicators_[command.comm].members.size();
      command.dst = program.allocate(command.bytes + members * wvp_dtype_bytes(command.dtype));
    } else if (command.op != WVP_OP_SEND) {
      command.dst = program.allocate(command.bytes);
    }
  }

  /// One buffer for each slot of messages, as large as the largest of them.
  static std::vector<std::uint64_t> slot_buffers(const std::vector<Part>& messages, unsigned slots,
                                                 ProgramBuilder& program) {
    std::uint64_t largest = 0;
    for (const Part& message : messages) largest = std::max(largest, message.command.bytes);
    std::vector<std::uint64_t> buffers(std::min<std::size_t>(messages.size(), slots));
    for (std::uint64_t& address : buffers) address = program.allocate(largest);
    return buffers;
  }

  /// A send or receive of a collective's repeat continues the numbers of the two ranks' messages.
  static wvp_command repeat(const wvp_command& command, std::uint32_t number) {
    wvp_command next = command;
    if (command.op == WVP_OP_SEND || command.op == WVP_OP_RECEIVE) next.sequence = number;
    return next;
  }

  /// First the receives that have a slot; then sends and collectives in the order of their times; then
  /// the receives that are left, as slots become free (sends need no receiver to be done, so nothing
  /// waits in a circle); then the collectives' repeats.
  void write(Duties& duties, ProgramBuilder& program) const {
    for (Part& part : duties.collectives) place_buffers(part.command, program);
    const auto send_buffers = slot_buffers(duties.sends, kSendSlots, program);
    const auto receive_buffers = slot_buffers(duties.receives, kReceiveSlots, program);
    const auto slotted = [](wvp_command command, unsigned slot) {
      command.slot = static_cast<std::uint8_t>(slot);
      return command;
    };
    const auto receive = [&](std::size_t i) {
      const unsigned slot = kFirstReceiveSlot + static_cast<unsigned>(i % kReceiveSlots);
      if (i >= kReceiveSlots) program.wait(slot);
      duties.receives[i].command.dst = receive_buffers[i % kReceiveSlots];
      program.start(slotted(duties.receives[i].command, slot));
    };
    std::size_t received = 0;
    while (received < std::min<std::size_t>(duties.receives.size(), kReceiveSlots)) receive(received++);

    std::vector<std::pair<Time, std::pair<bool, std::size_t>>> entries;  // when, is a send, which
    for (std::size_t i = 0; i < duties.collectives.size(); ++i) {
      entries.push_back({duties.collectives[i].at, {false, i}});
    }
    for (std::size_t i = 0; i < duties.sends.size(); ++i) entries.push_back({duties.sends[i].at, {true, i}});
    std::stable_sort(entries.begin(), entries.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    Time now = 0;
    unsigned sent = 0;
    for (const auto& [at, entry] : entries) {
      program.delay(at - now);
      now = at;
      const auto& [is_send, i] = entry;
      if (is_send) {
        const unsigned turn = sent % kSendSlots, slot = kFirstSendSlot + turn;
        if (sent++ >= kSendSlots) program.wait(slot);
        duties.sends[i].command.src = send_buffers[turn];
        program.start(slotted(duties.sends[i].command, slot));
      } else {
        program.start(slotted(repeat(duties.collectives[i].command, 0), static_cast<unsigned>(i)));
      }
    }
    while (received < duties.receives.size()) receive(received++);

    for (std::uint32_t r = 1; r < spec_.repeats; ++r) {
      for (std::size_t i = 0; i < duties.collectives.size(); ++i) program.wait(static_cast<unsigned>(i));
      for (std::size_t i = 0; i < duties.collectives.size(); ++i) {
        program.start(slotted(repeat(duties.collectives[i].command, r), static_cast<unsigned>(i)));
      }
    }
    for (std::size_t i = 0; i < duties.collectives.size(); ++i) program.wait(static_cast<unsigned>(i));
    for (unsigned i = 0; i < std::min<std::size_t>(sent, kSendSlots); ++i) program.wait(kFirstSendSlot + i);
    for (unsigned i = 0; i < std::min<std::size_t>(received, kReceiveSlots); ++i) {
      program.wait(kFirstReceiveSlot + i);
    }
  }

  const Scenario& scenario_;
  const Topology& topology_;
  const Placement& placement_;
  const CollectiveSpec& spec_;
  CommunicatorSet communicators_;
  Draft draft_;
  std::vector<Duties> duties_;
};

}  // namespace

Draft build_collective(const Scenario& scenario, const Topology& topology, const Placement& placement) {
  return MicroBenchmark(scenario, topology, placement).build();
}

}  // namespace wafervp
