// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "core/flow.h"

namespace wafervp {

/// A run that was put on a link ahead of its time: a whole message.
struct Booked {
  Message* message;      ///< valid until the message is delivered
  Time arrived;          ///< when the message was handed over
  Time origin;           ///< as in a run
  std::uint64_t offset;  ///< as in a run
  Time end;              ///< of the last byte on the link
  std::uint32_t count;
  std::uint16_t tail_bytes;

  RunSpan run(const Rate& rate, std::uint64_t first) const {
    RunSpan run;
    run.message = message;
    run.rate = &rate;
    run.first = first;
    run.offset = offset;
    run.origin = origin;
    run.count = count;
    run.tail_bytes = tail_bytes;
    run.last = true;
    return run;
  }
};

/// The booked runs of a link that have not ended, oldest first; and sums over all that were ever booked.
class BookedRuns {
 public:
  bool empty() const { return size_ == 0; }
  const Booked& back() const { return data()[size_ - 1]; }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }

  /// Appends a run of packets up to `end_packet`.
  void push(const Booked& run, std::uint64_t end_packet, Time now) {
    if (size_ != 0) {
      const Booked& last = back();
      if (last.end < now) {
        ended_count_ = last.count;
        size_ = 0;
      } else if (size_ == capacity_) {
        make_room(now);
      }
    }
    data()[size_++] = run;
    end_packet_ = end_packet;
    ++runs_;
  }
  /// A busy period has ended.
  void close_period(Time busy, std::uint64_t bytes) {
    busy_ += busy;
    bytes_ += bytes;
  }

  std::uint32_t ended_count() const { return ended_count_; }  ///< packets of the last run that was forgotten
  std::uint64_t end_packet() const { return end_packet_; }
  std::uint64_t runs() const { return runs_; }
  Time busy() const { return busy_; }             ///< in the periods that have ended
  std::uint64_t bytes() const { return bytes_; }  ///< in the periods that have ended

 private:
  const Booked* data() const { return more_ ? more_.get() : &one_; }
  Booked* data() { return more_ ? more_.get() : &one_; }
  [[gnu::noinline]] void make_room(Time now);

  std::unique_ptr<Booked[]> more_;  ///< once one place is not enough
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 1;
  Booked one_{};
  std::uint32_t ended_count_ = 0;
  std::uint64_t runs_ = 0;
  std::uint64_t end_packet_ = 0;
  Time busy_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace wafervp
