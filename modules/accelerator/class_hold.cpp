// SPDX-License-Identifier: Apache-2.0
#include "accelerator/class_hold.h"

#include <algorithm>
#include <utility>

#include "core/fabric_protocol.h"

namespace wafervp {

namespace {

/// A site link has no lanes: it holds nothing back.
void hold(const Flow& flow, bool back) {
  const Flow::Hop& first = flow.hops[0];
  if (first.lane != nullptr) first.link->hold_flow(*first.lane, back);
}

}  // namespace

ClassHold::ClassHold(const AcceleratorConfig& config, Calendar& calendar)
    : quiet_(config.hold_quiet), calendar_(calendar), call_(*this, Stage::kArrival, config.npu.value) {
  for (unsigned c = 0; c < classes_.size(); ++c) classes_[c].level = config.class_level[c];
}

void ClassHold::end(unsigned traffic_class, Time when) {
  ends_.push_back({when, traffic_class});
  update(calendar_.now());
}

void ClassHold::note_sent(Flow& flow, Time until) {
  OfClass& of = classes_[flow.traffic_class & 3u];
  if (of.open == 0) return;
  of.active_until = std::max(of.active_until, until);
  if (!of.holds) update(calendar_.now());
  if (flow.has_path) return;
  flow.has_path = true;
  of.paths.push_back(&flow);
  tell_path(flow, true);
}

void ClassHold::add(const Flow& flow) {
  if (flow.hops.empty()) return;  // a tree that begins in the NPU's own router
  flows_.push_back(&flow);
  if (waits(flow, above_)) hold(flow, true);
}

/// The notice goes from link to link as fast as a packet that finds them free.
void ClassHold::tell_path(const Flow& flow, bool begins) const {
  Time from = calendar_.now();
  for (const Flow::Hop& hop : flow.hops) {
    hop.link->hold_path(flow.traffic_class, begins, from);
    if (begins) from += hop.link->latency() + hop.link->target().latency();
  }
}

/// Returns when the next of the others ends.
Time ClassHold::end_operations(Time now) {
  Time next = kNever;
  const auto over = [&](const End& end) {
    if (end.when <= now) return --classes_[end.traffic_class].open, true;
    next = std::min(next, end.when);
    return false;
  };
  ends_.erase(std::remove_if(ends_.begin(), ends_.end(), over), ends_.end());
  return next;
}

/// Begins and ends what is due, and looks again when more may be.
void ClassHold::update(Time now) {
  Time next = end_operations(now);
  unsigned above = kNoLevel;
  for (OfClass& of : classes_) {
    const Time quiet_from = of.active_until + quiet_;
    of.holds = of.open != 0 && quiet_from > now;
    if (of.holds) {
      above = std::min<unsigned>(above, of.level);
      next = std::min(next, quiet_from);
      continue;
    }
    for (Flow* flow : of.paths) {
      tell_path(*flow, false);
      flow->has_path = false;
    }
    of.paths.clear();
  }
  if (next != kNever) {
    calendar_.schedule(call_, next);
  } else if (call_.scheduled()) {
    calendar_.cancel(call_);
  }
  const unsigned before = std::exchange(above_, above);
  for (const Flow* flow : flows_) {
    const bool wait = waits(*flow, above);
    if (wait != waits(*flow, before)) hold(*flow, wait);
  }
}

}  // namespace wafervp
