// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/unordered_map.hpp>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "accelerator/accelerator.h"
#include "results/results.h"
#include "run/log.h"
#include "workload/programs.h"

namespace wafervp {

/// Follows the ranks of a run through the marks of their firmware, and measures from them.
///
/// Exposed communication: time in which a rank's program is blocked on an operation while its compute engine
/// is idle. It is counted under the kind of traffic of that operation (a wait for the stage before in a
/// pipeline, with its bubble, counts as `pp`). Time in which the compute engine is busy is `compute`, even
/// if the program waits for communication meanwhile; the rest (firmware steps, the time after the rank's
/// last command) is `idle`. So the parts of a rank sum to the time of the whole step.
class RunObserver final : public AcceleratorObserver {
 public:
  struct Options {
    bool trace = false;
  };
  RunObserver(const Workload& workload, const Options& options, const RunLog& log);

  void on_phase(NpuId npu, std::uint32_t kind, std::uint32_t command, Time when) override;
  void on_exit(NpuId npu, std::uint32_t status, Time when) override;
  void on_compute(NpuId npu, Time begin, Time end) override;

  bool finished(NpuId npu) const { return ranks_[npu.value].exited; }
  std::uint32_t exit_code(NpuId npu) const { return ranks_[npu.value].exit_code; }
  Time end_of(NpuId npu) const { return ranks_[npu.value].end; }
  /// When the rank's program blocked; kNever while it does not wait.
  Time blocked_since(NpuId npu) const;
  std::size_t exits() const { return exits_; }
  bool failed() const { return failed_; }
  /// Commands that all ranks have passed, over all commands.
  double share_done() const;
  /// Parts of the rank's time, for a step of `total`.
  Breakdown breakdown(NpuId npu, Time total) const;
  /// Operations by kind, in order of first entry; bounds and bandwidths are left to the caller.
  struct Collective {
    std::uint16_t communicator = 0;
    std::uint8_t op = 0, algorithm = 0;
    std::uint64_t bytes = 0;
    NpuId npu;                  ///< a member, and
    std::uint32_t command = 0;  ///< its command, as an example
    std::uint32_t count = 0;
    Time sum = 0, min = kNever, max = 0;
  };
  std::vector<Collective> collectives() const;
  std::vector<TraceSlice> take_trace() { return std::move(trace_); }

 private:
  struct Rank {
    Time blocked_at = kNever;
    Time compute_sum = 0;
    Time compute_begin = 0, compute_end = 0;  ///< last busy interval of the compute engine
    std::uint32_t passed = 0;                 ///< commands behind the program
    std::uint32_t exit_code = 0;
    bool exited = false;
    Time end = 0;
    Time exposed[5] = {};  ///< by TrafficKind
  };
  struct Instance {
    Time begin = kNever, end = 0;
    std::uint32_t ended = 0;
  };
  using CollectiveKey = std::tuple<std::uint16_t, std::uint8_t, std::uint8_t, std::uint64_t>;

  const wvp_command* command(NpuId npu, std::uint32_t index) const;
  void count_wait(Rank& rank, const wvp_command& command, Time begin, Time end);
  void note_operation(NpuId npu, const wvp_command& command, std::uint32_t index, bool begins, Time when);

  void log_operation(NpuId npu, const wvp_command& command, std::uint32_t index, bool begins,
                     Time when) const;

  const Workload& workload_;
  Options options_;
  const RunLog& log_;
  std::vector<Rank> ranks_;
  boost::unordered_map<std::uint64_t, Instance> instances_;  ///< by communicator and sequence
  std::map<CollectiveKey, std::size_t> index_;
  std::vector<Collective> collectives_;
  boost::unordered_map<std::uint64_t, Time> begun_;  ///< trace: by NPU and command
  std::vector<TraceSlice> trace_;
  std::size_t exits_ = 0;
  std::uint64_t passed_ = 0, commands_ = 0;
  bool failed_ = false;
};

/// "all_reduce", for a wvp_operation; "compute" for 0.
const char* operation_name(std::uint32_t op);
const char* algorithm_name(std::uint32_t algorithm);
const char* traffic_name(TrafficKind kind);

}  // namespace wafervp
