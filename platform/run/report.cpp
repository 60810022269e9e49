// SPDX-License-Identifier: Apache-2.0
#include "run/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace wafervp {

namespace {

std::string time_text(Time ps) { return fmt::format("{}.{:03} ns", ps / 1000, ps % 1000); }

/// "command 3: all_reduce of 1048576 bytes on mp[dp=0,pp=1]"
std::string command_text(const Workload& workload, NpuId npu, std::uint32_t index) {
  const auto& commands = workload.programs[npu.value].commands;
  if (index >= commands.size()) return fmt::format("command {}", index);
  const wvp_command& command = commands[index];
  if (command.kind != WVP_CMD_START) return fmt::format("command {}: compute", index);
  std::string text =
      fmt::format("command {}: {} of {} bytes", index, operation_name(command.op), command.bytes);
  if (command.op == WVP_OP_SEND) {
    text += fmt::format(" to NPU {}", command.root);
  } else if (command.op == WVP_OP_RECEIVE) {
    text += fmt::format(" from NPU {}", command.root);
  } else {
    text += " on " + workload.communicators[command.comm].name;
  }
  return text;
}

/// NPUs whose messages a waiting rank misses: the peer, or the sources of an in-network flow that have not
/// sent (as far as the switches know).
std::vector<NpuId> missing_peers(Wafer& wafer, std::uint32_t peer) {
  if ((peer & WVP_FROM_FLOW) == 0) return {NpuId(peer)};
  const std::uint32_t group = peer & ~WVP_FROM_FLOW;
  std::vector<NpuId> missing;
  for (NpuId source : wafer.tree_flows().ends(group).sources) {
    if (!wafer.has_pending_from(group, source)) missing.push_back(source);
  }
  return missing;
}

std::string npus_text(const Wafer& wafer, const std::vector<NpuId>& npus) {
  std::string text;
  for (std::size_t i = 0; i < npus.size() && i < 8; ++i) text += (i ? ", " : "") + wafer.name_of(npus[i]);
  if (npus.size() > 8) text += fmt::format(" and {} more", npus.size() - 8);
  return text;
}

std::string cycle_text(Wafer& wafer, const RunObserver& observer, std::uint32_t npus) {
  // Follow each rank's first missing peer that is itself not done.
  std::vector<std::uint32_t> next(npus, ~0u);
  for (std::uint32_t n = 0; n < npus; ++n) {
    if (observer.finished(NpuId(n))) continue;
    for (const auto& entry : wafer.processor(NpuId(n)).waiting()) {
      if (entry.bytes == 0 && entry.op != WVP_OP_BARRIER) continue;
      for (NpuId peer : missing_peers(wafer, entry.peer)) {
        if (peer.value < npus && peer.value != n && !observer.finished(peer)) next[n] = peer.value;
        if (next[n] != ~0u) break;
      }
      if (next[n] != ~0u) break;
    }
  }
  for (std::uint32_t start = 0; start < npus; ++start) {
    std::vector<std::uint32_t> path;
    std::set<std::uint32_t> seen;
    std::uint32_t at = start;
    while (at != ~0u && seen.insert(at).second) {
      path.push_back(at);
      at = next[at];
    }
    if (at != start || path.size() < 2) continue;
    std::string text = "cycle of waits: ";
    for (std::size_t i = 0; i < path.size() && i < 12; ++i) text += wafer.name_of(NpuId(path[i])) + " -> ";
    if (path.size() > 12) text += fmt::format("… ({} ranks) -> ", path.size());
    return text + wafer.name_of(NpuId(start)) + "\n";
  }
  return "";
}

}  // namespace

