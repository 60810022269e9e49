// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "accelerator/accelerator.h"
#include "core/calendar.h"
#include "wafervp/registers.h"

namespace wafervp {

/// Completion ring of one accelerator. Completions of one time are gathered, sorted by cookie (then by
/// the order in which they were raised), written in Stage::kFirmware and handed to the control processor in
/// one call.
class alignas(64) CompletionQueue {
 public:
  CompletionQueue(NpuId npu, std::uint32_t entries, Calendar& calendar);

  void attach(ControlProcessor& processor) { processor_ = &processor; }

  /// A completion that becomes visible at `when`, not before now: the caller fills it in at once (it is
  /// zeroed; the ring sets the phase bit).
  wvp_completion& raise(Time when) {
    if (pending_.empty() || when < deliver_.time()) calendar_.schedule(deliver_, when);
    return pending_.emplace_back(when).completion;
  }

  const wvp_completion* ring() const { return ring_.get(); }
  std::uint32_t size() const { return size_; }
  std::uint32_t head() const { return head_; }
  std::uint32_t tail() const { return static_cast<std::uint32_t>(written_); }
  /// Throws std::runtime_error when `head` is not between the old head and the tail.
  void set_head(std::uint32_t head);
  bool empty() const { return pending_.empty(); }
  std::uint64_t written() const { return written_; }

 private:
  struct Pending {
    explicit Pending(Time visible) : when(visible) {}
    Time when;
    wvp_completion completion{};
  };

  void deliver(Time now);
  void write(const wvp_completion& completion);
  void notify(Time now);

  // In the order of use, so that a completion touches few cache lines.
  std::unique_ptr<wvp_completion[]> ring_;
  std::uint32_t size_;
  std::uint32_t head_ = 0;
  std::uint64_t written_ = 0;  ///< its low word is the tail
  Calendar& calendar_;
  ControlProcessor* processor_ = nullptr;
  boost::container::small_vector<Pending, 1> pending_;
  CalendarCall<CompletionQueue, &CompletionQueue::deliver> deliver_;
  std::vector<Pending> due_;
  NpuId npu_;
};

}  // namespace wafervp
