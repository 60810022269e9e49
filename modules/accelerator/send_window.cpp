// SPDX-License-Identifier: Apache-2.0
#include "accelerator/send_window.h"

#include <algorithm>
#include <tuple>

namespace wafervp {

bool SendPort::Window::later_ready(const Future& a, const Future& b) {
  return std::tie(a.ready, a.order) > std::tie(b.ready, b.order);
}

bool SendPort::Window::goes_after(const Ready& a, const Ready& b) {
  return a.priority != b.priority ? a.priority > b.priority : a.order > b.order;
}

void SendPort::Window::post(Waiting&& message) {
  ++port_.pending_;
  if (!message.windowed) {
    hand_over(message);
    return;
  }
  message.order = posted_++;
  const Time now = port_.calendar_.now();
  const bool first = ready_.empty() && (future_.empty() || future_.front().ready > now);
  if (message.ready <= now && first && windowed_in_flight_ < kInFlight) {
    hand_over(message);
    arm();
    return;
  }
  if (message.ready <= now) {
    const Ready waits{message.priority, keep(std::move(message)), posted_ - 1};
    ready_.push_back(waits);
    std::push_heap(ready_.begin(), ready_.end(), goes_after);
  } else {
    const Future waits{message.ready, posted_ - 1, keep(std::move(message))};
    future_.push_back(waits);
    std::push_heap(future_.begin(), future_.end(), later_ready);
  }
  pump(now);
}

/// Returns its place in waiting_. The place that was left last is taken first: it is in the processor's
/// cache.
std::uint32_t SendPort::Window::keep(Waiting&& message) {
  if (free_.empty()) {
    waiting_.push_back(std::move(message));
    return static_cast<std::uint32_t>(waiting_.size() - 1);
  }
  const std::uint32_t place = free_.back();
  free_.pop_back();
  waiting_[place] = std::move(message);
  return place;
}

void SendPort::Window::hand_over(Waiting& message) {
  Source& source = port_.source_of(key_);
  // The record comes first: the fabric may promise credits inside the call.
  const std::uint64_t first = source.flow->next_packet;
  in_flight_.push_back({first, first + packets_of(message.what.bytes), kNever, message.cookie,
                        message.windowed, message.notify});
  if (message.windowed) ++windowed_in_flight_;
  port_.inject(source, message.what, message.ready, message.data ? &message.data : nullptr,
               Tracking::kTracked);
}

void SendPort::Window::pump(Time now) {
  while (!future_.empty() && future_.front().ready <= now) {
    const Future due = future_.front();
    std::pop_heap(future_.begin(), future_.end(), later_ready);
    future_.pop_back();
    ready_.push_back({waiting_[due.place].priority, due.place, due.order});
    std::push_heap(ready_.begin(), ready_.end(), goes_after);
  }
  while (windowed_in_flight_ < kInFlight && !ready_.empty()) {
    const std::uint32_t place = ready_.front().place;
    std::pop_heap(ready_.begin(), ready_.end(), goes_after);
    ready_.pop_back();
    hand_over(waiting_[place]);
    free_.push_back(place);
  }
  arm();
}

void SendPort::Window::arm() {
  Time when = in_flight_.empty() ? kNever : in_flight_.front().leaves_at;
  if (windowed_in_flight_ < kInFlight && !future_.empty()) when = std::min(when, future_.front().ready);
  if (when == kNever) {
    port_.calendar_.cancel(wake_);
  } else if (!wake_.scheduled() || wake_.time() != when) {
    port_.calendar_.schedule(wake_, when);
  }
}

void SendPort::Window::on_credit(const Run& run) {
  for (InFlight& message : in_flight_) {
    if (run.first < message.first || run.first >= message.end) continue;
    // A promise that was shortened no longer covers the last packet; the rest is promised anew.
    message.leaves_at = run.count != 0 && run.complete() ? run.tail(run.count - 1) : kNever;
    arm();
    return;
  }
}

void SendPort::Window::wake(Time now) {
  while (!in_flight_.empty() && in_flight_.front().leaves_at <= now) {
    const InFlight left = in_flight_.front();
    in_flight_.erase(in_flight_.begin());
    --port_.pending_;
    if (left.windowed) --windowed_in_flight_;
    if (left.notify) {
      wvp_completion& completion = port_.completions_.raise(now);
      completion.cookie = left.cookie;
      completion.kind = WVP_C_SENT;
    }
  }
  pump(now);
}

}  // namespace wafervp
