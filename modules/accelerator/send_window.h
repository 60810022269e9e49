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
class SendPort::Window {
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

  void hand_over(Waiting& message);
  void pump(Time now);
  void arm();
  void wake(Time now);

  static bool later_ready(const Waiting& a, const Waiting& b);
  static bool goes_after(const Waiting& a, const Waiting& b);

  SendPort& port_;
  std::uint64_t key_;
  std::uint64_t posted_ = 0;
  std::uint32_t windowed_in_flight_ = 0;
  boost::container::small_vector<InFlight, 2> in_flight_;  ///< in the order of the flow
  std::vector<Waiting> ready_;                             ///< heap, least (priority, order) on top
  std::vector<Waiting> future_;                            ///< heap, earliest on top: combine not yet done
  CalendarCall<Window, &Window::wake> wake_;
};

}  // namespace wafervp
