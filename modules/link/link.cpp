// SPDX-License-Identifier: Apache-2.0
#include "link/link.h"

#include <algorithm>
#include <stdexcept>
#include <tuple>

namespace wafervp {

Link::Link(sc_core::sc_module_name name, const LinkConfig& config, Calendar& calendar)
    : sc_module(name),
      in("in"),
      out("out"),
      config_(config),
      calendar_(calendar),
      wake_(*this, Stage::kArbitration, config.id.value),
      packet_ps_(config.rate.ps(kPacketBytes)) {
  if (config.buffer_packets == 0) throw std::invalid_argument("a link needs a buffer of one packet or more");
  in.bind(*this);
  out.bind(*this);
}

void Link::set_target(FabricNode& node, unsigned input) {
  target_ = &node;
  target_input_ = input;
}

void Link::end_of_elaboration() {
  next_ = out.operator->();
  previous_ = in.operator->();
}

Lane* Link::open(Flow& flow, std::uint16_t hop, unsigned input) {
  if (only_ != nullptr) unbook(calendar_.now());
  Lane& lane = lanes_.emplace_back();
  lane.flow = &flow;
  lane.id = flow.id;
  lane.hop = hop;
  lane.input = static_cast<std::uint16_t>(input);
  lane.run.flow = &flow;
  lane.run.hop = hop;
  ports_ = std::max(ports_, input + 1);
  if (hop > 0) {
    const FabricLink& feed = *flow.hops[hop - 1].link;
    lane.feed_buffer = feed.buffer_packets();
    lane.feed_latency = feed.latency();
    smallest_feed_ = smallest_feed_ == 0 ? lane.feed_buffer : std::min(smallest_feed_, lane.feed_buffer);
  }
  return &lane;
}

/// Resolved at the first use, when the whole path is known and everything is bound.
void Link::set_places(Lane& lane) {
  lane.next_place = next_;
  while (auto* relay = dynamic_cast<FabricRelay*>(lane.next_place)) {
    FabricFw* behind = relay->next_of(*lane.flow, static_cast<std::uint16_t>(lane.hop + 1));
    if (behind == nullptr) break;
    lane.next_place = behind;
  }
  lane.previous_place = previous_;
  while (auto* relay = dynamic_cast<FabricRelay*>(lane.previous_place)) {
    FabricBw* behind = relay->previous_of(*lane.flow, lane.hop);
    if (behind == nullptr) break;
    lane.previous_place = behind;
  }
  // Only one flow has ever used the link, from an NPU to one right behind it: no arbitration is needed.
  lane.bookable = lane.hop == 0 && lane.flow->hops.size() == 1 && lane.flow->unlimited_sink &&
                  lane.flow->source.valid() && !config_.packet_grain;
  if (lane.bookable && lanes_.size() == 1) only_ = &lane;
}

tlm::tlm_sync_enum Link::nb_transport_fw(Run& run, FabricPhase&, sc_core::sc_time&) {
  Lane& lane = *run.flow->hops[run.hop].lane;
  const Time now = calendar_.now();
  if (lane.next_place == nullptr) set_places(lane);
  if (&lane == only_) {
    book(lane, run, now);
    return tlm::TLM_ACCEPTED;
  }
  const bool appended = lane.arrivals.promise(run);
  lane.owes_answer = run.hopeful && run.count > 0;
  if (lane.owes_answer) lane.answer_at = arrival_of(run, 0);
  if (!appended && lane.running && lane.run.end() > run.end()) {
    shorten(lane, run.end());
  } else {
    refresh(lane);
  }
  want_wake(lane, now);
  return tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum Link::nb_transport_bw(Run& run, FabricPhase& phase, sc_core::sc_time&) {
  Lane& lane = *run.flow->hops[run.hop - 1u].lane;
  const Time now = calendar_.now();
  if (phase == FabricPhase::kStall) {
    if (lane.running && lane.run.end() > lane.covered) shorten(lane, lane.covered);
    want_wake(lane, now);
    return tlm::TLM_ACCEPTED;
  }
  const bool appended = lane.credits.promise(run);
  if (in_progress(lane, now)) {
    const Slots slots{lane.run.origin, lane.run.offset, lane.run.rate, lane.run.late};
    lane.covered = lane.run.first + credited_extent(lane, lane.run.first, slots, lane.run.count).packets;
    // Credits for packets before the run are no answer to it yet.
    const bool answer = !appended || run.end() > lane.run.first;
    if (answer && lane.covered < lane.run.end()) {
      shorten(lane, lane.covered);
      want_wake(lane, now);
      return tlm::TLM_ACCEPTED;
    }
  }
  if (lane.active) {
    refresh(lane);
    want_wake(lane, now);
  }
  return tlm::TLM_ACCEPTED;
}

void Link::arbitrate(Time now) {
  arbitrating_ = true;
  if (present_ != nullptr && now < free_at_ && !bounded_) {
    for (const Lane* lane : active_) {
      if (lane->ready > now || lane == present_ || !outranks_present(*lane, now)) continue;
      bounded_ = true;
      // A packet that would begin right now has not been granted against the claimant.
      Lane& cut = *present_;
      shorten(cut, std::max(begun_end(cut.run, now), cut.run.first + least_turn(*lane)));
      break;
    }
  }
  for (;;) {
    drop_ended_paced(now);
    if (!paced_.empty()) {
      if (all_join_paced(now)) break;
      cut_paced(now);
    }
    if (now < free_at_) break;
    std::uint64_t limit = 0;
    bool contended = false;
    Lane* lane = choose(now, &limit, &contended);
    if (lane == nullptr) break;
    start_run(*lane, now, limit, contended);
  }
  for (std::size_t i = 0; i < active_.size(); ++i) {
    Lane& lane = *active_[i];
    if (!lane.owes_answer || lane.answer_at > now) continue;
    lane.owes_answer = false;
    tell_previous(lane, FabricPhase::kStall);  // may take the lane from the list
    i = ~std::size_t{0};
  }
  arbitrating_ = false;
  schedule_wake(now);
}

/// Round robin over the input ports, starting after the one served last unless its turn goes on; the
/// oldest within a port.
Lane* Link::choose(Time now, std::uint64_t* limit, bool* contended) {
  Lane* best = nullptr;
  unsigned best_distance = 0;
  bool other_port = false;
  for (Lane* lane : active_) {
    if (lane->ready > now) continue;
    unsigned distance = (lane->input + ports_ - turn_port_ - 1) % ports_ + 1;
    if (lane->input == turn_port_ && turn_left_ > 0) distance = 0;
    if (best != nullptr && lane->input != best->input) other_port = true;
    if (best == nullptr || std::make_tuple(distance, lane->age, lane->id) <
                               std::make_tuple(best_distance, best->age, best->id)) {
      best = lane;
      best_distance = distance;
    }
  }
  if (best == nullptr) return nullptr;
  *contended = other_port;
  if (!other_port) turn_left_ = 0;
  if (other_port && !(best->input == turn_port_ && turn_left_ > 0)) turn_left_ = turn_packets();
  turn_port_ = best->input;
  *limit = other_port ? turn_left_ : ~std::uint64_t{0};
  // A run goes no further than to the head of the next older packet of its own port.
  for (const Lane* lane : active_) {
    if (lane == best || lane->input != best->input || lane->ready > now) continue;
    const Run& run = *arrival_with(*best, best->next);
    if (run.rate == nullptr) continue;
    std::uint64_t n = 1;
    while (n < *limit && best->next + n < run.end() && run.head(best->next + n - run.first) <= lane->age) ++n;
    *limit = std::min(*limit, n);
  }
  return best;
}

bool Link::outranks_present(const Lane& lane, Time at) const {
  if (lane.input != present_->input) return true;
  const std::uint64_t packet = std::max(begun_end(present_->run, at), present_->run.first);
  const Run* arrival = arrival_with(*present_, packet);
  if (arrival == nullptr || packet >= present_->run.end()) return false;
  const Time age = arrival->head(packet - arrival->first);
  return std::make_tuple(lane.age, lane.id) < std::make_tuple(age, present_->id);
}

void Link::start_run(Lane& lane, Time start, std::uint64_t limit, bool contended) {
  note_stall(lane, start);
  if (present_ != nullptr && present_->input == lane.input) {
    turn_before_ += present_->run.count;
  } else if (present_ != nullptr) {
    last_port_ = present_->input;
    last_turn_ = turn_before_ + present_->run.count;
    turn_before_ = 0;
  }
  const bool long_runs = !config_.packet_grain && !contended;
  Plan best = plan(lane, slots_from(start), config_.packet_grain ? 1 : limit, long_runs);
  if (long_runs && best.packets < config_.train_packets) {
    const Plan slow = paced(lane, start);
    if (slow.packets > best.packets) best = slow;
  }
  turn_left_ -= std::min(turn_left_, best.packets);
  bounded_ = contended;
  begin(lane, best, start);
}

void Link::begin(Lane& lane, const Plan& plan, Time start) {
  const Slots& slots = plan.slots;
  const std::uint64_t n = plan.packets;
  if (n == 0) throw std::logic_error("link: a flow without packet or credit was chosen");
  const std::uint64_t end = lane.next + n;
  const Run& last = *arrival_with(lane, end - 1);
  Run& run = lane.run;
  run.message = last.message;
  run.flow = lane.flow;
  run.rate = slots.rate;
  run.first = lane.next;
  run.offset = slots.offset;
  run.origin = slots.origin;
  run.late = slots.late;
  run.count = static_cast<std::uint32_t>(n);
  run.hop = lane.hop;
  run.last = last.last && end == last.end();
  run.tail_bytes = run.last ? last.tail_bytes : static_cast<std::uint16_t>(kPacketBytes);
  lane.running = true;
  lane.covered = run.first + plan.credited;
  lane.next = end;
  if (lane.owes_answer && end >= lane.arrivals.back().end()) lane.owes_answer = false;
  lane.paced = run.late > 0;
  if (lane.paced) {
    present_ = nullptr;
    paced_.push_back(&lane);
  } else {
    present_ = &lane;
    set_end_of(run);
  }
  count(run, n, 1);
  lane.arrivals.forget_before(run.first);
  forget_spent_credits(lane, start);
  refresh(lane);
  tell_next(lane);
  tell_previous(lane, FabricPhase::kCredit);
}

/// Runs at the pace of slower links share the link as long as it can carry them all; that a packet may
/// find another one on the wire for part of a packet time is neglected.
bool Link::join_paced(Lane& lane, Time now) {
  const Plan slow = paced(lane, now);
  if (slow.packets == 0) return false;
  std::uint64_t sum = slow.slots.rate->bytes_per_s();
  for (const Lane* other : paced_) sum += other->run.rate->bytes_per_s();
  if (sum > config_.rate.bytes_per_s()) return false;
  begin(lane, slow, now);
  return true;
}

bool Link::all_join_paced(Time now) {
  for (std::size_t i = 0; i < active_.size(); ++i) {
    Lane& lane = *active_[i];
    if (lane.paced || lane.ready > now) continue;
    if (!join_paced(lane, now)) return false;
    i = ~std::size_t{0};  // the list may have changed
  }
  return true;
}

/// Somebody needs the link for itself.
void Link::cut_paced(Time now) {
  const std::vector<Lane*> lanes = paced_;
  for (Lane* lane : lanes) {
    shorten(*lane, std::max(begun_end(lane->run, now), lane->run.first + 1));
    if (lane->run.count > 0) free_at_ = std::max(free_at_, lane->run.tail(lane->run.count - 1));
    lane->paced = false;
  }
  paced_.clear();
  present_ = nullptr;
  period_start_ = free_at_;
  period_bytes_ = 0;
  for (Lane* lane : lanes) refresh(*lane);
}

void Link::drop_ended_paced(Time now) {
  for (std::size_t i = 0; i < paced_.size();) {
    Lane& lane = *paced_[i];
    const Time end = lane.run.count == 0 ? now : lane.run.tail(lane.run.count - 1);
    if (end > now) {
      ++i;
      continue;
    }
    if (end > free_at_) {
      free_at_ = period_start_ = end;
      period_bytes_ = 0;
    }
    lane.paced = false;
    paced_.erase(paced_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

bool Link::in_progress(const Lane& lane, Time now) const {
  if (!lane.running || lane.run.count == 0) return false;
  return lane.paced ? now < lane.run.tail(lane.run.count - 1) : &lane == present_ && now < free_at_;
}

void Link::note_stall(const Lane& lane, Time start) {
  if (start <= free_at_ || !paced_.empty()) return;
  const Run& arrival = *arrival_with(lane, lane.next);
  const Time here = std::max(free_at_, arrival_of(arrival, lane.next - arrival.first));
  if (here < start && credit_of(lane, lane.next) > here) statistics_.stalled_ps += start - here;
}

/// Gives back the packets of the lane's present run from `end_packet` on, but none that has begun.
void Link::shorten(Lane& lane, std::uint64_t end_packet) {
  const Time now = calendar_.now();
  if (!in_progress(lane, now)) {
    refresh(lane);
    return;
  }
  Run& run = lane.run;
  const std::uint64_t end = std::max(end_packet, begun_end(run, now));
  if (end >= run.end()) {
    refresh(lane);
    return;
  }
  count(run, run.count, ~std::uint64_t{0});
  const auto kept = static_cast<std::uint32_t>(end - run.first);
  run.shorten(kept);
  if (kept > 0) count(run, kept, 1);
  lane.next = end;
  lane.covered = std::min(lane.covered, end);
  lane.running = kept > 0;
  if (!lane.paced) set_end_of(run);
  refresh(lane);
  tell_next(lane);
  tell_previous(lane, FabricPhase::kCredit);
  if (!arbitrating_) schedule_wake(now);
}

void Link::count(const Run& run, std::uint64_t packets, std::uint64_t sign) {
  const std::uint64_t bytes = run.bytes(packets) * sign;
  statistics_.bytes += bytes;
  statistics_.class_bytes[run.flow->traffic_class & 3u] += bytes;
  statistics_.packets += packets * sign;
  statistics_.runs += sign;
  // A paced run leaves gaps on the wire.
  const Time busy = run.late == 0 ? run.tail(packets - 1) - run.head(0) : config_.rate.ps(run.bytes(packets));
  statistics_.busy_ps += busy * sign;
}

/// The link is free after `run`. A busy period goes on over gapless runs, so that rounding does not add up.
void Link::set_end_of(const Run& run) {
  free_at_ = run.count == 0 ? run.head(0) : run.tail(run.count - 1);
  const bool gapless = run.late == 0;
  period_start_ = gapless ? run.origin : free_at_;
  period_bytes_ = gapless ? run.offset + run.bytes(run.count) : 0;
}

/// When arbitration should look at the lane next.
Time Link::wish(const Lane& lane, Time now) const {
  Time when = kNever;
  if (lane.ready != kNever) {
    when = std::max(lane.ready, now);
    if (lane.paced && lane.run.count > 0) when = std::max(when, lane.run.tail(lane.run.count - 1));
    if (when < free_at_ &&
        (bounded_ || present_ == nullptr || &lane == present_ || !outranks_present(lane, when))) {
      when = free_at_;
    }
  }
  if (lane.owes_answer) when = std::min(when, std::max(lane.answer_at, now));
  return when;
}

void Link::want_wake(const Lane& lane, Time now) {
  if (arbitrating_) return;
  const Time when = wish(lane, now);
  if (when < wake_.time()) calendar_.schedule(wake_, when);
}

void Link::schedule_wake(Time now) {
  Time when = kNever;
  for (const Lane* lane : active_) when = std::min(when, wish(*lane, now));
  if (when == kNever) {
    calendar_.cancel(wake_);
  } else if (when != wake_.time()) {
    calendar_.schedule(wake_, when);
  }
}

void Link::tell_next(Lane& lane) {
  Run run = lane.run;
  run.origin += config_.latency;
  run.hop = static_cast<std::uint16_t>(lane.hop + 1);
  run.hopeful = lane.run.end() > lane.covered;
  FabricPhase phase = FabricPhase::kHead;
  lane.next_place->nb_transport_fw(run, phase, no_delay_);
}

void Link::tell_previous(Lane& lane, FabricPhase phase) {
  // A source keeps count of its messages only where it asked for that.
  if (lane.hop == 0 && lane.flow->source.valid() &&
      (lane.run.message == nullptr || !lane.run.message->windowed))
    return;
  Run run = lane.run;
  lane.previous_place->nb_transport_bw(run, phase, no_delay_);
}

std::uint64_t Link::queued_packets(Time now) const {
  std::uint64_t packets = 0;
  for (const Lane* lane : active_) {
    for (std::size_t i = 0; i < lane->arrivals.size(); ++i) {
      const Run& run = lane->arrivals[i];
      for (std::uint64_t p = std::max(run.first, lane->next); p < run.end() && run.head(p - run.first) <= now;
           ++p)
        ++packets;
    }
  }
  return packets;
}

}  // namespace wafervp
