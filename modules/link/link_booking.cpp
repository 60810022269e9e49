// SPDX-License-Identifier: Apache-2.0
// A link that only one flow has ever used, from an NPU to its neighbour: runs are put on it ahead of their
// time, without arbitration and without an event of their own.
#include <algorithm>

#include "link/link.h"

namespace wafervp {

namespace {
constexpr std::size_t kBookedKept = 4;  // from here on booked runs that have ended are forgotten
}  // namespace

void Link::book(Lane& lane, const Run& arrival, Time now) {
  const Time start = std::max(free_at_, arrival.origin);
  if (start != free_at_) {
    period_start_ = start;
    period_bytes_ = 0;
  }
  Run& run = lane.run;
  run = arrival;
  run.rate = &config_.rate;
  run.origin = period_start_;
  run.offset = period_bytes_;
  lane.running = true;
  lane.next = lane.covered = run.end();
  present_ = &lane;
  const std::uint64_t bytes = run.bytes(run.count);
  period_bytes_ += bytes;
  free_at_ = period_start_ + config_.rate.ps(period_bytes_);
  statistics_.bytes += bytes;
  statistics_.class_bytes[run.flow->traffic_class & 3u] += bytes;
  statistics_.packets += run.count;
  statistics_.runs += 1;
  statistics_.busy_ps += free_at_ - start;
  // What has ended stays ended; the rest may have to be taken back.
  if (booked_.size() >= kBookedKept) {
    const auto ended = [now](const Booked& old) { return old.run.tail(old.run.count - 1) <= now; };
    booked_.erase(booked_.begin(), std::find_if_not(booked_.begin(), booked_.end(), ended));
  }
  booked_.push_back({run, arrival.origin});
  tell_next(lane);
  tell_previous(lane, FabricPhase::kCredit);
}

/// A second flow is opened: what has not begun goes back to the queue.
void Link::unbook(Time now) {
  Lane& lane = *only_;
  only_ = nullptr;
  present_ = nullptr;
  bounded_ = false;
  std::vector<Run> taken_back;
  while (!booked_.empty() && booked_.back().run.head(0) >= now) {
    lane.run = booked_.back().run;
    taken_back.push_back(Run::from_source(*lane.run.message, booked_.back().arrived));
    booked_.pop_back();
    count(lane.run, lane.run.count, ~std::uint64_t{0});
    lane.next = lane.run.first;
    lane.run.count = 0;
    tell_next(lane);
    tell_previous(lane, FabricPhase::kCredit);
  }
  // The run in progress may be cut from now on, which needs its arrival again.
  if (!booked_.empty() && booked_.back().run.tail(booked_.back().run.count - 1) > now) {
    taken_back.push_back(Run::from_source(*booked_.back().run.message, booked_.back().arrived));
  }
  while (!taken_back.empty()) {
    lane.arrivals.promise(taken_back.back());
    taken_back.pop_back();
  }
  if (booked_.empty()) {
    lane.running = false;
    free_at_ = std::min(free_at_, now);
    period_start_ = free_at_;
    period_bytes_ = 0;
  } else {
    lane.run = booked_.back().run;
    present_ = &lane;
    set_end_of(lane.run);
  }
  booked_.clear();
  refresh(lane);
  want_wake(lane, now);
}

}  // namespace wafervp
