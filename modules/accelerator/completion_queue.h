// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "accelerator/accelerator.h"
#include "core/calendar.h"
#include "core/prefetch.h"
#include "wafervp/registers.h"

namespace wafervp {

/// Work of a message engine whose order at one time may not depend on the order of arrivals.
class DeferredWork {
 public:
  virtual void run_deferred(Time now) = 0;

 protected:
  ~DeferredWork() = default;
};

/// Completion ring of one accelerator. Completions of one time are gathered, sorted by cookie (then by
/// the order in which they were raised) and handed to the control processor in one call in Stage::kFirmware.
/// What comes due at once lies in the ring already; what comes later, or finds no room, waits outside.
class CompletionQueue {
 public:
  CompletionQueue(NpuId npu, std::uint32_t entries, Calendar& calendar, Arena& arena);

  void attach(ControlProcessor& processor) { processor_ = &processor; }
  /// Runs `work` once all messages of this time are here, before the control processor is called.
  void defer(DeferredWork& work) {
    if (deferred_ != nullptr) return;
    deferred_ = &work;
    if (!deliver_.scheduled()) {
      calendar_.follow(deliver_);
    } else if (deliver_.time() != calendar_.now()) {
      calendar_.schedule(deliver_, calendar_.now());
    }
  }
  /// Firmware is done and takes no more: from here on what finds no room in the ring is dropped.
  void close() { closed_ = true; }

  /// A completion that becomes visible at `when`, not before now: the caller fills it in at once (it is
  /// zeroed; the phase bit is the ring's and may not be changed).
  wvp_completion& raise(Time when) {
    if (!takes_directly_ || when != calendar_.now() || tail() - head_ == size_) return raise_later(when);
    if (written_ == announced_) calendar_.follow(deliver_);
    return next_place();
  }

  /// raise() and the call of the processor come soon.
  void prepare() const {
    prefetch(&ring_[tail() & (size_ - 1)], 2 * sizeof(wvp_completion));
    prefetch(processor_, ControlProcessor::kWarmBytes);
  }
  void prepare_processor(std::uint32_t cookie) const {
    if (processor_ != nullptr) processor_->prepare(cookie);
  }

  const wvp_completion* ring() const { return ring_; }
  std::uint32_t size() const { return size_; }
  std::uint32_t head() const { return head_; }
  std::uint32_t tail() const { return static_cast<std::uint32_t>(written_); }
  /// Throws std::runtime_error when `head` is not between the old head and the tail.
  void set_head(std::uint32_t head) {
    if (head - head_ > tail() - head_) refuse_head(head);
    head_ = head;
  }
  bool empty() const { return pending_.empty() && written_ == announced_; }
  std::uint64_t written() const { return written_; }

 private:
  struct Pending {
    Time when;
    wvp_completion completion;
  };

  wvp_completion& raise_later(Time when);
  wvp_completion& next_place() {
    wvp_completion& place = ring_[tail() & (size_ - 1)];
    place = wvp_completion();
    place.phase = (written_ & size_) == 0 ? 1 : 0;
    ++written_;
    return place;
  }
  [[noreturn]] void refuse_head(std::uint32_t head) const;
  void deliver(Time now);
  void deliver_pending(Time now);
  void sort_news();
  void write(const wvp_completion& completion);
  void notify(Time now) {
    announced_ = written_;
    if (processor_ == nullptr) return;
    takes_directly_ = false;  // what the processor raises makes a delivery of its own
    processor_->on_completions(now);
    takes_directly_ = pending_.empty();
  }

  // In the order of use, so that a completion touches few cache lines.
  wvp_completion* ring_;
  std::uint32_t size_;
  std::uint32_t head_ = 0;
  std::uint64_t written_ = 0;    ///< its low word is the tail
  std::uint64_t announced_ = 0;  ///< of those, what the processor has been called for
  bool takes_directly_ = true;   ///< nothing waits outside, and the processor is not at work
  Calendar& calendar_;
  ControlProcessor* processor_ = nullptr;
  CalendarCall<CompletionQueue, &CompletionQueue::deliver> deliver_;
  DeferredWork* deferred_ = nullptr;
  std::vector<Pending> pending_;
  std::vector<wvp_completion> due_;
  NpuId npu_;
  bool closed_ = false;
};

}  // namespace wafervp