std::string waiting_report(Wafer& wafer, const Workload& workload, const RunObserver& observer,
                           std::size_t most, Cycles cycles) {
  const auto npus = static_cast<std::uint32_t>(workload.programs.size());
  std::string text;
  std::size_t lines = 0, unfinished = 0;
  for (std::uint32_t n = 0; n < npus; ++n) {
    const NpuId npu(n);
    if (observer.finished(npu)) continue;
    ++unfinished;
    if (lines >= most) continue;
    ++lines;
    const auto entries = wafer.processor(npu).waiting();
    const Time since = observer.blocked_since(npu);
    if (entries.empty()) {
      text += fmt::format("{}: waits for its compute engine or has not begun\n", wafer.name_of(npu));
      continue;
    }
    const auto& entry = entries.front();
    text += fmt::format("{}: {}", wafer.name_of(npu), command_text(workload, npu, entry.command));
    if (entry.op != 0 && entry.bytes == 0 && entry.op != WVP_OP_BARRIER) {
      text += " waits until its own messages have left";
    } else if (entry.op != 0) {
      const std::vector<NpuId> missing = missing_peers(wafer, entry.peer);
      const bool flow = (entry.peer & WVP_FROM_FLOW) != 0;
      text += fmt::format(" waits for {} bytes {}{}", entry.bytes,
                          flow ? "of the in-network sum; missing: " : "from ",
                          missing.empty() ? "nobody (on its way)" : npus_text(wafer, missing));
      if (!missing.empty() && observer.finished(missing.front())) text += ", which has ended its program";
      text += fmt::format(", chunk {}, step {}", entry.chunk, entry.step);
    }
    if (since != kNever) text += ", since " + time_text(since);
    if (entries.size() > 1) text += fmt::format(" (and {} more)", entries.size() - 1);
    text += "\n";
  }
  if (unfinished > lines) text += fmt::format("and {} more ranks\n", unfinished - lines);
  return cycles == Cycles::kFault ? text + cycle_text(wafer, observer, npus) : text;
}

std::string state_report(Wafer& wafer, const Topology& topology, const Workload& workload,
                         const RunObserver& observer) {
  const Time now = wafer.calendar().now();
  std::string text = fmt::format(
      "simulated time {}, {:.1f} % of the commands done, {} events, {} messages in flight\n", time_text(now),
      100.0 * observer.share_done(), wafer.calendar().executed(), wafer.messages().outstanding());
  text += waiting_report(wafer, workload, observer, 20, Cycles::kNormal);
  std::vector<std::pair<std::uint64_t, std::size_t>> queues;
  for (std::size_t k = 0; k < wafer.links().size(); ++k) {
    const std::uint64_t packets = wafer.links()[k]->queued_packets(now);
    if (packets > 0) queues.emplace_back(packets, k);
  }
  std::sort(queues.begin(), queues.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  for (std::size_t i = 0; i < queues.size() && i < 10; ++i) {
    text += fmt::format("link {}: {} packets wait\n", topology.links[queues[i].second].name, queues[i].first);
  }
  return text;
}

std::string exit_report(Wafer& wafer, const Workload& workload, NpuId npu, std::uint32_t status) {
  Accelerator& accelerator = wafer.accelerator(npu);
  const Time local = wafer.processor(npu).busy_until();
  const auto reg = [&](std::uint32_t offset) { return accelerator.read32(offset, local); };
  const auto wide = [&](std::uint32_t low) {
    return reg(low) | (static_cast<std::uint64_t>(reg(low + 4)) << 32);
  };
  const std::string where =
      fmt::format("{}, {}", wafer.name_of(npu), command_text(workload, npu, reg(WVP_REG_ERROR_OP)));
  switch (status) {
    case WVP_EXIT_SIZE_MISMATCH:
      return fmt::format("{}: NPU {} sent {} bytes where {} were expected: the ranks disagree about the size",
                         where, reg(WVP_REG_ERROR_PEER), wide(WVP_REG_ERROR_FOUND_LO),
                         wide(WVP_REG_ERROR_EXPECTED_LO));
    case WVP_EXIT_UNSUPPORTED: {
      const auto& commands = workload.programs[npu.value].commands;
      const std::uint32_t index = reg(WVP_REG_ERROR_OP);
      const char* algorithm = index < commands.size() ? algorithm_name(commands[index].algorithm) : "?";
      return fmt::format("{}: the algorithm {} does not support this operation on this group and fabric",
                         where, algorithm);
    }
    case WVP_EXIT_BAD_COMMAND:
      return where + ": the command or its communicator is malformed";
    case WVP_EXIT_RING_OVERRUN:
      return where + ": a descriptor was refused or the completion ring was overrun";
    default:
      return fmt::format("{}: the firmware ended with status {}", where, status);
  }
}

}  // namespace wafervp
