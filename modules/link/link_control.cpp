// SPDX-License-Identifier: Apache-2.0
// Acknowledgements and NACKs that take time on the link back.
#include <algorithm>

#include "link/link_engine.h"
#include "link/resends.h"

namespace wafervp {

namespace {

/// Of a port of its own, behind all others.
constexpr std::uint16_t kControlInput = 0xffff;

}  // namespace

void ControlPackets::fire(Time now) { engine.send_control(now); }

void LinkEngine::set_reverse(LinkEngine& back) {
  if (special_ == nullptr || !special_->go_back_n.charged) return;
  resends_->control = std::make_unique<ControlPackets>(*this, config_.id.value);
  ControlPackets& control = *resends_->control;
  control.back = &back;
  control.lane.claims = &claims_of(kControlInput, 0);
  control.lane.input = kControlInput;
}

bool LinkEngine::is_control(const ClaimList& list) const {
  return resends_->control && &list == resends_->control->lane.claims;
}

/// `lane` has begun a run: when its acknowledgements are due.
void LinkEngine::expect_acks(const Lane& lane) {
  const std::uint64_t before = counts_.class_packets[lane.traffic_class & 3u] - lane.run.count;
  const std::uint64_t first = kPacketsOfAck - 1 - before % kPacketsOfAck;
  if (first >= lane.run.count) return;
  ControlPackets& control = *resends_->control;
  control.runs.push_back({lane.run, &lane, static_cast<std::uint32_t>(first)});
  schedule_control(control.runs.back().run.tail(first) + config_.latency);
}

/// The run of `lane` was shortened; those of its packets that have not begun are acknowledged later.
void LinkEngine::shorten_acks(const Lane& lane) {
  auto& runs = resends_->control->runs;
  for (auto& of : runs) {
    if (of.lane == &lane && of.run.first == lane.run.first) of.run.shorten(lane.run.count);
  }
}

void LinkEngine::schedule_control(Time when) {
  if (when < resends_->control->time()) calendar_.schedule(*resends_->control, when);
}

/// Hands what is due to the link back.
void LinkEngine::send_control(Time now) {
  ControlPackets& control = *resends_->control;
  Time next = kNever;
  std::uint64_t due = 0;
  for (auto& of : control.runs) {
    for (; of.next < of.run.count; of.next += kPacketsOfAck) {
      const Time when = of.run.tail(of.next) + config_.latency;
      if (when > now) {
        next = std::min(next, when);
        break;
      }
      ++due;
    }
  }
  const auto over = [](const ControlPackets::Acknowledged& of) { return of.next >= of.run.count; };
  control.runs.erase(std::remove_if(control.runs.begin(), control.runs.end(), over), control.runs.end());
  for (const Time when : control.negative) {
    if (when <= now) ++due;
    if (when > now) next = std::min(next, when);
  }
  auto& negative = control.negative;
  negative.erase(std::remove_if(negative.begin(), negative.end(), [now](Time when) { return when <= now; }),
                 negative.end());
  if (next != kNever) calendar_.schedule(control, next);
  if (due > 0) control.back->carry_control(due, now);
}

void LinkEngine::carry_control(std::uint64_t packets, Time now) {
  ControlPackets& control = *resends_->control;
  if (control.waiting == 0) {
    control.waiting_from = now;
    control.lane.serial = claimed_++;
    claim(control.lane, now, now);
  }
  control.waiting += packets;
  want_wake(control.lane, now);
}

/// Puts the control packet on the wire whose turn it is.
void LinkEngine::put_control(Time start) {
  ControlPackets& control = *resends_->control;
  occupy(start, kControlPacketBytes);
  control.carried_bytes += kControlPacketBytes;
  if (--control.waiting == 0) {
    leave(control.lane);
  } else {
    claim(control.lane, control.waiting_from, control.waiting_from);
  }
}

}  // namespace wafervp
