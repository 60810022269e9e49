// SPDX-License-Identifier: Apache-2.0
#include "link/link_engine.h"

#include <algorithm>
#include <stdexcept>

#include "link/path_holds.h"
#include "link/resends.h"

namespace wafervp {

namespace {

bool is_plain(const LinkConfig& config) {
  const Preemption& preemption = config.preemption;
  return preemption.level == Preemption().level && preemption.reconfiguration == 0 && !config.go_back_n.on &&
         config.header_bytes == 0;
}

}  // namespace

LinkEngine::LinkEngine(const LinkConfig& config, Calendar& calendar, Arena& arena)
    : calendar_(calendar),
      config_(config),
      packet_ps_(config.rate.ps(kPacketBytes)),
      wake_(*this, config.id.value),
      preempts_(config.preemption.active()),
      changes_over_(preempts_ && config.preemption.reconfiguration != 0),
      arena_(arena) {
  if (config.buffer_packets == 0) throw std::invalid_argument("a link needs a buffer of one packet or more");
  if (!is_plain(config)) {
    special_ = std::make_unique<Special>();
    special_->preemption = config.preemption;
    special_->go_back_n = config.go_back_n;
    special_->header_bytes = config.header_bytes;
  }
  if (preempts_) {
    const auto& level = config.preemption.level;
    special_->turns.resize(*std::max_element(level.begin(), level.end()) + 1u);
    if (config.preemption.holders != nullptr) make_path_holds(config.preemption.holders);
  }
  if (config.go_back_n.on && (config.go_back_n.charged || config.go_back_n.errors.active())) make_resends();
}

LinkConfig LinkEngine::config() const {
  LinkConfig config;
  static_cast<LinkTiming&>(config) = config_;
  if (special_ == nullptr) return config;
  config.preemption = special_->preemption;
  config.go_back_n = special_->go_back_n;
  config.header_bytes = special_->header_bytes;
  return config;
}

void LinkEngine::bind(FabricFw& next, FabricBw& previous) {
  next_ = &next;
  previous_ = &previous;
}

Lane* LinkEngine::open(Flow& flow, std::uint16_t hop, unsigned input) {
  if (booked_at_ != nullptr) booked_at_->unbook(calendar_.now());
  Lane& lane = *lanes_.emplace_back(arena_.make<Lane>());
  lane.flow = &flow;
  lane.id = flow.id;
  lane.traffic_class = flow.traffic_class;
  lane.from_source = hop == 0 && flow.source.valid();
  lane.hop = hop;
  lane.input = static_cast<std::uint16_t>(input);
  const std::uint8_t level =
      special_ == nullptr ? std::uint8_t{0} : special_->preemption.level[flow.traffic_class & 3u];
  lane.claims = &claims_of(lane.input, level);
  if (waits_for_path(lane)) set_held(lane, Lane::kByPath, true);
  if (hop > 0) {
    FabricLink& feed = *flow.hops[hop - 1].link;
    lane.feed_buffer = feed.buffer_packets();
    lane.feed_round_trip = round_trip(feed);
    smallest_feed_ = smallest_feed_ == 0 ? lane.feed_buffer : std::min(smallest_feed_, lane.feed_buffer);
  }
  return &lane;
}

/// The list of claims of an input port and level; they are made at the first lane of both.
ClaimList& LinkEngine::claims_of(std::uint16_t input, std::uint8_t level) {
  const std::uint32_t key = ClaimList::key_of(input, level);
  const auto place = std::lower_bound(lists_.begin(), lists_.end(), key,
                                      [](const ClaimList* list, std::uint32_t k) { return list->key() < k; });
  if (place != lists_.end() && (*place)->key() == key) return **place;
  ClaimList* list = nullptr;
  if (lists_.size() < first_lists_.size()) {
    list = &first_lists_[lists_.size()];
    list->serve(input, level);
  } else {
    static_assert(std::is_trivially_destructible_v<ClaimList>);
    list = arena_.make<ClaimList>(input, level).release();
  }
  lists_.insert(place, list);
  return *list;
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
  lane.placed = true;
  node_latency_ = flow.hops[lane.hop].link->target().latency();
  if (lane.hop + 1u < flow.hops.size()) lane.next_lane = flow.hops[lane.hop + 1u].lane;
  if (lane.hop > 0) lane.previous_lane = flow.hops[lane.hop - 1u].lane;
  lane.needs_credit = !(flow.unlimited_sink && lane.hop + 1u == flow.hops.size());
}

tlm::tlm_sync_enum LinkEngine::nb_transport_fw(Run& run, FabricPhase& phase, sc_core::sc_time& delay) {
  if (only_ == nullptr) return take(run, phase, delay);
  return run.rate == nullptr ? book(run, phase, delay) : unbook_for_pace(run, phase, delay);
}

tlm::tlm_sync_enum LinkEngine::take(Run& run, FabricPhase& phase, sc_core::sc_time& delay) {
  Lane& lane = Lane::of(run, run.hop);
  if (!lane.placed) {
    set_places(lane);
    if (run.rate == nullptr) begin_booking(lane);
    if (only_ != nullptr) return book(run, phase, delay);
  }
  const Time now = calendar_.now();
  const bool appended = lane.arrivals.promise(run);
  if (run.count > 0) lane.arrivals.back().rate = own_copy(run.rate);
  const bool hopeful = run.hopeful && run.count > 0;
  const bool answer = hopeful || lane.owes_answer;
  if (answer) set_answer(lane, hopeful ? arrival_of(lane.arrivals.back(), 0) : kNever);
  if (!appended && lane.running && lane.run.end() > run.end()) {
    shorten(lane, run.end());
  } else if (!appended) {
    refresh(lane);
  } else if (!note_later_promise(lane) && !answer && !behind_present(lane, now)) {
    return tlm::TLM_ACCEPTED;
  }
  want_wake(lane, now);
  return tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum LinkEngine::nb_transport_bw(Run& run, FabricPhase& phase, sc_core::sc_time&) {
  Lane& lane = Lane::of(run, run.hop - 1u);
  const Time now = calendar_.now();
  if (phase == FabricPhase::kNack) {
    on_nack(lane, run);
    return tlm::TLM_ACCEPTED;
  }
  if (phase == FabricPhase::kStall) {
    if (lane.running && lane.run.end() > lane.covered) shorten(lane, lane.covered);
    want_wake(lane, now);
    return tlm::TLM_ACCEPTED;
  }
  const bool appended = lane.credits.promise(run);
  if (run.count > 0) {
    Credit& credit = lane.credits.back();
    credit.rate = own_copy(run.rate);
    credit.here = run.tail(run.count - 1) + config_.latency;
  }
  // A long run may get its credits in many small portions.
  constexpr std::size_t kManyCredits = 4;
  if (lane.credits.size() > kManyCredits) forget_spent_credits(lane, now);
  if (in_progress(lane, now)) {
    const Slots slots{lane.run.origin, lane.run.offset, lane.run.rate, lane.run.late};
    lane.covered = lane.run.first + credited_extent(lane, lane.run.first, slots, lane.run.count).packets;
    // Credits for packets before the run are no answer to it yet, and neither are hopeful ones.
    const bool answer = !run.hopeful && (!appended || run.end() > lane.run.first);
    if (answer && lane.covered < lane.run.end()) {
      shorten(lane, lane.covered);
      want_wake(lane, now);
      return tlm::TLM_ACCEPTED;
    }
  }
  if (lane.standing == Standing::kIdle) return tlm::TLM_ACCEPTED;
  if (!appended) {
    refresh(lane);
  } else if (!note_later_promise(lane) && !behind_present(lane, now)) {
    return tlm::TLM_ACCEPTED;
  }
  want_wake(lane, now);
  return tlm::TLM_ACCEPTED;
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
  if (lane.owes_answer && end >= lane.arrivals.back().end()) set_answer(lane, kNever);
  lane.paced = run.late > 0;
  if (lane.paced) {
    set_present(nullptr);
    paced_.push_back(&lane);
  } else {
    set_present(&lane);
    set_end_of(run, lane.run_end);
  }
  fixed_ = run.count <= 1;
  count(lane, start, 1);
  if (resends_ != nullptr) note_good_run(lane);
  lane.arrivals.forget_before(run.first);
  forget_spent_credits(lane, start);
  if (preempts_ && special_->path_holds != nullptr) look_at_ends(lane.run_end);
  refresh(lane);
  tell_next(lane);
  if (!lane.from_source || run.last) tell_previous(lane, FabricPhase::kCredit);
}

/// Whether a present run of the lane's port can be cut: who goes before it changes from packet to packet.
bool LinkEngine::behind_present(const Lane& lane, Time now) const {
  return !bounded_ && present_ != nullptr && now < free_at_ && present_->claims == lane.claims;
}

bool LinkEngine::in_progress(const Lane& lane, Time now) const {
  if (!lane.running || lane.run.count == 0) return false;
  return lane.paced ? now < lane.run_end : &lane == present_ && now < free_at_;
}

void LinkEngine::note_stall(const Lane& lane, Time start) {
  if (start <= free_at_ || !paced_.empty()) return;
  const RunSpan& arrival = *lane.arrivals.with(lane.next);
  const Time here = std::max(free_at_, arrival_of(arrival, lane.next - arrival.first));
  if (here < start && credit_of(lane, lane.next) > here) counts_.stalled_ps += start - here;
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
  const bool ended_message = run.last;
  const Time start = run.head(0);
  count(lane, start, ~std::uint64_t{0});
  const auto kept = static_cast<std::uint32_t>(end - run.first);
  run.shorten(kept);
  if (kept > 0) {
    lane.run_end = run.tail(kept - 1);
    count(lane, start, 1);
  }
  last_age_known_ = false;
  lane.next = end;
  lane.covered = std::min(lane.covered, end);
  lane.running = kept > 0;
  if (resends_ != nullptr && resends_->control) shorten_acks(lane);
  if (!lane.paced) set_end_of(run, kept > 0 ? lane.run_end : start);
  refresh(lane);
  tell_next(lane);
  if (!lane.from_source || ended_message) tell_previous(lane, FabricPhase::kCredit);
  if (!arbitrating_) schedule_wake(now);
}

/// Counts the lane's run, which begins at `start`, with `sign` 1, and back with -1.
void LinkEngine::count(const Lane& lane, Time start, std::uint64_t sign) {
  const RunSpan& run = lane.run;
  const std::uint64_t bytes = run.bytes(run.count);
  counts_.class_bytes[lane.traffic_class & 3u] += bytes * sign;
  counts_.class_packets[lane.traffic_class & 3u] += run.count * sign;
  counts_.runs += sign;
  // A paced run leaves gaps on the wire.
  counts_.busy_ps += (run.late == 0 ? lane.run_end - start : config_.rate.ps(bytes)) * sign;
}

void LinkEngine::set_present(Lane* lane) {
  present_ = lane;
  last_age_known_ = false;
}

/// The link is free after `run`. A busy period goes on over gapless runs, so that rounding does not add up.
void LinkEngine::set_end_of(const RunSpan& run, Time end) {
  free_at_ = end;
  const bool gapless = run.late == 0;
  period_start_ = gapless ? run.origin : free_at_;
  period_bytes_ = gapless ? run.offset + run.bytes(run.count) : 0;
}

void LinkEngine::tell_next(Lane& lane) {
  Run run;
  run.copy(lane.run);
  run.flow = lane.flow;
  run.origin += config_.latency;
  run.hop = static_cast<std::uint16_t>(lane.hop + 1);
  run.lane = lane.next_lane;
  run.hopeful = lane.run.end() > lane.covered;
  FabricPhase phase = FabricPhase::kHead;
  lane.next_place->nb_transport_fw(run, phase, no_delay_);
}

void LinkEngine::tell_previous(Lane& lane, FabricPhase phase) {
  // A source counts its messages only where it asked for that, and is told then of the runs that end one.
  if (lane.from_source && (lane.run.message == nullptr || !lane.run.message->windowed)) return;
  Run run;
  run.copy(lane.run);
  run.flow = lane.flow;
  run.hop = lane.hop;
  run.lane = lane.previous_lane;
  lane.previous_place->nb_transport_bw(run, phase, no_delay_);
}

LinkStatistics LinkEngine::statistics() const {
  LinkStatistics statistics;
  static_cast<LinkCounts&>(statistics) = counts_;
  if (booked_at_ != nullptr) {
    const Time now = calendar_.now();
    const Time when = now < behind_first_ ? 0 : now - behind_first_ + 1;
    booked_at_->add_booked(statistics, booked_at_->booked_.begun(config_.rate, when));
  }
  for (const std::uint64_t bytes : statistics.class_bytes) statistics.bytes += bytes;
  for (const std::uint64_t packets : statistics.class_packets) {
    statistics.packets += packets;
    if (special_ != nullptr && special_->go_back_n.on)
      statistics.ack_bytes += packets / kPacketsOfAck * kControlPacketBytes;
  }
  if (resends_ == nullptr) return statistics;
  statistics.errors = resends_->failed.packets;
  statistics.resent_packets = resends_->again_packets;
  statistics.resent_bytes = resends_->again_bytes;
  if (resends_->control) statistics.control_bytes = resends_->control->carried_bytes;
  return statistics;
}

std::uint64_t LinkEngine::queued_packets(Time now) const {
  std::uint64_t packets = only_ != nullptr ? booked_.waiting(config_.rate, now) : 0;
  for (const auto& open : lanes_) {
    const Lane& lane = *open;
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
