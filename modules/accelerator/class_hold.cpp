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

void ClassHold::note_sent(Flow& flow, const Message& message, Time until) {
  OfClass& of = classes_[flow.traffic_class & 3u];
  if (of.open == 0) return;
  Strand& strand = strand_of(message.cookie);
  const bool last = strand.last_is_known && message.tag == strand.last_tag;
  if (strand.sending == last) {
    strand.sending = !last;
    strand.traffic_class = flow.traffic_class & 3u;
    last ? --of.sending : ++of.sending;
  }
  if (last) strand.last_is_known = false;
  of.sent_until = std::max(of.sent_until, until);
  of.active_until = std::max(of.active_until, until);
  if (!of.holds || of.sending == 0) update(calendar_.now());
  if (flow.has_path) return;
  flow.has_path = true;
  of.paths.push_back(&flow);
  begin_path(flow);
}

void ClassHold::note_last(unsigned traffic_class, std::uint32_t cookie, std::uint64_t tag) {
  Strand& strand = strand_of(cookie);
  strand.last_is_known = true;
  strand.traffic_class = traffic_class & 3u;
  strand.last_tag = tag;
}

ClassHold::Strand& ClassHold::strand_of(std::uint32_t cookie) {
  if (cookie >= strands_.size()) strands_.resize(cookie + 1);
  return strands_[cookie];
}

void ClassHold::add(const Flow& flow) {
  if (flow.hops.empty()) return;  // a tree that begins in the NPU's own router
  flows_.push_back(&flow);
  if (waits(flow, above_)) hold(flow, true);
}

/// The notice goes from link to link as fast as a packet that finds them free.
void ClassHold::begin_path(const Flow& flow) const {
  Time from = calendar_.now();
  for (const Flow::Hop& hop : flow.hops) {
    hop.link->begin_path(flow.traffic_class, from);
    from += hop.link->latency() + hop.link->target().latency();
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

/// Of a class without operations: those that have not said which message was their last.
void ClassHold::forget_strands(OfClass& of) {
  for (Strand& strand : strands_) {
    if (&classes_[strand.traffic_class] == &of) strand = Strand();
  }
  of.sending = 0;
}

/// Begins and ends what is due, and looks again when more may be.
void ClassHold::update(Time now) {
  Time next = end_operations(now);
  unsigned above = kNoLevel;
  for (OfClass& of : classes_) {
    const Time until = of.sending != 0 ? of.active_until + quiet_ : of.sent_until;
    of.holds = of.open != 0 && until > now;
    if (of.open == 0 && of.sending != 0) forget_strands(of);
    if (of.holds) {
      above = std::min<unsigned>(above, of.level);
      next = std::min(next, until);
      continue;
    }
    for (Flow* flow : of.paths) {
      for (const Flow::Hop& hop : flow->hops) {
        if (hop.lane != nullptr) hop.link->end_path(*hop.lane, flow->next_packet);
      }
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
