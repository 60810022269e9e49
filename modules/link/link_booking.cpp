// SPDX-License-Identifier: Apache-2.0
// A link that only one flow has ever used, from an NPU to its neighbour: runs are put on it ahead of their
// time, without arbitration and without an event of their own.
#include <algorithm>
#include <vector>

#include "link/link_engine.h"

namespace wafervp {

/// Forgets what has ended.
void BookedRuns::make_room(Time now) {
  std::uint32_t ended = 0;
  while (data()[ended].end < now) ++ended;
  if (ended != 0) ended_count_ = data()[ended - 1].count;
  std::unique_ptr<Booked[]> larger;
  // Moving the rest has to pay off.
  if (2 * ended < capacity_) larger = std::make_unique<Booked[]>(capacity_ *= 2);
  std::copy(data() + ended, data() + size_, larger ? larger.get() : data());
  if (larger) more_ = std::move(larger);
  size_ -= ended;
}

/// Changes `run` from what the source handed over to what the next place gets.
tlm::tlm_sync_enum LinkEngine::book(Run& run, FabricPhase& phase, sc_core::sc_time& delay) {
  const Time arrived = run.origin;
  const Time start = std::max(free_at_, arrived);
  if (start != free_at_) {
    booked_.close_period(free_at_ - period_start_, period_bytes_);
    period_start_ = start;
    period_bytes_ = 0;
  }
  const std::uint64_t offset = period_bytes_;
  period_bytes_ += run.bytes(run.count);
  free_at_ = period_start_ + config_.rate.ps(period_bytes_);
  booked_.push({run.message, arrived, period_start_, offset, free_at_, run.count, run.tail_bytes}, run.end(),
               calendar_.now());
  run.rate = &config_.rate;
  run.offset = offset;
  run.origin = period_start_;
  if (run.message->windowed) return pass_on_watched(run, phase, delay);
  run.origin += config_.latency;
  run.hop = 1;
  return only_next_->nb_transport_fw(run, phase, delay);
}

/// A source keeps count of its messages only where it asked for that.
tlm::tlm_sync_enum LinkEngine::pass_on_watched(Run& run, FabricPhase& phase, sc_core::sc_time& delay) {
  Run here = run;
  run.origin += config_.latency;
  run.hop = 1;
  only_next_->nb_transport_fw(run, phase, delay);
  FabricPhase credit = FabricPhase::kCredit;
  return only_previous_->nb_transport_bw(here, credit, delay);
}

void LinkEngine::add_booked(LinkStatistics& statistics) const {
  const std::uint64_t bytes = booked_.bytes() + period_bytes_;
  statistics.class_bytes[only_->traffic_class & 3u] += bytes;
  statistics.packets += booked_.end_packet();
  statistics.runs += booked_.runs();
  statistics.busy_ps += booked_.busy() + free_at_ - period_start_;
}

/// A second flow is opened: what has not begun goes back to the queue.
void LinkEngine::unbook(Time now) {
  Lane& lane = *only_;
  add_booked(statistics_);
  only_ = nullptr;
  lane.next = lane.covered = booked_.end_packet();
  std::vector<Run> taken_back;
  while (!booked_.empty()) {
    const Booked& booked = booked_.back();
    const Time start = booked.origin + config_.rate.ps(booked.offset);
    // An empty message may have been delivered in the same picosecond.
    if (start < now || booked.end + config_.latency == now) break;
    taken_back.push_back(Run::from_source(*booked.message, booked.arrived));
    lane.next -= booked.count;
    lane.run = booked.run(config_.rate, lane.next);
    lane.run_end = booked.end;
    count(lane, lane.run.head(0), ~std::uint64_t{0});
    free_at_ = start;
    period_start_ = booked.origin;
    period_bytes_ = booked.offset;
    booked_.pop_back();
    lane.run.count = 0;
    tell_next(lane);
    tell_previous(lane, FabricPhase::kCredit);
  }
  if (booked_.empty()) {
    free_at_ = period_start_ = std::min(free_at_, now);
    period_bytes_ = 0;
    // The turn of a run that has ended counts still.
    lane.run.count = booked_.ended_count();
    if (lane.run.count != 0) set_present(&lane);
  } else {
    const Booked& last = booked_.back();
    // The run in progress may be cut from now on, which needs its arrival again.
    if (last.end > now) taken_back.push_back(Run::from_source(*last.message, last.arrived));
    lane.run = last.run(config_.rate, lane.next - last.count);
    lane.run_end = last.end;
    lane.running = true;
    set_present(&lane);
    set_end_of(lane.run, last.end);
    booked_.clear();
  }
  while (!taken_back.empty()) {
    lane.arrivals.promise(taken_back.back());
    taken_back.pop_back();
  }
  refresh(lane);
  want_wake(lane, now);
}

}  // namespace wafervp
