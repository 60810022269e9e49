// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
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

/// The booked runs of a link, oldest first: those that have not ended, and the one before them.
class BookedRuns {
 public:
  bool empty() const { return size_ == 0; }
  const Booked& back() const { return data()[size_ - 1]; }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }

  /// Appends a run of packets up to `end_packet`.
  void push(const Booked& run, std::uint64_t end_packet, Time now) {
    if (size_ == capacity_) make_room(now);
    data()[size_++] = run;
    end_packet_ = end_packet;
    ++runs_;
  }
  /// A busy period has ended.
  void close_period(Time busy, std::uint64_t bytes) {
    busy_ += busy;
    bytes_ += bytes;
  }

  std::uint64_t end_packet() const { return end_packet_; }
  std::uint64_t runs() const { return runs_; }
  Time busy() const { return busy_; }             ///< in the periods that have ended
  std::uint64_t bytes() const { return bytes_; }  ///< in the periods that have ended

 private:
  const Booked* data() const { return more_ ? more_.get() : few_.data(); }
  Booked* data() { return more_ ? more_.get() : few_.data(); }
  void make_room(Time now);

  std::unique_ptr<Booked[]> more_;  ///< once the few are not enough
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 2;
  std::uint64_t runs_ = 0;
  std::uint64_t end_packet_ = 0;
  Time busy_ = 0;
  std::uint64_t bytes_ = 0;
  std::array<Booked, 2> few_;
};

}  // namespace wafervp
