// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
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

  Time start(const Rate& rate) const { return origin + rate.ps(offset); }
  std::uint64_t bytes() const { return (count - 1) * std::uint64_t{kPacketBytes} + tail_bytes; }
};

/// The runs that are booked on a link and not over, oldest first; and sums over all that were ever booked.
class BookedRuns {
 public:
  std::size_t size() const { return size_; }
  const Booked& operator[](std::size_t i) const { return data()[i]; }

  /// Appends a run of packets up to `end_packet`, to be filled in; the last one ends at `last_end`. A run is
  /// over, and may be forgotten, when its end was more than `keep` ago.
  Booked& append(std::uint64_t end_packet, Time last_end, Time now, Time keep) {
    if (last_end + keep < now) {
      size_ = 0;
    } else if (size_ == capacity_) {
      make_room(now, keep);
    }
    end_packet_ = end_packet;
    ++runs_;
    return data()[size_++];
  }
  /// A busy period has ended.
  void close_period(Time busy, std::uint64_t bytes) {
    busy_ += busy;
    bytes_ += bytes;
  }

  /// How many begin before `when` on a link of rate `rate`.
  std::size_t begun(const Rate& rate, Time when) const {
    std::size_t n = size_;
    while (n > 0 && data()[n - 1].start(rate) >= when) --n;
    return n;
  }
  /// Packets that are here at `now` and have not begun.
  std::uint64_t waiting(const Rate& rate, Time now) const {
    std::uint64_t packets = 0;
    for (std::size_t i = begun(rate, now + 1); i < size_; ++i)
      packets += data()[i].arrived <= now ? data()[i].count : 0;
    return packets;
  }
  std::uint64_t end_packet() const { return end_packet_; }
  std::uint64_t runs() const { return runs_; }
  Time busy() const { return busy_; }             ///< in the periods that have ended
  std::uint64_t bytes() const { return bytes_; }  ///< in the periods that have ended

 private:
  const Booked* data() const { return more_ ? more_.get() : &one_; }
  Booked* data() { return more_ ? more_.get() : &one_; }
  [[gnu::noinline]] void make_room(Time now, Time keep);

  std::unique_ptr<Booked[]> more_;  ///< once one place is not enough
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 1;
  Booked one_{};
  std::uint64_t runs_ = 0;
  std::uint64_t end_packet_ = 0;
  Time busy_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace wafervp
