// SPDX-License-Identifier: Apache-2.0
// Who goes next, and when to look again.
#include <algorithm>
#include <vector>

#include "link/link_engine.h"

namespace wafervp {

namespace {

const Claim* first_ready(const ClaimList& list, Time now) {
  for (const Claim& claim : list) {
    if (claim.age > now) break;
    if (claim.ready <= now) return &claim;
  }
  return nullptr;
}

}  // namespace

/// arbitrate() comes soon; what a step reads, the one before has asked for.
void LinkEngine::prepare(unsigned step) const {
  switch (step) {
    case 0:
      prefetch(this, kWarmEngineBytes);
      break;
    case 1:
      expected_ = expected();
      if (expected_ != nullptr) prefetch(expected_, kWarmLaneBytes);
      break;
    default:
      if (expected_ != nullptr) {
        prepare_neighbours(*expected_);
        prefetch(expected_->arrivals.front_place(), 3 * sizeof(RunSpan));
        if (!expected_->credits.empty()) prefetch(expected_->credits.front_place(), 2 * sizeof(Credit));
      }
      break;
  }
}

/// The lane that will go next, as far as that is known.
const Lane* LinkEngine::expected() const {
  const Time now = calendar_.now();
  const Claim* best = nullptr;
  for (const ClaimList* list : active_) {
    best = first_ready(*list, now);
    if (best != nullptr && (turn_left_ > 0 ? list->input() >= turn_port_ : list->input() > turn_port_)) break;
  }
  return best == nullptr ? nullptr : best->lane;
}

/// Mostly an engine.
void LinkEngine::prepare_place(const void* place) {
  prefetch(place, kWarmBytes);
  prefetch(static_cast<const char*>(place) + kWarmClaims, kWarmBytes);
}

/// Both neighbours are told of a run at its end.
void LinkEngine::prepare_neighbours(const Lane& lane) {
  prepare_place(lane.next_place);
  if (!lane.from_source) prepare_place(lane.previous_place);
  if (lane.next_lane != nullptr) prefetch(lane.next_lane, 1);
  if (lane.previous_lane != nullptr) {
    prefetch(lane.previous_lane, 1);
    prefetch(&lane.previous_lane->credits, 128);
  }
}

void LinkEngine::arbitrate(Time now) {
  arbitrating_ = true;
  if (present_ != nullptr && now < free_at_ && (!bounded_ || (preempts_ && !fixed_))) admit_claimants(now);
  for (;;) {
    if (!paced_.empty()) {
      drop_ended_paced(now);
      if (!paced_.empty()) {
        if (all_join_paced(now)) break;
        cut_paced(now);
      }
    }
    if (now < free_at_ || (changes_over_ && !configured(now))) break;
    std::uint64_t limit = 0;
    bool contended = false;
    Lane* lane = choose(now, &limit, &contended);
    if (lane == nullptr) break;
    if (resends_ != nullptr && send_in_vain(*lane, now)) continue;
    start_run(*lane, now, limit, contended);
  }
  if (!owing_.empty()) answer_hopes(now);
  arbitrating_ = false;
  schedule_wake(now);
}

/// Whether the present run can be cut for the claims of `list`.
inline bool LinkEngine::may_cut_for(const ClaimList& list) const {
  if (present_ == nullptr) return false;
  if (!preempts_ || list.level() == present_->claims->level()) return !bounded_;
  return list.level() < present_->claims->level() && !fixed_;
}

/// Cuts the present run for the first claimant that it has to make way for.
void LinkEngine::admit_claimants(Time now) {
  const Lane* first = nullptr;
  Rank rank;
  for (const ClaimList* list : active_) {
    if (preempts_) {
      if (first != nullptr && list->level() > first->claims->level()) break;
      if (!may_cut_for(*list)) continue;
    }
    for (const Claim& claim : *list) {
      if (claim.age > now) break;
      if (claim.ready > now || claim.lane == present_ || !outranks_present(claim, *list, now, rank)) continue;
      if (first == nullptr || claim.lane->serial < first->serial) first = claim.lane;
    }
  }
  if (first == nullptr) return;
  bounded_ = true;
  // A packet that would begin right now has not been granted against the claimant.
  Lane& cut = *present_;
  fixed_ = first->claims->level() < cut.claims->level();
  const std::uint64_t least = fixed_ ? 1 : least_turn(first->input);
  shorten(cut, std::max(begun_end(cut.run, now), cut.run.first + least));
}

void LinkEngine::answer_hopes(Time now) {
  for (;;) {
    Lane* first = nullptr;
    for (Lane* lane : owing_) {
      if (lane->answer_at > now || lane->standing == Standing::kIdle) continue;
      if (first == nullptr || lane->serial < first->serial) first = lane;
    }
    if (first == nullptr) return;
    set_answer(*first, kNever);
    tell_previous(*first, FabricPhase::kStall);  // may take the lane's claim
  }
}

/// Round robin over the input ports, starting after the one served last unless its turn goes on; the
/// oldest within a port. `first` to `last`: the lists of one level.
inline Lane* LinkEngine::choose_among(std::size_t first, std::size_t last, Time now, std::uint64_t* limit,
                                      bool* contended) {
  const unsigned from = turn_left_ > 0 ? turn_port_ : turn_port_ + 1u;
  std::size_t at = first;
  while (at < last && active_[at]->input() < from) ++at;
  const Claim* best = nullptr;
  const ClaimList* list = nullptr;
  bool other_port = false;
  for (std::size_t i = first; i < last && !other_port; ++i, ++at) {
    if (at == last) at = first;
    const Claim* claim = first_ready(*active_[at], now);
    if (claim == nullptr) continue;
    other_port = best != nullptr;
    if (other_port) break;
    best = claim;
    list = active_[at];
  }
  if (best == nullptr) return nullptr;
  prefetch(best->lane, kWarmLaneBytes);
  *contended = other_port;
  if (!other_port) turn_left_ = 0;
  if (other_port && !(list->input() == turn_port_ && turn_left_ > 0)) turn_left_ = turn_packets();
  turn_port_ = list->input();
  *limit = before_older(*best, *list, now, other_port ? turn_left_ : ~std::uint64_t{0});
  return best->lane;
}

/// Of the first level that has somebody who is ready.
Lane* LinkEngine::choose(Time now, std::uint64_t* limit, bool* contended) {
  if (!preempts_) return choose_among(0, active_.size(), now, limit, contended);
  for (std::size_t first = 0, last; first < active_.size(); first = last) {
    last = end_of_level(first);
    const auto ready = [now](const ClaimList* list) { return first_ready(*list, now) != nullptr; };
    if (std::none_of(active_.begin() + first, active_.begin() + last, ready)) continue;
    take_turns_of(active_[first]->level());
    return choose_among(first, last, now, limit, contended);
  }
  return nullptr;
}

std::size_t LinkEngine::end_of_level(std::size_t first) const {
  std::size_t last = first;
  while (last < active_.size() && active_[last]->level() == active_[first]->level()) ++last;
  return last;
}

void LinkEngine::take_turns_of(unsigned level) {
  if (level == special_->turns_level) return;
  special_->turns[special_->turns_level] = {turn_port_, last_port_, turn_before_, turn_left_, last_turn_};
  const Special::Turns& turns = special_->turns[level];
  turn_port_ = turns.port;
  last_port_ = turns.last_port;
  turn_before_ = turns.before;
  turn_left_ = turns.left;
  last_turn_ = turns.last;
  special_->turns_level = level;
}

/// Whether the feeding node is configured for the class that goes next; if not it changes over, and begins
/// anew when it is another class's turn in the meantime. It does not give up a class for a short gap.
bool LinkEngine::configured(Time now) {
  Special& special = *special_;
  for (const ClaimList* list : active_) {
    if (first_ready(*list, now) == nullptr) continue;
    if (list->level() == special.configured_level) break;
    // The link's own control packets do not come through the node.
    if (resends_ != nullptr && is_control(*list)) return true;
    const bool first = special.configured_level == Special::kNoLevel;
    if (!first && now < kept_until(*list)) return false;
    special.configured_at = first ? now : now + special.preemption.reconfiguration;
    special.configured_level = list->level();
    break;
  }
  return special.configured_at <= now;
}

/// A class that goes before that of `list` keeps the feeding node for as long as a change takes.
Time LinkEngine::kept_until(const ClaimList& list) const {
  return list.level() > special_->configured_level ? free_at_ + special_->preemption.reconfiguration : 0;
}

/// Of the first packet of the present run that has not begun at `at`.
LinkEngine::Seniority LinkEngine::seniority_of_present(Time at) const {
  constexpr Seniority kFirst{0, FlowId(0)};  // nobody goes before it
  const std::uint64_t packet = std::max(begun_end(present_->run, at), present_->run.first);
  if (packet >= present_->run.end()) return kFirst;
  const RunSpan* arrival = present_->arrivals.with(packet);
  return arrival == nullptr ? kFirst : Seniority{arrival->head(packet - arrival->first), present_->id};
}

/// No packet of the present run is younger.
Time LinkEngine::last_age_of_present() {
  if (last_age_known_) return present_last_age_;
  last_age_known_ = true;
  present_last_age_ = kNever;
  if (present_->run.count == 0) return kNever;
  const std::uint64_t packet = present_->run.end() - 1;
  const RunSpan* arrival = present_->arrivals.with(packet);
  if (arrival != nullptr) present_last_age_ = arrival->head(packet - arrival->first);
  return present_last_age_;
}

/// Whether a claim of the present run's port goes before the last packet of the run.
bool LinkEngine::goes_before_last(const Claim& claim) {
  return Seniority{claim.age, claim.id} < Seniority{last_age_of_present(), present_->id};
}

inline bool LinkEngine::outranks_present(const Claim& claim, const ClaimList& list, Time at, Rank& rank) {
  if (&list != present_->claims) return true;
  if (!goes_before_last(claim)) return false;
  if (rank.at != at) {
    rank.at = at;
    rank.of_present = seniority_of_present(at);
  }
  return Seniority{claim.age, claim.id} < rank.of_present;
}

void LinkEngine::start_run(Lane& lane, Time start, std::uint64_t limit, bool contended) {
  prepare_neighbours(lane);
  // A sink looks at the message.
  if (lane.next_lane == nullptr) prefetch(lane.arrivals.with(lane.next)->message, 1);
  note_stall(lane, start);
  if (present_ != nullptr && present_->claims->level() != lane.claims->level()) {
    // Turns are among the ports of one level.
  } else if (present_ != nullptr && present_->input == lane.input) {
    turn_before_ += present_->run.count;
  } else if (present_ != nullptr) {
    last_port_ = present_->input;
    last_turn_ = turn_before_ + present_->run.count;
    turn_before_ = 0;
  }
  const bool long_runs = !config_.packet_grain && !contended;
  const bool may_pace = long_runs && gathering_;
  // The first packet is ready: no need to look for it.
  Plan best = config_.packet_grain || (limit == 1 && !may_pace)
                  ? Plan{slots_from(start), 1, 1}
                  : plan(lane, slots_from(start), limit, long_runs);
  if (may_pace && best.packets < config_.train_packets) {
    const Plan slow = paced(lane, start);
    if (slow.packets > best.packets) best = slow;
  }
  if (resends_ != nullptr) {
    best.packets = std::min(best.packets, packets_without_error());
    best.credited = std::min(best.credited, best.packets);
  }
  turn_left_ -= std::min(turn_left_, best.packets);
  bounded_ = contended;
  begin(lane, best, start);
}

/// Runs at the pace of slower links share the link as long as it can carry them all; that a packet may
/// find another one on the wire for part of a packet time is neglected.
bool LinkEngine::join_paced(Lane& lane, Time now) {
  if (resends_ != nullptr) return false;  // errors are found in the order of the packets on the wire
  if (preempts_ && lane.claims->level() != paced_.front()->claims->level()) return false;
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
    Lane* first = nullptr;
    for (const ClaimList* list : active_) {
      for (const Claim& claim : *list) {
        if (claim.age > now) break;
        if (claim.ready > now || claim.lane->paced) continue;
        if (first == nullptr || claim.lane->serial < first->serial) first = claim.lane;
      }
    }
    if (first == nullptr) return true;
    if (!join_paced(*first, now)) return false;
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
  set_present(nullptr);
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

/// When arbitration should look at the claim next.
inline Time LinkEngine::wish(const Claim& claim, const ClaimList& list, Time now, Rank& rank) {
  Time when = std::max(claim.ready, now);
  if (!paced_.empty() && claim.lane->paced && claim.lane->run.count > 0) {
    when = std::max(when, claim.lane->run_end);
  }
  if (when < free_at_ &&
      (!may_cut_for(list) || claim.lane == present_ || !outranks_present(claim, list, when, rank))) {
    when = free_at_;
  }
  if (!changes_over_ || special_->configured_level == Special::kNoLevel) return when;
  // While the feeding node changes over, only a class that goes before that one is of interest.
  if (list.level() >= special_->configured_level) when = std::max(when, special_->configured_at);
  return std::max(when, kept_until(list));
}

void LinkEngine::want_wake(const Lane& lane, Time now) {
  if (arbitrating_ || wake_.time() <= now) return;
  // Nobody but an answer comes before the end of a run that is not cut.
  if (!may_cut_for(*lane.claims) && wake_.time() <= free_at_ && !lane.owes_answer) return;
  Time when = lane.owes_answer ? std::max(lane.answer_at, now) : kNever;
  if (lane.standing == Standing::kClaims) {
    Rank rank;
    ClaimList& list = *lane.claims;
    when = std::min(when, wish(list[list.find(lane, lane.place)], list, now, rank));
  }
  if (when < wake_.time()) calendar_.schedule(wake_, when);
}

void LinkEngine::schedule_wake(Time now) {
  const bool cuttable = present_ != nullptr && now < free_at_ && (!bounded_ || (preempts_ && !fixed_));
  const Time earliest = cuttable ? now : std::max(free_at_, now);
  Rank rank;
  Time when = kNever;
  for (const Lane* lane : owing_) {
    if (lane->standing != Standing::kIdle) when = std::min(when, std::max(lane->answer_at, now));
  }
  for (const ClaimList* list : active_) {
    if (when <= earliest) break;
    const bool behind_present = cuttable && list == present_->claims;
    for (const Claim& claim : *list) {
      if (claim.age >= when) break;
      if (std::max(claim.ready, earliest) >= when) continue;
      // Most by far wait behind the present run, which goes before them.
      if (behind_present && when <= free_at_ && !goes_before_last(claim)) break;
      when = std::min(when, wish(claim, *list, now, rank));
    }
  }
  if (when == kNever) {
    calendar_.cancel(wake_);
  } else if (when != wake_.time()) {
    calendar_.schedule(wake_, when);
  }
}

}  // namespace wafervp
