// SPDX-License-Identifier: Apache-2.0
// Paths that a flow has for itself: when that is so, and what is done when it is so no longer.
#include <algorithm>
#include <utility>
#include <vector>

#include "link/link_engine.h"

namespace wafervp {

/// The link is used by nobody else than `lane`.
bool LinkEngine::serves_only(const Lane& lane) const {
  return lanes_.size() == 1 && lanes_[0].get() == &lane && !config_.packet_grain && resends_ == nullptr;
}

/// Books the links of the flow that begins in `lane`, if it has all of them for itself.
void LinkEngine::begin_booking(Lane& lane) {
  const Flow& flow = *lane.flow;
  if (lane.hop != 0 || !flow.unlimited_sink || !flow.source.valid() || !serves_only(lane)) return;
  Lane* last = &lane;
  if (flow.hops.size() > 1) {
    auto path = std::make_unique<BookedPath>();
    last = follow(lane, *path);
    if (last == nullptr) return;
    path_ = std::move(path);
    for (LinkEngine* link : path_->links) link->booked_at_ = this;
  }
  booked_at_ = this;
  only_ = &lane;
  only_next_ = last->next_place;
  only_previous_ = lane.previous_place;
}

/// Fills in `path`, all links of the flow that begins in `first`, and returns the flow's last lane; null
/// where one of them is not the flow's own, has another rate, or too few credits.
///
/// With one rate, and credits that come in time, a packet begins on each link when its head is there: the
/// links are free by then, as the one before has spaced the packets. Packet k finds its credit if packet k -
/// buffer left the next link two latencies before it begins. Between the two are buffer - 1 packets.
Lane* LinkEngine::follow(Lane& first, BookedPath& path) {
  const Flow& flow = *first.flow;
  path.spare_bytes = ~std::uint64_t{0};
  path.links.reserve(flow.hops.size());
  LinkEngine* link = this;
  Lane* lane = &first;
  for (std::size_t hop = 1;; ++hop) {
    const LinkTiming& config = link->config_;
    link->behind_first_ = path.latency;
    path.links.push_back(link);
    path.latency += config.latency;
    if (hop == flow.hops.size()) break;
    path.keep = std::max(path.keep, path.latency + config.latency);
    const std::uint64_t round_trip = config.latency == 0 ? 0 : config.rate.bytes(2 * config.latency) + 1;
    const std::uint64_t covered = (config.buffer_packets - 1) * std::uint64_t{kPacketBytes};
    if (covered < round_trip) return nullptr;
    path.spare_bytes = std::min(path.spare_bytes, covered - round_trip);
    path.window = std::max(path.window, config.buffer_packets - 1);
    // A module in between would have to see the runs.
    auto* next = dynamic_cast<LinkEngine*>(lane->next_place);
    lane = flow.hops[hop].lane;
    if (next == nullptr || !next->serves_only(*lane) || !(next->config_.rate == config.rate)) return nullptr;
    if (!lane->placed) next->set_places(*lane);
    if (lane->previous_place != static_cast<FabricBw*>(link)) return nullptr;
    link = next;
  }
  return lane;
}

/// Whether no packet of `run`, which would begin at `start`, has to wait for a credit. Only packets that are
/// shorter than others can use up the credits too soon: each brings the one `window` behind it closer.
bool LinkEngine::admit(const Run& run, Time start) {
  BookedPath& path = *path_;
  if (path.missing_bytes != 0) {
    path.missing_bytes -= std::min(path.missing_bytes, config_.rate.bytes(start - free_at_));
    if (path.missing_bytes > path.spare_bytes) path.missing_bytes = missing_bytes(start);
    if (path.missing_bytes > path.spare_bytes) return false;
  }
  if (run.count >= path.window) path.missing_bytes = 0;
  path.missing_bytes += kPacketBytes - run.tail_bytes;
  return true;
}

/// By how much the packets that went before a run that begins at `start` are short, less the gaps between
/// them.
std::uint64_t LinkEngine::missing_bytes(Time start) const {
  std::uint64_t missing = 0, most = 0, gaps = 0, packets = 0;
  for (std::size_t i = booked_.size(); i-- > 0 && packets < path_->window;) {
    const Booked& run = booked_[i];
    gaps += config_.rate.bytes(start - run.end);
    missing += kPacketBytes - run.tail_bytes;
    most = std::max(most, missing - std::min(missing, gaps));
    packets += run.count;
    start = run.start(config_.rate);
  }
  return most;
}

/// A second flow is opened on a link, or a credit would be missed: each link goes on as if it had arbitrated
/// all along.
void LinkEngine::unbook(Time now) {
  const Flow& flow = *only_->flow;
  const std::vector<LinkEngine*> links = path_ ? path_->links : std::vector<LinkEngine*>{this};
  const Time latency = path_ ? path_->latency : config_.latency;
  const std::vector<Unbooked> runs = booked_runs();
  // An empty message may have been delivered in the same picosecond.
  std::size_t over = runs.size();
  while (over > 0 && runs[over - 1].end_at + latency > now) --over;
  std::vector<Progress> progress(links.size());
  for (std::size_t k = 0; k < links.size(); ++k) {
    const std::size_t begun = booked_.begun(config_.rate, now - std::min(now, links[k]->behind_first_));
    progress[k].begun = std::max(over, begun);
    progress[k].promised = k == 0 ? runs.size() : progress[k - 1].begun;
    if (k > 0) progress[k - 1].begun_next = progress[k].begun;
    add_booked(links[k]->counts_, progress[k].begun);
    links[k]->booked_at_ = nullptr;
  }
  for (std::size_t i = runs.size(); i-- > progress.back().begun;) {
    take_back(runs[i], latency, links.size(), i >= progress[0].begun);
  }
  only_ = nullptr;
  path_ = nullptr;
  booked_ = BookedRuns();
  for (std::size_t k = 0; k < links.size(); ++k) {
    links[k]->resume(*flow.hops[k].lane, runs, progress[k], now);
  }
  for (std::size_t k = 0; k < links.size(); ++k) {
    Lane& lane = *flow.hops[k].lane;
    // What has begun on the link before, but not here, and has not got all its credits yet.
    const Lane* before = k == 0 ? nullptr : flow.hops[k - 1].lane;
    if (before != nullptr && lane.next < before->next && before->covered < before->next) {
      links[k]->set_answer(lane, lane.arrivals.back().head(0));
    }
    links[k]->refresh(lane);
    links[k]->want_wake(lane, now);
  }
}

/// With the first link's times.
std::vector<LinkEngine::Unbooked> LinkEngine::booked_runs() const {
  std::vector<Unbooked> runs(booked_.size());
  std::uint64_t first = booked_.end_packet();
  for (std::size_t i = runs.size(); i-- > 0;) {
    const Booked& booked = booked_[i];
    Unbooked& run = runs[i];
    first -= booked.count;
    run.message = booked.message;
    run.rate = &config_.rate;
    run.first = first;
    run.offset = booked.offset;
    run.origin = booked.origin;
    run.count = booked.count;
    run.tail_bytes = booked.tail_bytes;
    run.last = true;
    run.arrived = booked.arrived;
    run.end_at = booked.end;
  }
  return runs;
}

/// Takes `booked` back from the sink behind `hops` links, and from the source where it does not leave yet.
void LinkEngine::take_back(const RunSpan& booked, Time latency, std::size_t hops, bool from_source) {
  Run run;
  static_cast<RunSpan&>(run) = booked;
  run.flow = only_->flow;
  run.shorten(0);
  if (from_source && run.message->windowed) tell_source(run);
  run.origin += latency;
  run.hop = static_cast<std::uint16_t>(hops);
  FabricPhase phase = FabricPhase::kHead;
  only_next_->nb_transport_fw(run, phase, no_delay_);
}

/// Gives the lane the state that it would have if what was booked had been arbitrated.
void LinkEngine::resume(Lane& lane, const std::vector<Unbooked>& runs, const Progress& progress, Time now) {
  const auto first_of = [&](std::size_t i) { return i < runs.size() ? runs[i].first : runs.back().end(); };
  const auto passing = [&](std::size_t i) {
    Unbooked run = runs[i];
    run.rate = &config_.rate;
    run.origin += behind_first_;
    run.end_at += behind_first_;
    return run;
  };
  std::size_t arrivals_from = progress.begun;
  lane.next = lane.covered = first_of(progress.begun);
  free_at_ = period_start_ = period_bytes_ = 0;
  turn_before_ = lane.next;
  if (progress.begun > 0) {
    const Unbooked last = passing(progress.begun - 1);
    lane.run = last;
    lane.run_end = last.end_at;
    lane.running = true;
    set_end_of(lane.run, lane.run_end);
    turn_before_ = lane.run.first;
    // The run in progress may be cut from now on, which needs its arrival again.
    if (lane.run_end > now) --arrivals_from;
  }
  if (lane.next > 0) {
    set_present(&lane);
    turn_port_ = lane.input;
    if (special_ != nullptr) special_->turns_level = special_->configured_level = lane.claims->level();
  }
  for (std::size_t i = arrivals_from; i < progress.promised; ++i) {
    const RunSpan from_link = passing(i);
    lane.arrivals.promise(lane.hop == 0 ? Run::from_source(*runs[i].message, runs[i].arrived) : from_link);
  }
  if (!lane.needs_credit) return;
  lane.credit_base = first_of(progress.begun_next);
  for (std::size_t i = progress.begun_next; i-- > 0;) {
    if (passing(i).end_at + 2 * config_.latency <= now) break;
    lane.credit_base = runs[i].first;
  }
  for (std::size_t i = 0; i < progress.begun_next; ++i) {
    if (runs[i].first < lane.credit_base) continue;
    Credit credit;
    static_cast<RunSpan&>(credit) = passing(i);
    credit.origin += config_.latency;
    credit.here = runs[i].end_at + behind_first_ + 2 * config_.latency;
    lane.credits.promise(credit);
  }
  if (in_progress(lane, now)) {
    const Slots slots{lane.run.origin, lane.run.offset, lane.run.rate, lane.run.late};
    lane.covered = lane.run.first + credited_extent(lane, lane.run.first, slots, lane.run.count).packets;
  }
}

}  // namespace wafervp
