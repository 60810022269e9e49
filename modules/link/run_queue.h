// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "core/fabric_protocol.h"

namespace wafervp {

/// Runs of one flow in the order of their packets; only the last one may still be shortened. A ring, which
/// needs the heap only where more than two runs are kept. `Kept` is what is kept of a run.
template <class Kept>
class RunQueueOf {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  Kept& front() { return at(0); }
  const Kept& front() const { return (*this)[0]; }
  Kept& back() { return at(size_ - 1); }
  const Kept& back() const { return (*this)[size_ - 1]; }
  const Kept& operator[](std::size_t i) const {
    return (more_ ? more_.get() : few_.data())[(head_ + i) & mask_];
  }

  /// Appends `run`, or shortens the last run if it begins with the same packet. True when it appended.
  template <class Promised>
  bool promise(const Promised& run) {
    // The last run itself may be in a cache line that is far away.
    if (size_ != 0 && run.first <= last_first_) {
      if (run.count == 0) {
        if (--size_ != 0) last_first_ = back().first;
      } else {
        keep(run);
        last_first_ = run.first;
      }
      return false;
    }
    if (run.count == 0) return true;
    if (size_ > mask_) grow();
    ++size_;
    keep(run);
    last_first_ = run.first;
    return true;
  }
  void pop_front() {
    --size_;
    head_ = size_ == 0 ? 0 : (head_ + 1) & mask_;
  }
  /// Forgets the runs that end at or before packet `packet`.
  void forget_before(std::uint64_t packet) {
    while (size_ != 0 && front().end() <= packet) pop_front();
  }
  /// For hints: where the first run lies.
  const void* front_place() const { return (more_ ? more_.get() : few_.data()) + head_; }
  /// The run with packet `packet`, if that is before the end; null if it is not promised.
  const Kept* with(std::uint64_t packet) const {
    for (std::size_t i = 0; i < size_; ++i) {
      const Kept& run = (*this)[i];
      if (packet < run.end()) return &run;
    }
    return nullptr;
  }

 private:
  template <class Promised>
  void keep(const Promised& run) {
    if constexpr (std::is_base_of_v<RunSpan, Kept> && !std::is_same_v<Kept, Promised>) {
      back().copy(run);
    } else {
      back() = run;
    }
  }
  Kept& at(std::size_t i) { return (more_ ? more_.get() : few_.data())[(head_ + i) & mask_]; }
  void grow() {
    const std::uint32_t capacity = 2 * (mask_ + 1);
    auto more = std::make_unique<Kept[]>(capacity);
    for (std::uint32_t i = 0; i < size_; ++i) more[i] = at(i);
    more_ = std::move(more);
    mask_ = capacity - 1;
    head_ = 0;
  }

  std::unique_ptr<Kept[]> more_;  ///< the ring, once two places are not enough
  std::uint64_t last_first_ = 0;  ///< first packet of the last run, if there is one
  std::uint32_t head_ = 0;
  std::uint32_t size_ = 0;
  std::uint32_t mask_ = 1;  ///< places in the ring - 1
  std::array<Kept, 2> few_;
};

using RunQueue = RunQueueOf<Run>;

}  // namespace wafervp
