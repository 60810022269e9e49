// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "accelerator/send_port.h"
#include "core/prefetch.h"

namespace wafervp {

/// Book-keeping of one flow whose messages carry WVP_D_WINDOW or WVP_D_NOTIFY_SENT. At most two windowed
/// messages are in flight: handed to the fabric, and the last byte not yet out of the first link's queue.
/// The others wait, sorted by (priority, order of posting) once they are ready.
class alignas(64) SendWindow {
 public:
  static constexpr std::uint32_t kInFlight = 2;

  SendWindow(SendPort& port, Flow& flow, FabricFw& entry)
      : port_(port), flow_(flow), entry_(entry), wake_(*this, port.npu_.value) {}

  /// The message may leave from `ready` on and carries `*data`, which is taken (null: sizes only).
  void post(const Outgoing& outgoing, Time ready, Bytes* data);
  void on_credit(const Run& run);
  /// Messages that wait, or of which it is not known when they leave.
  std::size_t pending() const;

  static constexpr std::size_t kWarmBytes = 256;

 private:
  class Wake final : public CalendarEntry {
   public:
    Wake(SendWindow& window, std::uint32_t order) : CalendarEntry(Stage::kArrival, order), window_(window) {}

   private:
    void fire(Time now) override { window_.wake(now); }
    void prepare(unsigned step) const override { window_.prepare(step); }
    SendWindow& window_;
  };
  struct Waiting {
    SendPort::What what;
    Time ready;  ///< the message may leave from this time on
    std::uint64_t order;
    std::uint32_t priority;
    bool notify;
  };
  struct Future {
    Waiting message;
    Bytes data;
  };
  /// The messages that may leave, sorted. Most come last, or first of all.
  class Line {
   public:
    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }
    /// `data`: what is to be taken with it, or null.
    void insert(const Waiting& message, Bytes* data);
    const Waiting& front() const { return ring_[head_]; }
    Bytes* front_data() { return data_ && data_[head_] ? &data_[head_] : nullptr; }
    void pop();
    void prepare_pop() const {
      if (size_ != 0) prefetch(&ring_[head_], sizeof(Waiting));
    }

   private:
    static bool goes_before(const Waiting& a, const Waiting& b) {
      return a.priority != b.priority ? a.priority < b.priority : a.order < b.order;
    }
    std::uint32_t place(std::uint32_t i) const { return (head_ + i) & (capacity_ - 1); }
    void move(std::uint32_t from, std::uint32_t to);
    void grow();

    std::unique_ptr<Waiting[]> ring_;
    std::unique_ptr<Bytes[]> data_;  ///< of the entries, where one ever had some
    std::uint32_t head_ = 0;
    std::uint32_t size_ = 0;
    std::uint32_t capacity_ = 0;
  };
  struct InFlight {
    std::uint64_t first;  ///< packet index in the flow
    std::uint64_t end;
    Time leaves_at;  ///< kNever: not yet promised
    std::uint32_t cookie;
    bool windowed;
    bool notify;
  };

  void hand_over(const SendPort::What& what, Time ready, Bytes* data, bool windowed, bool notify);
  void pump(Time now);
  void retire(Time now);
  void arm();
  void wake(Time now);
  void prepare(unsigned step) const;

  static bool later_ready(const Future& a, const Future& b);

  // In the order of use, so that a message touches few cache lines.
  SendPort& port_;
  Flow& flow_;
  FabricFw& entry_;
  std::uint32_t windowed_in_flight_ = 0;
  std::uint32_t notices_ = 0;                              ///< of those in flight, what raises a completion
  boost::container::small_vector<InFlight, 2> in_flight_;  ///< in the order of the flow
  Line ready_;
  Wake wake_;
  std::uint64_t posted_ = 0;
  std::vector<Future> future_;  ///< heap, earliest on top: combine not yet done
};

}  // namespace wafervp
