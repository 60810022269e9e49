// SPDX-License-Identifier: Apache-2.0
#include "run/observer.h"

#include <fmt/format.h>

#include <algorithm>

namespace wafervp {

namespace {

bool names_group(const wvp_command& command) {
  return command.kind == WVP_CMD_START && command.op != WVP_OP_SEND && command.op != WVP_OP_RECEIVE;
}

TrafficKind kind_of_class(std::uint8_t traffic_class) {
  switch (traffic_class) {
    case WVP_CLASS_MP:
      return TrafficKind::kMp;
    case WVP_CLASS_DP:
      return TrafficKind::kDp;
    default:
      return TrafficKind::kPp;
  }
}

std::uint64_t instance_key(const wvp_command& command) {
  return (static_cast<std::uint64_t>(command.comm) << 32) | command.sequence;
}

}  // namespace

RunObserver::RunObserver(const Workload& workload, const Options& options, const RunLog& log)
    : workload_(workload), options_(options), log_(log), ranks_(workload.programs.size()) {
  for (const RankProgram& program : workload.programs) commands_ += program.commands.size();
}

const wvp_command* RunObserver::command(NpuId npu, std::uint32_t index) const {
  const auto& commands = workload_.programs[npu.value].commands;
  return index < commands.size() ? &commands[index] : nullptr;
}

void RunObserver::on_phase(NpuId npu, std::uint32_t kind, std::uint32_t index, Time when) {
  Rank& rank = ranks_[npu.value];
  const wvp_command* what = command(npu, index);
  if (what == nullptr) return;
  if (index + 1 > rank.passed) {
    passed_ += index + 1 - rank.passed;
    rank.passed = index + 1;
  }
  switch (kind) {
    case WVP_PHASE_OP_BEGIN:
      note_operation(npu, *what, index, true, when);
      break;
    case WVP_PHASE_OP_END:
      note_operation(npu, *what, index, false, when);
      break;
    case WVP_PHASE_WAIT:
      if (log_.wants(RunLog::kTrace)) log_.npu_line(when, npu, fmt::format("waits for command {}", index));
      rank.blocked_at = when;
      break;
    case WVP_PHASE_RESUME:
      if (rank.blocked_at != kNever) count_wait(rank, *what, rank.blocked_at, when);
      rank.blocked_at = kNever;
      break;
    default:
      break;
  }
}

void RunObserver::count_wait(Rank& rank, const wvp_command& command, Time begin, Time end) {
  if (command.kind != WVP_CMD_START) return;  // a wait for the compute engine
  // The compute engine's last interval may overlap; earlier ones ended before it began.
  Time exposed = end - begin;
  const Time overlap_begin = std::max(begin, rank.compute_begin);
  const Time overlap_end = std::min(end, rank.compute_end);
  if (overlap_end > overlap_begin) exposed -= overlap_end - overlap_begin;
  TrafficKind kind = kind_of_class(command.traffic_class);
  if (names_group(command)) kind = workload_.communicators[command.comm].kind;
  rank.exposed[static_cast<std::size_t>(kind)] += exposed;
}

void RunObserver::on_compute(NpuId npu, Time begin, Time end) {
  if (log_.wants(RunLog::kTrace)) log_.npu_line(end, npu, fmt::format("has computed since {} ps", begin));
  Rank& rank = ranks_[npu.value];
  rank.compute_sum += end - begin;
  // Back-to-back intervals are one.
  rank.compute_begin = begin == rank.compute_end && begin != 0 ? rank.compute_begin : begin;
  rank.compute_end = end;
  if (options_.trace) trace_.push_back({npu.value, "compute", "compute", begin, end});
}

void RunObserver::on_exit(NpuId npu, std::uint32_t status, Time when) {
  if (log_.wants(RunLog::kDebug)) log_.npu_line(when, npu, fmt::format("ends with status {}", status));
  Rank& rank = ranks_[npu.value];
  rank.exited = true;
  rank.exit_code = status;
  rank.end = when;
  passed_ += workload_.programs[npu.value].commands.size() - rank.passed;
  rank.passed = static_cast<std::uint32_t>(workload_.programs[npu.value].commands.size());
  ++exits_;
  failed_ = failed_ || status != WVP_EXIT_OK;
}

void RunObserver::note_operation(NpuId npu, const wvp_command& command, std::uint32_t index, bool begins,
                                 Time when) {
  if (log_.wants(RunLog::kDebug)) log_operation(npu, command, index, begins, when);
  if (options_.trace) {
    const std::uint64_t key = (static_cast<std::uint64_t>(npu.value) << 32) | index;
    if (begins) {
      begun_[key] = when;
    } else if (const auto found = begun_.find(key); found != begun_.end()) {
      const TrafficKind kind = names_group(command) ? workload_.communicators[command.comm].kind
                                                    : kind_of_class(command.traffic_class);
      trace_.push_back({npu.value, operation_name(command.op), traffic_name(kind), found->second, when});
      begun_.erase(found);
    }
  }
  if (!names_group(command)) return;
  Instance& instance = instances_[instance_key(command)];
  if (begins) {
    instance.begin = std::min(instance.begin, when);
    return;
  }
  instance.end = std::max(instance.end, when);
  if (++instance.ended < workload_.communicators[command.comm].members.size()) return;
  const CollectiveKey key{command.comm, command.op, command.algorithm, command.bytes};
  const auto [at, fresh] = index_.emplace(key, collectives_.size());
  if (fresh) {
    Collective collective;
    collective.communicator = command.comm;
    collective.op = command.op;
    collective.algorithm = command.algorithm;
    collective.bytes = command.bytes;
    collective.npu = npu;
    collective.command = index;
    collectives_.push_back(collective);
  }
  Collective& collective = collectives_[at->second];
  const Time time = instance.end - instance.begin;
  ++collective.count;
  collective.sum += time;
  collective.min = std::min(collective.min, time);
  collective.max = std::max(collective.max, time);
  instances_.erase(instance_key(command));
}

void RunObserver::log_operation(NpuId npu, const wvp_command& command, std::uint32_t index, bool begins,
                                Time when) const {
  const char* verb = begins ? "begins" : "ends";
  const std::string text =
      fmt::format("{} command {}: {} of {} bytes", verb, index, operation_name(command.op), command.bytes);
  if (names_group(command)) {
    log_.npu_line(when, npu, text + " on " + workload_.communicators[command.comm].name);
  } else {
    const bool sends = command.op == WVP_OP_SEND;
    log_.npu_line(when, npu, text + fmt::format(" {} NPU {}", sends ? "to" : "from", command.root));
    const std::uint32_t from = sends ? npu.value : command.root, to = sends ? command.root : npu.value;
    log_.line(when, fmt::format("{}->{}", from, to), text);
  }
}

std::vector<RunObserver::Collective> RunObserver::collectives() const { return collectives_; }

Time RunObserver::blocked_since(NpuId npu) const { return ranks_[npu.value].blocked_at; }

double RunObserver::share_done() const {
  return commands_ == 0 ? 1.0 : static_cast<double>(passed_) / static_cast<double>(commands_);
}

Breakdown RunObserver::breakdown(NpuId npu, Time total) const {
  const Rank& rank = ranks_[npu.value];
  Breakdown parts;
  parts.compute = rank.compute_sum;
  parts.mp = rank.exposed[static_cast<std::size_t>(TrafficKind::kMp)];
  parts.dp = rank.exposed[static_cast<std::size_t>(TrafficKind::kDp)];
  parts.pp = rank.exposed[static_cast<std::size_t>(TrafficKind::kPp)];
  parts.input_load = rank.exposed[static_cast<std::size_t>(TrafficKind::kInputLoad)];
  parts.weight_streaming = rank.exposed[static_cast<std::size_t>(TrafficKind::kWeightStreaming)];
  const Time counted =
      parts.compute + parts.mp + parts.dp + parts.pp + parts.input_load + parts.weight_streaming;
  parts.idle = total > counted ? total - counted : 0;
  return parts;
}

const char* operation_name(std::uint32_t op) {
  switch (op) {
#define WVP_NAME(name, value, text) \
  case value:                       \
    return text;
    WVP_OPERATIONS(WVP_NAME)
#undef WVP_NAME
    default:
      return "compute";
  }
}

const char* algorithm_name(std::uint32_t algorithm) {
  switch (algorithm) {
#define WVP_NAME(name, value, text) \
  case value:                       \
    return text;
    WVP_ALGORITHMS(WVP_NAME)
#undef WVP_NAME
    default:
      return "unknown";
  }
}

const char* traffic_name(TrafficKind kind) {
  switch (kind) {
    case TrafficKind::kMp:
      return "mp";
    case TrafficKind::kDp:
      return "dp";
    case TrafficKind::kPp:
      return "pp";
    case TrafficKind::kInputLoad:
      return "input_load";
    case TrafficKind::kWeightStreaming:
      return "weight_streaming";
  }
  return "unknown";
}

}  // namespace wafervp
