// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <vector>

#include "accelerator/send_port.h"

namespace wafervp {

/// Book-keeping of one flow whose messages carry WVP_D_WINDOW or WVP_D_NOTIFY_SENT. At most two windowed
/// messages are in flight: handed to the fabric, and the last byte not yet out of the first link's queue.
/// The others wait, sorted by (priority, order of posting) once they are ready.
class alignas(64) SendPort::Window {
 public:
  static constexpr std::uint32_t kInFlight = 2;

  Window(SendPort& port, std::uint64_t key)
      : port_(port), key_(key), wake_(*this, Stage::kArrival, port.npu_.value) {}

  struct Waiting {
    Time ready;  ///< the message may leave from this time on
    std::uint64_t order;
    What what;
    std::uint32_t priority;
    std::uint32_t cookie;
    bool windowed;
    bool notify;
    Bytes data;
  };

  void post(Waiting&& message);
  void on_credit(const Run& run);

 private:
  struct InFlight {
    std::uint64_t first;  ///< packet index in the flow
    std::uint64_t end;
    Time leaves_at;  ///< kNever: not yet promised
    std::uint32_t cookie;
    bool windowed;
    bool notify;
  };
  /// What the heaps hold of a message that waits: few of them fill a cache line, and they move much.
  struct Ready {
    std::uint32_t priority;
    std::uint32_t place;  ///< in waiting_
    std::uint64_t order;
  };
  struct Future {
    Time ready;
    std::uint64_t order;
    std::uint32_t place;  ///< in waiting_
  };

  void hand_over(Waiting& message);
  std::uint32_t keep(Waiting&& message);
  void pump(Time now);
  void arm();
  void wake(Time now);

  static bool goes_after(const Ready& a, const Ready& b);
  static bool later_ready(const Future& a, const Future& b);

  SendPort& port_;
  std::uint64_t key_;
  std::uint64_t posted_ = 0;
  std::uint32_t windowed_in_flight_ = 0;
  std::vector<Ready> ready_;    ///< heap, least (priority, order) on top
  std::vector<Future> future_;  ///< heap, earliest on top: combine not yet done
  std::vector<Waiting> waiting_;
  std::vector<std::uint32_t> free_;                        ///< places in waiting_
  boost::container::small_vector<InFlight, 2> in_flight_;  ///< in the order of the flow
  CalendarCall<Window, &Window::wake> wake_;
};

}  // namespace wafervp
