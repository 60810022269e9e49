// SPDX-License-Identifier: Apache-2.0
#include "link/link_engine.h"

#include <algorithm>
#include <stdexcept>
#include <tuple>

namespace wafervp {

LinkEngine::LinkEngine(const LinkConfig& config, Calendar& calendar, Arena& arena)
    : calendar_(calendar),
      config_(config),
      wake_(*this, config.id.value),
      packet_ps_(config.rate.ps(kPacketBytes)),
      arena_(arena) {
  if (config.buffer_packets == 0) throw std::invalid_argument("a link needs a buffer of one packet or more");
}

void LinkEngine::bind(FabricFw& next, FabricBw& previous) {
  next_ = &next;
  previous_ = &previous;
}

Lane* LinkEngine::open(Flow& flow, std::uint16_t hop, unsigned input) {
  if (only_ != nullptr) unbook(calendar_.now());
  Lane& lane = *lanes_.emplace_back(arena_.make<Lane>());
  lane.flow = &flow;
  lane.id = flow.id;
  lane.traffic_class = flow.traffic_class;
  lane.from_source = hop == 0 && flow.source.valid();
  lane.hop = hop;
  lane.input = static_cast<std::uint16_t>(input);
  ports_ = std::max(ports_, static_cast<std::uint16_t>(input + 1));
  if (hop > 0) {
    const FabricLink& feed = *flow.hops[hop - 1].link;
    lane.feed_buffer = feed.buffer_packets();
    lane.feed_latency = feed.latency();
    smallest_feed_ = smallest_feed_ == 0 ? lane.feed_buffer : std::min(smallest_feed_, lane.feed_buffer);
  }
  return &lane;
}

/// The relay at `place`, or null. Asking the type costs much, and all flows of a link meet the same few
/// places.
template <class Interface>
FabricRelay* LinkEngine::relay_of(Interface* place) {
  for (const auto& [known, relay] : relays_) {
    if (known == place) return relay;
  }
  return relays_.emplace_back(place, dynamic_cast<FabricRelay*>(place)).second;
}

/// Resolved at the first use, when the whole path is known and everything is bound.
void LinkEngine::set_places(Lane& lane) {
  const Flow& flow = *lane.flow;
  lane.next_place = next_;
  while (FabricRelay* relay = relay_of(lane.next_place)) {
    FabricFw* behind = relay->next_of(flow, static_cast<std::uint16_t>(lane.hop + 1));
    if (behind == nullptr) break;
    lane.next_place = behind;
  }
  lane.previous_place = previous_;
  while (FabricRelay* relay = relay_of(lane.previous_place)) {
    FabricBw* behind = relay->previous_of(flow, lane.hop);
    if (behind == nullptr) break;
    lane.previous_place = behind;
  }
  lane.needs_credit = !(flow.unlimited_sink && lane.hop + 1u == flow.hops.size());
  // Only one flow has ever used the link, from an NPU to one right behind it: no arbitration is needed.
  if (lanes_.size() == 1 && flow.hops.size() == 1 && flow.unlimited_sink && flow.source.valid() &&
      !config_.packet_grain) {
    only_ = &lane;
    only_next_ = lane.next_place;
  }
}

tlm::tlm_sync_enum LinkEngine::nb_transport_fw(Run& run, FabricPhase& phase, sc_core::sc_time& delay) {
  return only_ != nullptr ? book(run, phase, delay) : take(run, phase, delay);
}

tlm::tlm_sync_enum LinkEngine::take(Run& run, FabricPhase& phase, sc_core::sc_time& delay) {
  Lane& lane = *run.flow->hops[run.hop].lane;
  if (lane.next_place == nullptr) {
    set_places(lane);
    if (only_ != nullptr) return book(run, phase, delay);
  }
  const Time now = calendar_.now();
  RunSpan arrival = run;
  arrival.rate = own_copy(run.rate);
  const bool appended = lane.arrivals.promise(arrival);
  const bool hopeful = run.hopeful && run.count > 0;
  if (hopeful || lane.answer_at != kNever) set_answer(lane, hopeful ? arrival_of(arrival, 0) : kNever);
  if (!appended && lane.running && lane.run.end() > arrival.end()) {
    shorten(lane, arrival.end());
  } else {
    refresh(lane);
  }
  want_wake(lane, now);
  return tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum LinkEngine::nb_transport_bw(Run& run, FabricPhase& phase, sc_core::sc_time&) {
  Lane& lane = *run.flow->hops[run.hop - 1u].lane;
  const Time now = calendar_.now();
  if (phase == FabricPhase::kStall) {
    if (lane.running && lane.run.end() > lane.covered) shorten(lane, lane.covered);
    want_wake(lane, now);
    return tlm::TLM_ACCEPTED;
  }
  Credit credit;
  static_cast<RunSpan&>(credit) = run;
  credit.rate = own_copy(run.rate);
  if (credit.count > 0) credit.here = credit.tail(credit.count - 1) + config_.latency;
  const bool appended = lane.credits.promise(credit);
  if (in_progress(lane, now)) {
    const Slots slots{lane.run.origin, lane.run.offset, lane.run.rate, lane.run.late};
    lane.covered = lane.run.first + credited_extent(lane, lane.run.first, slots, lane.run.count).packets;
    // Credits for packets before the run are no answer to it yet.
    const bool answer = !appended || credit.end() > lane.run.first;
    if (answer && lane.covered < lane.run.end()) {
      shorten(lane, lane.covered);
      want_wake(lane, now);
      return tlm::TLM_ACCEPTED;
    }
  }
  if (lane.claim != Lane::kNoClaim) {
    refresh(lane);
    want_wake(lane, now);
  }
  return tlm::TLM_ACCEPTED;
}

/// arbitrate() comes soon; what a step reads, the one before has asked for.
void LinkEngine::prepare(unsigned step) const {
  switch (step) {
    case 0:
      prefetch(this, 2 * kWarmBytes);
      break;
    case 1:
      if (claims_.size() == 1) prefetch(claims_[0].lane, kWarmLaneBytes);
      break;
    case 2:
      if (claims_.size() == 1) {
        const Lane& lane = *claims_[0].lane;
        prefetch(lane.next_place, kWarmBytes);
        if (!lane.from_source) prefetch(lane.previous_place, kWarmBytes);
        prefetch(lane.flow, sizeof(Flow));
      }
      break;
    default:
      if (claims_.size() == 1) {
        const Lane& lane = *claims_[0].lane;
        prefetch(&lane.flow->hops[lane.hop], 2 * sizeof(Flow::Hop));
      }
      break;
  }
}

/// Both neighbours are told of a run at its end.
void LinkEngine::prepare_neighbours(const Lane& lane) const {
  prefetch(lane.next_place, kWarmBytes);
  if (!lane.from_source) prefetch(lane.previous_place, kWarmBytes);
  const auto& hops = lane.flow->hops;
  if (lane.hop + 1u < hops.size()) prefetch(hops[lane.hop + 1u].lane, kWarmLaneBytes);
  if (lane.hop > 0) prefetch(hops[lane.hop - 1u].lane, kWarmLaneBytes);
}

void LinkEngine::arbitrate(Time now) {
  arbitrating_ = true;
  if (present_ != nullptr && now < free_at_ && !bounded_) admit_claimants(now);
  for (;;) {
    if (!paced_.empty()) {
      drop_ended_paced(now);
      if (!paced_.empty()) {
        if (all_join_paced(now)) break;
        cut_paced(now);
      }
    }
    if (now < free_at_) break;
    std::uint64_t limit = 0;
    bool contended = false;
    Lane* lane = choose(now, &limit, &contended);
    if (lane == nullptr) break;
    start_run(*lane, now, limit, contended);
  }
  if (answers_owed_ != 0) answer_hopes(now);
  arbitrating_ = false;
  schedule_wake(now);
}

/// Cuts the present run for the first claimant that it has to make way for.
void LinkEngine::admit_claimants(Time now) {
  const Claim* first = nullptr;
  Rank rank;
  for (const Claim& claim : claims_) {
    if (claim.ready > now || claim.lane == present_) continue;
    if (first != nullptr && claim.serial > first->serial) continue;
    if (outranks_present(claim, now, rank)) first = &claim;
  }
  if (first == nullptr) return;
  bounded_ = true;
  // A packet that would begin right now has not been granted against the claimant.
  Lane& cut = *present_;
  shorten(cut, std::max(begun_end(cut.run, now), cut.run.first + least_turn(first->input)));
}

void LinkEngine::answer_hopes(Time now) {
  for (;;) {
    const Claim* first = nullptr;
    for (const Claim& claim : claims_) {
      if (claim.answer_at > now) continue;
      if (first == nullptr || claim.serial < first->serial) first = &claim;
    }
    if (first == nullptr) return;
    Lane& lane = *first->lane;
    set_answer(lane, kNever);
    tell_previous(lane, FabricPhase::kStall);  // may take the lane's claim
  }
}

/// Round robin over the input ports, starting after the one served last unless its turn goes on; the
/// oldest within a port.
Lane* LinkEngine::choose(Time now, std::uint64_t* limit, bool* contended) {
  const Claim* best = nullptr;
  unsigned best_distance = 0;
  bool other_port = false;
  const unsigned own_distance = turn_left_ > 0 ? 0 : ports_;
  for (const Claim& claim : claims_) {
    if (claim.ready > now) continue;
    if (best == nullptr || claim.input != best->input) {
      const unsigned distance = claim.input == turn_port_  ? own_distance
                                : claim.input > turn_port_ ? claim.input - turn_port_
                                                           : claim.input + ports_ - turn_port_;
      if (best != nullptr) other_port = true;
      if (best != nullptr && distance >= best_distance) continue;
      best_distance = distance;
    } else if (!(Seniority{claim.age, claim.id} < Seniority{best->age, best->id})) {
      continue;
    }
    best = &claim;
  }
  if (best == nullptr) return nullptr;
  *contended = other_port;
  if (!other_port) turn_left_ = 0;
  if (other_port && !(best->input == turn_port_ && turn_left_ > 0)) turn_left_ = turn_packets();
  turn_port_ = best->input;
  *limit = other_port ? turn_left_ : ~std::uint64_t{0};
  if (claims_.size() > 1) *limit = before_older(*best, now, *limit);
  return best->lane;
}

/// Of the first packet of the present run that has not begun at `at`.
LinkEngine::Seniority LinkEngine::seniority_of_present(Time at) const {
  constexpr Seniority kFirst{0, FlowId(0)};  // nobody goes before it
  const std::uint64_t packet = std::max(begun_end(present_->run, at), present_->run.first);
  if (packet >= present_->run.end()) return kFirst;
  const RunSpan* arrival = present_->arrivals.with(packet);
  return arrival == nullptr ? kFirst : Seniority{arrival->head(packet - arrival->first), present_->id};
}

bool LinkEngine::outranks_present(const Claim& claim, Time at, Rank& rank) const {
  if (claim.input != present_->input) return true;
  if (rank.at != at) rank = {at, seniority_of_present(at)};
  return Seniority{claim.age, claim.id} < rank.of_present;
}

void LinkEngine::start_run(Lane& lane, Time start, std::uint64_t limit, bool contended) {
  prepare_neighbours(lane);
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

void LinkEngine::begin(Lane& lane, const Plan& plan, Time start) {
  const Slots& slots = plan.slots;
  const std::uint64_t n = plan.packets;
  if (n == 0) throw std::logic_error("link: a flow without packet or credit was chosen");
  const std::uint64_t end = lane.next + n;
  const RunSpan& last = *lane.arrivals.with(end - 1);
  RunSpan& run = lane.run;
  run.message = last.message;
  run.rate = slots.rate;
  run.first = lane.next;
  run.offset = slots.offset;
  run.origin = slots.origin;
  run.late = slots.late;
  run.count = static_cast<std::uint32_t>(n);
  run.last = last.last && end == last.end();
  run.tail_bytes = run.last ? last.tail_bytes : static_cast<std::uint16_t>(kPacketBytes);
  lane.run_end = run.tail(n - 1);
  lane.running = true;
  lane.covered = run.first + plan.credited;
  lane.next = end;
  if (lane.answer_at != kNever && end >= lane.arrivals.back().end()) set_answer(lane, kNever);
  lane.paced = run.late > 0;
  if (lane.paced) {
    present_ = nullptr;
    paced_.push_back(&lane);
  } else {
    present_ = &lane;
    set_end_of(run, lane.run_end);
  }
  count(run, lane.traffic_class, lane.run_end, 1);
  lane.arrivals.forget_before(run.first);
  forget_spent_credits(lane, start);
  refresh(lane);
  tell_next(lane);
  tell_previous(lane, FabricPhase::kCredit);
}

/// Runs at the pace of slower links share the link as long as it can carry them all; that a packet may
/// find another one on the wire for part of a packet time is neglected.
bool LinkEngine::join_paced(Lane& lane, Time now) {
  const Plan slow = paced(lane, now);
  if (slow.packets == 0) return false;
  std::uint64_t sum = slow.slots.rate->bytes_per_s();
  for (const Lane* other : paced_) sum += other->run.rate->bytes_per_s();
  if (sum > config_.rate.bytes_per_s()) return false;
  begin(lane, slow, now);
  return true;
}

bool LinkEngine::all_join_paced(Time now) {
  for (;;) {
    const Claim* first = nullptr;
    for (const Claim& claim : claims_) {
      if (claim.ready > now || claim.lane->paced) continue;
      if (first == nullptr || claim.serial < first->serial) first = &claim;
    }
    if (first == nullptr) return true;
    if (!join_paced(*first->lane, now)) return false;
  }
}

/// Somebody needs the link for itself.
void LinkEngine::cut_paced(Time now) {
  const std::vector<Lane*> lanes = paced_;
  for (Lane* lane : lanes) {
    shorten(*lane, std::max(begun_end(lane->run, now), lane->run.first + 1));
    if (lane->run.count > 0) free_at_ = std::max(free_at_, lane->run_end);
    lane->paced = false;
  }
  paced_.clear();
  present_ = nullptr;
  period_start_ = free_at_;
  period_bytes_ = 0;
  for (Lane* lane : lanes) refresh(*lane);
}

void LinkEngine::drop_ended_paced(Time now) {
  for (std::size_t i = 0; i < paced_.size();) {
    Lane& lane = *paced_[i];
    const Time end = lane.run.count == 0 ? now : lane.run_end;
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

bool LinkEngine::in_progress(const Lane& lane, Time now) const {
  if (!lane.running || lane.run.count == 0) return false;
  return lane.paced ? now < lane.run_end : &lane == present_ && now < free_at_;
}

void LinkEngine::note_stall(const Lane& lane, Time start) {
  if (start <= free_at_ || !paced_.empty()) return;
  const RunSpan& arrival = *lane.arrivals.with(lane.next);
  const Time here = std::max(free_at_, arrival_of(arrival, lane.next - arrival.first));
  if (here < start && credit_of(lane, lane.next) > here) statistics_.stalled_ps += start - here;
}

/// Gives back the packets of the lane's present run from `end_packet` on, but none that has begun.
void LinkEngine::shorten(Lane& lane, std::uint64_t end_packet) {
  const Time now = calendar_.now();
  if (!in_progress(lane, now)) {
    refresh(lane);
    return;
  }
  RunSpan& run = lane.run;
  std::uint64_t end = end_packet;
  if (end < run.end()) end = std::max(end, begun_end(run, now));
  if (end >= run.end()) {
    refresh(lane);
    return;
  }
  const unsigned traffic_class = lane.traffic_class;
  count(run, traffic_class, lane.run_end, ~std::uint64_t{0});
  const auto kept = static_cast<std::uint32_t>(end - run.first);
  run.shorten(kept);
  if (kept > 0) {
    lane.run_end = run.tail(kept - 1);
    count(run, traffic_class, lane.run_end, 1);
  }
  lane.next = end;
  lane.covered = std::min(lane.covered, end);
  lane.running = kept > 0;
  if (!lane.paced) set_end_of(run, kept > 0 ? lane.run_end : run.head(0));
  refresh(lane);
  tell_next(lane);
  tell_previous(lane, FabricPhase::kCredit);
  if (!arbitrating_) schedule_wake(now);
}

/// Counts `run`, whose last byte leaves at `end`, with `sign` 1, and back with -1.
void LinkEngine::count(const RunSpan& run, unsigned traffic_class, Time end, std::uint64_t sign) {
  const std::uint64_t bytes = run.bytes(run.count);
  statistics_.class_bytes[traffic_class & 3u] += bytes * sign;
  statistics_.packets += run.count * sign;
  statistics_.runs += sign;
  // A paced run leaves gaps on the wire.
  statistics_.busy_ps += (run.late == 0 ? end - run.head(0) : config_.rate.ps(bytes)) * sign;
}

/// The link is free after `run`. A busy period goes on over gapless runs, so that rounding does not add up.
void LinkEngine::set_end_of(const RunSpan& run, Time end) {
  free_at_ = end;
  const bool gapless = run.late == 0;
  period_start_ = gapless ? run.origin : free_at_;
  period_bytes_ = gapless ? run.offset + run.bytes(run.count) : 0;
}

/// When arbitration should look at the claim next.
Time LinkEngine::wish(const Claim& claim, Time now, Rank& rank) const {
  Time when = kNever;
  if (claim.ready != kNever) {
    when = std::max(claim.ready, now);
    if (!paced_.empty() && claim.lane->paced && claim.lane->run.count > 0) {
      when = std::max(when, claim.lane->run_end);
    }
    if (when < free_at_ &&
        (bounded_ || present_ == nullptr || claim.lane == present_ || !outranks_present(claim, when, rank))) {
      when = free_at_;
    }
  }
  return std::min(when, std::max(claim.answer_at, now));
}

void LinkEngine::want_wake(const Lane& lane, Time now) {
  if (arbitrating_) return;
  Rank rank;
  const Time when =
      lane.claim != Lane::kNoClaim ? wish(claims_[lane.claim], now, rank) : std::max(lane.answer_at, now);
  if (when < wake_.time()) calendar_.schedule(wake_, when);
}

void LinkEngine::schedule_wake(Time now) {
  const bool cuttable = !bounded_ && present_ != nullptr && now < free_at_;
  const Time earliest = cuttable ? now : std::max(free_at_, now);
  Rank rank;
  Time when = kNever;
  for (const Claim& claim : claims_) {
    const Time ready = std::max(claim.ready, earliest);
    if (when <= ready && when <= std::max(claim.answer_at, now)) continue;
    // Most by far wait behind the present run, which goes before them.
    if (cuttable && when <= free_at_ && claim.answer_at == kNever && claim.input == present_->input &&
        !outranks_present(claim, ready, rank)) {
      continue;
    }
    when = std::min(when, wish(claim, now, rank));
    if (when == earliest && answers_owed_ == 0) break;
  }
  if (when == kNever) {
    calendar_.cancel(wake_);
  } else if (when != wake_.time()) {
    calendar_.schedule(wake_, when);
  }
}

void LinkEngine::tell_next(Lane& lane) {
  Run run;
  static_cast<RunSpan&>(run) = lane.run;
  run.flow = lane.flow;
  run.origin += config_.latency;
  run.hop = static_cast<std::uint16_t>(lane.hop + 1);
  run.hopeful = lane.run.end() > lane.covered;
  FabricPhase phase = FabricPhase::kHead;
  lane.next_place->nb_transport_fw(run, phase, no_delay_);
}

void LinkEngine::tell_previous(Lane& lane, FabricPhase phase) {
  // A source keeps count of its messages only where it asked for that.
  if (lane.from_source && (lane.run.message == nullptr || !lane.run.message->windowed)) return;
  Run run;
  static_cast<RunSpan&>(run) = lane.run;
  run.flow = lane.flow;
  run.hop = lane.hop;
  lane.previous_place->nb_transport_bw(run, phase, no_delay_);
}

LinkStatistics LinkEngine::statistics() const {
  LinkStatistics statistics = statistics_;
  if (only_ != nullptr) add_booked(statistics);
  for (const std::uint64_t bytes : statistics.class_bytes) statistics.bytes += bytes;
  return statistics;
}

std::uint64_t LinkEngine::queued_packets(Time now) const {
  std::uint64_t packets = 0;
  for (const Claim& claim : claims_) {
    const Lane& lane = *claim.lane;
    for (std::size_t i = 0; i < lane.arrivals.size(); ++i) {
      const RunSpan& run = lane.arrivals[i];
      for (std::uint64_t p = std::max(run.first, lane.next); p < run.end() && run.head(p - run.first) <= now;
           ++p)
        ++packets;
    }
  }
  return packets;
}

}  // namespace wafervp
