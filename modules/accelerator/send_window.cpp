// SPDX-License-Identifier: Apache-2.0
#include "accelerator/send_window.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace wafervp {

namespace {
constexpr std::uint32_t kFirstCapacity = 4;
}

void SendPort::Window::Line::move(std::uint32_t from, std::uint32_t to) {
  ring_[to] = ring_[from];
  if (data_) data_[to] = std::move(data_[from]);
}

void SendPort::Window::Line::grow() {
  const std::uint32_t capacity = std::max(2 * capacity_, kFirstCapacity);
  auto ring = std::make_unique<Entry[]>(capacity);
  std::unique_ptr<Bytes[]> data;
  if (data_) data = std::make_unique<Bytes[]>(capacity);
  for (std::uint32_t i = 0; i < size_; ++i) {
    ring[i] = ring_[place(i)];
    if (data_) data[i] = std::move(data_[place(i)]);
  }
  ring_ = std::move(ring);
  data_ = std::move(data);
  capacity_ = capacity;
  head_ = 0;
}

void SendPort::Window::Line::insert(Waiting&& message) {
  if (size_ == capacity_) grow();
  const Entry entry{message.order,       message.what.tag,   message.what.bytes, message.priority,
                    message.what.cookie, message.what.dtype, message.notify};
  std::uint32_t i = size_++;
  if (i > 0 && goes_before(entry, ring_[head_])) {
    head_ = place(capacity_ - 1);
    i = 0;
  }
  for (; i > 0 && goes_before(entry, ring_[place(i - 1)]); --i) move(place(i - 1), place(i));
  ring_[place(i)] = entry;
  if (message.data && !data_) data_ = std::make_unique<Bytes[]>(capacity_);
  if (data_) data_[place(i)] = std::move(message.data);
}

SendPort::Window::Waiting SendPort::Window::Line::pop() {
  const Entry& entry = ring_[head_];
  Waiting message{0,
                  entry.order,
                  {entry.tag, entry.bytes, entry.cookie, entry.dtype},
                  entry.priority,
                  true,
                  entry.notify,
                  data_ ? std::move(data_[head_]) : Bytes()};
  head_ = place(1);
  --size_;
  return message;
}

bool SendPort::Window::later_ready(const Waiting& a, const Waiting& b) {
  return std::tie(a.ready, a.order) > std::tie(b.ready, b.order);
}

void SendPort::Window::post(Waiting&& message) {
  ++port_.pending_;
  if (!message.windowed) {
    hand_over(message);
    return;
  }
  message.order = posted_++;
  const Time now = port_.calendar_.now();
  // Nobody is in the line while one may go.
  if (windowed_in_flight_ < kInFlight && future_.empty() && message.ready <= now) {
    hand_over(message);
    arm();
    return;
  }
  if (message.ready > now) {
    future_.push_back(std::move(message));
    std::push_heap(future_.begin(), future_.end(), later_ready);
  } else {
    ready_.insert(std::move(message));
  }
  pump(now);
}

void SendPort::Window::hand_over(Waiting& message) {
  Source& source = port_.source_of(key_);
  // The record comes first: the fabric may promise credits inside the call.
  const std::uint64_t first = source.flow->next_packet;
  in_flight_.push_back({first, first + packets_of(message.what.bytes), kNever, message.what.cookie,
                        message.windowed, message.notify});
  if (message.windowed) ++windowed_in_flight_;
  port_.inject(source, message.what, message.ready, message.data ? &message.data : nullptr,
               Tracking::kTracked);
}

void SendPort::Window::pump(Time now) {
  while (!future_.empty() && future_.front().ready <= now) {
    std::pop_heap(future_.begin(), future_.end(), later_ready);
    ready_.insert(std::move(future_.back()));
    future_.pop_back();
  }
  while (windowed_in_flight_ < kInFlight && !ready_.empty()) {
    Waiting next = ready_.pop();
    hand_over(next);
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

/// A message that comes is handed over at once or waits in the line.
void SendPort::Window::prepare_post() const {
  if (windowed_in_flight_ < kInFlight) {
    prefetch(port_.source_of(key_).flow, kWarmBytesOfFlow);
  } else {
    ready_.prepare_insert();
  }
}

/// wake() comes soon; what a step reads, the one before has asked for.
void SendPort::Window::prepare(unsigned step) const {
  switch (step) {
    case 0:
      prefetch(this, kWarmBytes);
      break;
    case 1:
      prefetch(&port_, kWarmBytes);
      ready_.prepare_pop();
      break;
    case 2: {
      const Source& source = port_.source_of(key_);
      prefetch(source.flow, sizeof(Flow));
      prefetch(source.entry, kWarmBytesOfEntry);
      break;
    }
    default:
      break;
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
