// SPDX-License-Identifier: Apache-2.0
#include "accelerator/send_window.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace wafervp {

namespace {
constexpr std::uint32_t kFirstCapacity = 4;
}

void SendWindow::Line::move(std::uint32_t from, std::uint32_t to) {
  ring_[to] = ring_[from];
  if (data_) data_[to] = std::move(data_[from]);
}

void SendWindow::Line::grow() {
  const std::uint32_t capacity = std::max(2 * capacity_, kFirstCapacity);
  auto ring = std::make_unique<Waiting[]>(capacity);
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

void SendWindow::Line::insert(const Waiting& message, Bytes* data) {
  if (size_ == capacity_) grow();
  std::uint32_t i = size_++;
  if (i > 0 && goes_before(message, ring_[head_])) {
    head_ = place(capacity_ - 1);
    i = 0;
  }
  for (; i > 0 && goes_before(message, ring_[place(i - 1)]); --i) move(place(i - 1), place(i));
  ring_[place(i)] = message;
  if (data != nullptr && !data_) data_ = std::make_unique<Bytes[]>(capacity_);
  if (data_) data_[place(i)] = data != nullptr ? std::move(*data) : Bytes();
}

void SendWindow::Line::pop() {
  if (data_) data_[head_].reset();
  head_ = place(1);
  --size_;
}

bool SendWindow::later_ready(const Future& a, const Future& b) {
  return std::tie(a.message.ready, a.message.order) > std::tie(b.message.ready, b.message.order);
}

void SendWindow::post(const Outgoing& outgoing, Time ready, Bytes* data) {
  const bool windowed = (outgoing.flags & WVP_D_WINDOW) != 0;
  const bool notify = (outgoing.flags & WVP_D_NOTIFY_SENT) != 0;
  const SendPort::What what{outgoing.tag, outgoing.bytes, outgoing.cookie, outgoing.dtype};
  const Time now = port_.calendar_.now();
  retire(now);
  // Nobody is in the line while one may go, but what could have gone at this time.
  const bool may_go = windowed_in_flight_ < kInFlight && ready_.empty() && future_.empty() && ready <= now;
  if (!windowed || may_go) {
    hand_over(what, ready, data, windowed, notify);
    return arm();
  }
  const Waiting message{what, ready, posted_++, outgoing.priority, notify};
  if (ready > now) {
    future_.push_back({message, data != nullptr ? std::move(*data) : Bytes()});
    std::push_heap(future_.begin(), future_.end(), later_ready);
  } else {
    ready_.insert(message, data);
  }
  pump(now);
}

void SendWindow::hand_over(const SendPort::What& what, Time ready, Bytes* data, bool windowed, bool notify) {
  // The record comes first: the fabric may promise credits inside the call.
  InFlight& message = in_flight_.emplace_back();
  message.first = flow_.next_packet;
  message.end = flow_.next_packet + packets_of(what.bytes);
  message.leaves_at = kNever;
  message.cookie = what.cookie;
  message.windowed = windowed;
  message.notify = notify;
  if (windowed) ++windowed_in_flight_;
  if (notify) ++notices_;
  port_.inject(flow_, entry_, what, ready, data, SendPort::Tracking::kTracked);
}

void SendWindow::pump(Time now) {
  while (!future_.empty() && future_.front().message.ready <= now) {
    std::pop_heap(future_.begin(), future_.end(), later_ready);
    Future& next = future_.back();
    ready_.insert(next.message, next.data ? &next.data : nullptr);
    future_.pop_back();
  }
  while (windowed_in_flight_ < kInFlight && !ready_.empty()) {
    const Waiting& next = ready_.front();
    hand_over(next.what, next.ready, ready_.front_data(), true, next.notify);
    ready_.pop();
  }
  arm();
}

/// Forgets what has left.
void SendWindow::retire(Time now) {
  std::size_t left = 0;
  for (; left < in_flight_.size() && in_flight_[left].leaves_at <= now; ++left) {
    const InFlight& message = in_flight_[left];
    if (message.windowed) --windowed_in_flight_;
    if (!message.notify) continue;
    --notices_;
    wvp_completion& completion = port_.completions_.raise(now);
    completion.cookie = message.cookie;
    completion.kind = WVP_C_SENT;
  }
  if (left != 0) in_flight_.erase(in_flight_.begin(), in_flight_.begin() + static_cast<std::ptrdiff_t>(left));
}

/// Only somebody who waits wants to know when a message has left.
void SendWindow::arm() {
  const Time leaves = in_flight_.empty() ? kNever : in_flight_.front().leaves_at;
  const Time room = windowed_in_flight_ < kInFlight ? 0 : leaves;
  Time when = notices_ != 0 || !ready_.empty() ? leaves : kNever;
  if (!future_.empty()) when = std::min(when, std::max(room, future_.front().message.ready));
  if (when == wake_.time()) return;
  if (when == kNever) {
    port_.calendar_.cancel(wake_);
  } else {
    port_.calendar_.schedule(wake_, when);
  }
}

void SendWindow::on_credit(const Run& run) {
  for (std::size_t i = in_flight_.size(); i-- > 0;) {
    InFlight& message = in_flight_[i];
    if (run.first < message.first || run.first >= message.end) continue;
    // A promise that was shortened no longer covers the last packet; the rest is promised anew.
    message.leaves_at = run.count != 0 && run.complete() ? run.tail(run.count - 1) : kNever;
    return arm();
  }
}

std::size_t SendWindow::pending() const {
  const auto in_flight = std::count_if(in_flight_.begin(), in_flight_.end(),
                                       [](const InFlight& message) { return message.leaves_at == kNever; });
  return static_cast<std::size_t>(in_flight) + ready_.size() + future_.size();
}

/// wake() comes soon; what a step reads, the one before has asked for.
void SendWindow::prepare(unsigned step) const {
  switch (step) {
    case 0:
      prefetch(this, kWarmBytes);
      break;
    case 1:
      prefetch(&port_, sizeof(SendPort) / 2);
      prefetch(&flow_, SendPort::kWarmBytesOfFlow);
      prefetch(&entry_, SendPort::kWarmBytesOfEntry);
      ready_.prepare_pop();
      break;
    default:
      break;
  }
}

void SendWindow::wake(Time now) {
  retire(now);
  pump(now);
}

}  // namespace wafervp
