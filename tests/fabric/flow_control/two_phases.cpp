// SPDX-License-Identifier: Apache-2.0
#include "two_phases.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "scenario/reader.h"
#include "topology/placement.h"
#include "wafer/wafer.h"

namespace wafervp::test {
namespace {

Scenario scenario_of(const TwoPhases& phases, const Phase& phase, const char* groups) {
  const nlohmann::json json = {{"version", 1},
                               {"name", "phases"},
                               {"wafer", phases.wafer},
                               {"workload",
                                {{"kind", "collective"},
                                 {"parallelism", {{"mp", phase.mp}, {"dp", phase.dp}, {"pp", 1}}},
                                 {"placement", {{"kind", "row_major"}}},
                                 {"collective",
                                  {{"operation", "all_reduce"},
                                   {"algorithm", phase.algorithm},
                                   {"bytes", phase.bytes},
                                   {"type", "fp16"},
                                   {"chunks", phase.chunks},
                                   {"groups", groups}}}}},
                               {"detail", {{"grain", phases.grain}}},
                               {"memory", {{"check", "off"}}}};
  return read_scenario(parse_document(json.dump(), "phases"));
}

wvp_command command_of_kind(wvp_command_kind kind, std::uint8_t slot) {
  wvp_command command{};
  command.kind = kind;
  command.slot = slot;
  return command;
}

constexpr std::uint8_t kDpSlot = 0, kMpSlot = 1;

/// One workload of both phases: each NPU enters its DP operation, waits for a while, enters its MP operation.
class BothPhases {
 public:
  BothPhases(const TwoPhases& phases, const Topology& topology) : phases_(phases), topology_(topology) {
    workload_.programs.resize(topology.npus);
    workload_.memory.resize(topology.npus);
    if (phases.dp.bytes != 0) add(phases.dp, "dp", kDpSlot);
    for (RankProgram& program : workload_.programs) {
      wvp_command delay = command_of_kind(WVP_CMD_COMPUTE, 0);
      delay.compute_ps = phases.mp_start;
      if (phases.mp_start > 0) program.commands.push_back(delay);
    }
    for (std::size_t npu = 1; phases.odd_npus_wait && npu < topology.npus; npu += 2) {
      workload_.programs[npu].commands.push_back(command_of_kind(WVP_CMD_WAIT, kDpSlot));
    }
    if (phases.mp.bytes != 0) add(phases.mp, "mp", kMpSlot);
    for (RankProgram& program : workload_.programs) {
      program.commands.push_back(command_of_kind(WVP_CMD_WAIT, kDpSlot));
      program.commands.push_back(command_of_kind(WVP_CMD_WAIT, kMpSlot));
      program.commands.push_back(command_of_kind(WVP_CMD_END, 0));
    }
  }
  const Workload& workload() const { return workload_; }

 private:
  void add(const Phase& phase, const char* groups, std::uint8_t slot) {
    const Scenario scenario = scenario_of(phases_, phase, groups);
    const Workload own = build_workload(
        scenario, topology_, place(topology_, scenario.workload.parallelism, scenario.workload.placement));
    const auto first = static_cast<std::uint16_t>(workload_.communicators.size());
    workload_.communicators.insert(workload_.communicators.end(), own.communicators.begin(),
                                   own.communicators.end());
    for (std::size_t npu = 0; npu < own.programs.size(); ++npu) {
      for (wvp_command command : own.programs[npu].commands) {
        if (command.kind != WVP_CMD_START) continue;
        command.slot = slot;
        command.comm = static_cast<std::uint16_t>(command.comm + first);
        workload_.programs[npu].commands.push_back(command);
      }
    }
  }

  const TwoPhases& phases_;
  const Topology& topology_;
  Workload workload_;
};

class PhaseObserver final : public AcceleratorObserver {
 public:
  explicit PhaseObserver(const Workload& workload) : workload_(workload) {}
  void on_phase(NpuId npu, std::uint32_t kind, std::uint32_t index, Time when) override {
    Interval& interval = intervals_[workload_.programs[npu.value].commands[index].slot];
    if (kind == WVP_PHASE_OP_BEGIN) interval.begin = std::min(interval.begin, when);
    if (kind == WVP_PHASE_OP_END) interval.end = std::max(interval.end, when);
  }
  void on_exit(NpuId, std::uint32_t status, Time) override { exited_ += status == WVP_EXIT_OK; }
  void on_compute(NpuId, Time, Time) override {}

  Time time(std::uint8_t slot) const {
    const Interval& interval = intervals_[slot];
    return interval.begin == kNever ? 0 : interval.end - interval.begin;
  }
  std::size_t exited() const { return exited_; }

 private:
  struct Interval {
    Time begin = kNever, end = 0;
  };
  const Workload& workload_;
  Interval intervals_[2];
  std::size_t exited_ = 0;
};

std::string times_of(const TwoPhases& phases) {
  const bool has_mp = phases.mp.bytes != 0;
  const Scenario scenario = scenario_of(phases, has_mp ? phases.mp : phases.dp, has_mp ? "mp" : "dp");
  const Topology topology = build_topology(scenario.wafer);
  const BothPhases both(phases, topology);
  Wafer wafer(scenario, topology, both.workload());
  PhaseObserver observer(both.workload());
  wafer.set_observer(observer);
  sc_core::sc_start();
  wafer.calendar().rethrow_failure();
  if (observer.exited() != topology.npus) throw std::runtime_error("not all ranks have ended");
  return std::to_string(observer.time(kMpSlot)) + ' ' + std::to_string(observer.time(kDpSlot));
}

}  // namespace

PhaseTimes run_phases(const TwoPhases& phases) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("pipe");
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork");
  if (child == 0) {
    std::string text;
    try {
      text = times_of(phases);
    } catch (const std::exception& error) {
      text = std::string("error: ") + error.what();
    }
    const bool all = ::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::_exit(all ? 0 : 2);
  }
  ::close(ends[1]);
  char buffer[4096] = {};
  std::string text;
  for (ssize_t got; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0 || text.compare(0, 5, "error") == 0) {
    throw std::runtime_error("wait status " + std::to_string(status) + ", " + text);
  }
  PhaseTimes times;
  times.mp = std::stoull(text);
  times.dp = std::stoull(text.substr(text.find(' ')));
  return times;
}

}  // namespace wafervp::test
