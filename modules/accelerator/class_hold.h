// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "accelerator/accelerator.h"
#include "core/calendar.h"
#include "core/flow.h"

namespace wafervp {

/// While an operation of one class is under way at an NPU, the NPU sends nothing of a class of a higher
/// level, and the links of the operation's flows carry nothing of it. Between the steps of a ring it would
/// find them free, and each step a packet of it on its way.
///
/// It holds from the first message of the class between end points that the NPU sends while an operation is
/// open until the last one that it sends has left: each strand says which that is (WVP_D_LAST). A link on the
/// way is held until that one has left there. Peers may be late, and may even wait for what is held: an NPU
/// lets go when nothing of the class was sent or received for `hold_quiet`, until the next message.
class ClassHold {
 public:
  ClassHold(const AcceleratorConfig& config, Calendar& calendar);

  /// An operation of the class is open, until `when`.
  void begin(unsigned traffic_class) { ++classes_[traffic_class].open; }
  void end(unsigned traffic_class, Time when);
  /// A message goes into `flow`, and has left at `until` if nothing holds it up.
  void note_sent(Flow& flow, const Message& message, Time until);
  /// The message with this tag is the last one that its strand sends; it has not been sent yet.
  void note_last(unsigned traffic_class, std::uint32_t strand, std::uint64_t tag);
  /// A message of the class comes, the last byte of it at `until`.
  void note_coming(unsigned traffic_class, Time until) {
    OfClass& of = classes_[traffic_class];
    if (of.holds && until > of.active_until) of.active_until = until;
  }
  /// A flow that begins at this NPU.
  void add(const Flow& flow);

 private:
  static constexpr unsigned kNoLevel = ~0u;
  struct OfClass {
    std::uint8_t level = 0;
    bool holds = false;
    std::uint32_t open = 0;     ///< operations
    std::uint32_t sending = 0;  ///< strands that have sent, and will again
    Time sent_until = 0, active_until = 0;
    std::vector<Flow*> paths;  ///< flows that have the links on their way for themselves
  };
  struct Strand {
    bool sending = false, last_is_known = false;
    std::uint8_t traffic_class = 0;
    std::uint64_t last_tag = 0;
  };
  struct End {
    Time when;
    unsigned traffic_class;
  };

  void update(Time now);
  Time end_operations(Time now);
  void forget_strands(OfClass& of);
  void begin_path(const Flow& flow) const;
  Strand& strand_of(std::uint32_t cookie);
  bool waits(const Flow& flow, unsigned above) const {
    return classes_[flow.traffic_class & 3u].level > above;
  }

  std::array<OfClass, 4> classes_;
  std::vector<Strand> strands_;  ///< by cookie
  unsigned above_ = kNoLevel;    ///< flows of higher levels wait
  Time quiet_;
  Calendar& calendar_;
  std::vector<const Flow*> flows_;  ///< that begin here
  std::vector<End> ends_;           ///< that are still to come
  CalendarCall<ClassHold, &ClassHold::update> call_;
};

}  // namespace wafervp
