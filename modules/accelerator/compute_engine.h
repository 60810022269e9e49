// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>

#include "accelerator/accelerator.h"
#include "accelerator/completion_queue.h"
#include "core/calendar.h"
#include "core/rate.h"

namespace wafervp {

/// One compute engine: work is done in the order of posting, one piece at a time.
class ComputeEngine {
 public:
  ComputeEngine(const AcceleratorConfig& config, Calendar& calendar, CompletionQueue& completions);

  /// compute_ps if not 0, else max(flops / peak, bytes / memory rate), each rounded up to whole ps.
  /// Throws std::runtime_error when the time does not fit into 2^63 ps.
  Time duration(const wvp_descriptor& descriptor) const;
  void start(const wvp_descriptor& descriptor, Time local);

  void set_observer(AcceleratorObserver* observer) { observer_ = observer; }
  void set_kernels(KernelHost* kernels) { kernels_ = kernels; }
  bool idle() const { return queue_.empty(); }
  Time busy_ps() const { return busy_ps_; }

 private:
  struct Work {
    Time begin;
    Time end;
    std::uint32_t cookie;
    std::uint32_t kernel;
    std::uint64_t argument;
  };

  void finish(Time now);

  boost::container::small_vector<Work, 1> queue_;  ///< oldest first; rarely more than one
  Calendar& calendar_;
  CompletionQueue& completions_;
  AcceleratorObserver* observer_ = nullptr;
  KernelHost* kernels_ = nullptr;
  NpuId npu_;
  Rate peak_;  ///< FLOP/s in the place of bytes/s
  Rate memory_;
  bool memory_term_;
  Time free_at_ = 0;
  Time busy_ps_ = 0;
  CalendarCall<ComputeEngine, &ComputeEngine::finish> finish_;
};

}  // namespace wafervp
