// SPDX-License-Identifier: Apache-2.0
// Links that only one flow has ever used, from an NPU to another one: runs are put on them ahead of their
// time, without arbitration and without an event of their own.
#include <algorithm>

#include "link/link_engine.h"

namespace wafervp {

/// Forgets what is over.
void BookedRuns::make_room(Time now, Time keep) {
  std::uint32_t over = 0;
  while (over < size_ && data()[over].end + keep < now) ++over;
  std::unique_ptr<Booked[]> larger;
  // Moving the rest has to pay off.
  if (2 * over < capacity_) larger = std::make_unique<Booked[]>(capacity_ *= 2);
  std::copy(data() + over, data() + size_, larger ? larger.get() : data());
  if (larger) more_ = std::move(larger);
  size_ -= over;
}

/// Puts `run` on the link, from `start` on, and changes it from what the source handed over to what passes
/// here.
inline void LinkEngine::put_on(Run& run, Time start, Time keep) {
  if (start != free_at_) {
    booked_.close_period(free_at_ - period_start_, period_bytes_);
    period_start_ = start;
    period_bytes_ = 0;
  }
  const std::uint64_t offset = period_bytes_;
  Booked& booked = booked_.append(run.end(), free_at_, calendar_.now(), keep);
  period_bytes_ += run.message->bytes;
  free_at_ = period_start_ + config_.rate.ps(period_bytes_);
  booked.message = run.message;
  booked.arrived = run.origin;
  booked.origin = period_start_;
  booked.offset = offset;
  booked.end = free_at_;
  booked.count = run.count;
  booked.tail_bytes = run.tail_bytes;
  run.rate = &config_.rate;
  run.offset = offset;
  run.origin = period_start_;
}

tlm::tlm_sync_enum LinkEngine::book(Run& run, FabricPhase& phase, sc_core::sc_time& delay) {
  if (path_ != nullptr) return book_path(run, phase, delay);
  put_on(run, std::max(free_at_, run.origin), 0);
  if (run.message->windowed) tell_source(run);
  run.origin += config_.latency;
  run.hop = 1;
  return only_next_->nb_transport_fw(run, phase, delay);
}

/// What is booked has all its packets there at once.
tlm::tlm_sync_enum LinkEngine::unbook_for_pace(Run& run, FabricPhase& phase, sc_core::sc_time& delay) {
  unbook(calendar_.now());
  return take(run, phase, delay);
}

tlm::tlm_sync_enum LinkEngine::book_path(Run& run, FabricPhase& phase, sc_core::sc_time& delay) {
  const Time start = std::max(free_at_, run.origin);
  if (!admit(run, start)) {
    unbook(calendar_.now());
    return take(run, phase, delay);
  }
  put_on(run, start, path_->keep);
  if (run.message->windowed) tell_source(run);
  run.origin += path_->latency;
  run.hop = static_cast<std::uint16_t>(path_->links.size());
  return only_next_->nb_transport_fw(run, phase, delay);
}

/// A source keeps count of its messages only where it asked for that.
void LinkEngine::tell_source(const Run& run) {
  Run here = run;
  FabricPhase credit = FabricPhase::kCredit;
  only_previous_->nb_transport_bw(here, credit, no_delay_);
}

/// Of all runs that were ever booked, but only the first `begun` of those that are not over.
void LinkEngine::add_booked(LinkCounts& counts, std::size_t begun) const {
  std::uint64_t bytes = booked_.bytes() + period_bytes_;
  std::uint64_t packets = booked_.end_packet();
  counts.runs += booked_.runs();
  counts.busy_ps += booked_.busy() + free_at_ - period_start_;
  for (std::size_t i = begun; i < booked_.size(); ++i) {
    const Booked& run = booked_[i];
    bytes -= run.bytes();
    packets -= run.count;
    --counts.runs;
    counts.busy_ps -= run.end - run.start(config_.rate);
  }
  counts.class_bytes[only_->traffic_class & 3u] += bytes;
  counts.class_packets[only_->traffic_class & 3u] += packets;
}

}  // namespace wafervp
