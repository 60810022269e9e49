// SPDX-License-Identifier: Apache-2.0
#include "accelerator/completion_queue.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace wafervp {

CompletionQueue::CompletionQueue(NpuId npu, std::uint32_t entries, Calendar& calendar)
    : ring_(std::make_unique<wvp_completion[]>(entries)),
      size_(entries),
      calendar_(calendar),
      deliver_(*this, Stage::kFirmware, npu.value),
      npu_(npu) {}

void CompletionQueue::set_head(std::uint32_t head) {
  if (head - head_ > tail() - head_) {
    throw std::runtime_error("NPU " + std::to_string(npu_.value) + ": CQ_HEAD set to " +
                             std::to_string(head) + ", which is not between the old head " +
                             std::to_string(head_) + " and the tail " + std::to_string(tail()));
  }
  head_ = head;
}

void CompletionQueue::deliver(Time now) {
  // What the processor raises while it is called goes into pending_ and makes a delivery of its own.
  if (pending_.size() == 1) {
    write(pending_.front().completion);
    pending_.clear();
    notify(now);
    return;
  }
  due_.clear();
  Time next = kNever;
  std::size_t kept = 0;
  for (const Pending& entry : pending_) {
    if (entry.when <= now) {
      due_.push_back(entry);
    } else {
      next = std::min(next, entry.when);
      pending_[kept++] = entry;
    }
  }
  pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(kept), pending_.end());
  if (next != kNever) calendar_.schedule(deliver_, next);
  std::stable_sort(due_.begin(), due_.end(), [](const Pending& a, const Pending& b) {
    return a.completion.cookie < b.completion.cookie;
  });
  // More than the ring holds: the processor takes the first part, then the rest.
  for (std::size_t i = 0; i < due_.size(); ++i) {
    if (tail() - head_ == size()) notify(now);
    write(due_[i].completion);
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
  wvp_completion& slot = ring_[tail() & (size() - 1)];
  slot = completion;
  slot.phase = (written_ & size()) == 0 ? 1 : 0;
  ++written_;
}

void CompletionQueue::notify(Time now) {
  if (processor_ != nullptr) processor_->on_completions(now);
}

}  // namespace wafervp
