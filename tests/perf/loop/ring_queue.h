// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace perf_loop {

/// A queue in one growing array of a power of two places.
template <class T>
class RingQueue {
 public:
  bool empty() const { return head_ == tail_; }
  std::size_t size() const { return tail_ - head_; }
  T& front() { return places_[head_ & mask()]; }
  T& at(std::size_t i) { return places_[(head_ + i) & mask()]; }
  void pop() { ++head_; }
  void push(const T& value) {
    if (size() == places_.size()) grow();
    places_[tail_++ & mask()] = value;
  }

 private:
  std::size_t mask() const { return places_.size() - 1; }
  void grow() {
    std::vector<T> larger(places_.empty() ? 4 : 2 * places_.size());
    const std::size_t count = size();
    for (std::size_t i = 0; i < count; ++i) larger[i] = at(i);
    places_.swap(larger);
    head_ = 0;
    tail_ = static_cast<std::uint32_t>(count);
  }

  std::vector<T> places_;
  std::uint32_t head_ = 0, tail_ = 0;
};

}  // namespace perf_loop
