// SPDX-License-Identifier: Apache-2.0
#include "router/promise_merger.h"

#include <algorithm>
#include <stdexcept>

namespace wafervp {

namespace {

/// A run without a rate comes from a source: all of it is there at once, so that it is slower than none.
bool slower(const Run& a, const Run& b) {
  return a.rate != nullptr && (b.rate == nullptr || *a.rate < *b.rate);
}

}  // namespace

PromiseMerger::PromiseMerger(std::size_t streams, Emit emit)
    : streams_(streams), ends_(streams, 0), emit_(std::move(emit)) {}

void PromiseMerger::promise(std::size_t stream, const Run& run, Time now) {
  if (streams_.size() == 1) {  // nothing to wait for
    Run same = run;
    same.hopeful = false;
    end_ = run.end();
    emit_(same);
    return;
  }
  waiting_.emplace_back(stream, run);
  if (busy_) return;
  busy_ = true;
  forget_past(now);
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    const auto [where, what] = waiting_[i];
    apply(where, what);
  }
  waiting_.clear();
  busy_ = false;
}

void PromiseMerger::apply(std::size_t stream, const Run& run) {
  streams_[stream].promise(run);
  ends_[stream] = run.end();
  const std::uint64_t end = *std::min_element(ends_.begin(), ends_.end());
  if (end < end_) {
    retract(end);
  } else if (end > end_) {
    extend(end);
  }
}

void PromiseMerger::retract(std::uint64_t end) {
  end_ = end;
  while (!emitted_.empty() && emitted_.back().end() > end) {
    Run run = emitted_.back();
    if (run.first >= end) {
      emitted_.pop_back();
      run.shorten(0);
    } else {
      run.shorten(static_cast<std::uint32_t>(end - run.first));
      emitted_.back() = run;
    }
    emit_(run);
  }
}

const Run& PromiseMerger::run_with(std::size_t stream, std::uint64_t packet) const {
  const RunQueue& queue = streams_[stream];
  for (std::size_t i = 0; i < queue.size(); ++i) {
    if (packet < queue[i].end()) return queue[i];
  }
  throw std::logic_error("promise merger: a stream lost a promise");
}

void PromiseMerger::extend(std::uint64_t end) {
  while (end_ < end) {
    // The stream whose packet is complete last; of equal ones the slowest, which stays last.
    const Run* last = nullptr;
    for (std::size_t s = 0; s < streams_.size(); ++s) {
      const Run& run = run_with(s, end_);
      if (last == nullptr) {
        last = &run;
        continue;
      }
      const Time a = run.tail(end_ - run.first);
      const Time b = last->tail(end_ - last->first);
      if (a > b || (a == b && slower(run, *last))) last = &run;
    }
    const std::uint64_t skip = end_ - last->first;
    std::uint64_t n = std::min<std::uint64_t>(last->count - skip, end - end_);
    for (std::size_t s = 0; s < streams_.size(); ++s) {
      const Run& run = run_with(s, end_);
      const std::uint64_t other = end_ - run.first;
      n = std::min<std::uint64_t>(n, run.count - other);
      if (&run == last || !slower(run, *last)) continue;
      // A slower stream falls behind at some packet.
      std::uint64_t good = 0, bad = n;
      while (good + 1 < bad) {
        const std::uint64_t middle = (good + bad) / 2;
        (run.tail(other + middle) > last->tail(skip + middle) ? bad : good) = middle;
      }
      n = bad;
    }
    Run merged = *last;
    merged.first = end_;
    if (merged.rate != nullptr) merged.offset += skip * kPacketBytes;
    merged.count = static_cast<std::uint32_t>(last->count - skip);
    merged.shorten(static_cast<std::uint32_t>(n));
    merged.hopeful = false;
    emitted_.push_back(merged);
    end_ += n;
    emit_(merged);
  }
}

/// What has passed entirely on all streams is never asked for again; what is merged and still to come is,
/// when another stream takes its promise back.
void PromiseMerger::forget_past(Time now) {
  std::size_t past = 0;
  while (past + 1 < emitted_.size() && emitted_[past].tail(emitted_[past].count - 1) < now) ++past;
  emitted_.erase(emitted_.begin(), emitted_.begin() + static_cast<std::ptrdiff_t>(past));
  const std::uint64_t kept = emitted_.empty() ? end_ : emitted_.front().first;
  for (RunQueue& queue : streams_) queue.forget_before(std::min(kept, end_));
}

}  // namespace wafervp
