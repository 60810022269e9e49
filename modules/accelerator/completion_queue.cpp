// SPDX-License-Identifier: Apache-2.0
#include "accelerator/completion_queue.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace wafervp {

CompletionQueue::CompletionQueue(NpuId npu, std::uint32_t entries, Calendar& calendar, Arena& arena)
    : ring_(arena.make_array<wvp_completion>(entries)),
      size_(entries),
      calendar_(calendar),
      deliver_(*this, Stage::kFirmware, npu.value),
      npu_(npu) {}

void CompletionQueue::refuse_head(std::uint32_t head) const {
  throw std::runtime_error("NPU " + std::to_string(npu_.value) + ": CQ_HEAD set to " + std::to_string(head) +
                           ", which is not between the old head " + std::to_string(head_) + " and the tail " +
                           std::to_string(tail()));
}

wvp_completion& CompletionQueue::raise_later(Time when) {
  // What has found room is sorted together with what has not.
  for (std::uint64_t i = announced_; i < written_; ++i) {
    pending_.push_back({calendar_.now(), ring_[i & (size_ - 1)]});
  }
  written_ = announced_;
  takes_directly_ = false;
  if (!deliver_.scheduled() || when < deliver_.time()) calendar_.schedule(deliver_, when);
  return pending_.emplace_back(Pending{when, {}}).completion;
}

void CompletionQueue::deliver(Time now) {
  if (deferred_ != nullptr) {
    std::exchange(deferred_, nullptr)->run_deferred(now);
    // What it has raised for now comes with a call of its own.
    if (deliver_.scheduled() && deliver_.time() == now) return;
  }
  if (!pending_.empty()) return deliver_pending(now);
  if (written_ == announced_) return;
  if (written_ - announced_ > 1) sort_news();
  notify(now);
}

/// Sorts the entries of the ring that the processor has not been called for.
void CompletionQueue::sort_news() {
  const auto at = [this](std::uint64_t i) -> wvp_completion& { return ring_[i & (size_ - 1)]; };
  for (std::uint64_t i = announced_ + 1; i < written_; ++i) {
    for (std::uint64_t k = i; k > announced_ && at(k).cookie < at(k - 1).cookie; --k) {
      std::swap(at(k), at(k - 1));
      std::swap(at(k).phase, at(k - 1).phase);  // stays with its place
    }
  }
}

void CompletionQueue::deliver_pending(Time now) {
  due_.clear();
  Time next = kNever;
  std::size_t kept = 0;
  for (const Pending& entry : pending_) {
    if (entry.when <= now) {
      due_.push_back(entry.completion);
    } else {
      next = std::min(next, entry.when);
      pending_[kept++] = entry;
    }
  }
  pending_.resize(kept);
  if (next != kNever) calendar_.schedule(deliver_, next);
  std::stable_sort(due_.begin(), due_.end(),
                   [](const wvp_completion& a, const wvp_completion& b) { return a.cookie < b.cookie; });
  if (due_.empty()) return;
  // More than the ring holds: the processor takes the first part, then the rest.
  for (std::size_t i = 0; i < due_.size(); ++i) {
    if (tail() - head_ == size()) notify(now);
    if (tail() - head_ == size() && closed_) break;
    write(due_[i]);
  }
  notify(now);
}

void CompletionQueue::write(const wvp_completion& completion) {
  if (tail() - head_ == size()) {
    throw std::runtime_error("NPU " + std::to_string(npu_.value) + ": the completion ring of " +
                             std::to_string(size()) +
                             " entries is overrun: firmware took none of them (CQ_HEAD " +
                             std::to_string(head_) + ", CQ_TAIL " + std::to_string(tail()) + ")");
  }
  wvp_completion& place = next_place();
  const std::uint8_t phase = place.phase;
  place = completion;
  place.phase = phase;
}

}  // namespace wafervp
