// SPDX-License-Identifier: Apache-2.0
// What the promises of arrivals and credits allow: when a flow's next packets may leave this link, and
// how many in one run without a gap.
#include <algorithm>

#include "link/link_engine.h"

namespace wafervp {

namespace {

/// Rounding up to whole ps can put a packet of a gapless run this much before its predecessor's promise.
constexpr Time kRounding = 2;

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

/// Largest n <= count such that late(i) is false for all i < n; late() is monotone and late(0) is false.
template <class Late>
std::uint64_t first_late(std::uint64_t count, Late late) {
  std::uint64_t good = 0, step = 1;
  while (good + step < count && !late(good + step)) {
    good += step;
    step *= 2;
  }
  std::uint64_t bad = std::min(good + step, count);
  while (good + 1 < bad) {
    const std::uint64_t middle = (good + bad) / 2;
    (late(middle) ? bad : good) = middle;
  }
  return bad;
}

/// Moves slots that begin before `start` by up to `most`; false where they begin later or much earlier.
template <class Slots>
bool shift_to(Slots& slots, Time start, Time most) {
  const Time begin = slots.at(0);
  if (begin > start + kRounding) return false;
  if (begin + kRounding >= start) return true;
  if (start - begin > most) return false;
  slots.origin += start - begin;
  return true;
}

}  // namespace

LinkEngine::Slots LinkEngine::slots_from(Time start) const {
  if (start == free_at_) return {period_start_, period_bytes_, &config_.rate, 0};
  return {start, 0, &config_.rate, 0};
}

/// Virtual cut-through: a packet may leave when its head is here and this link cannot outrun its tail.
Time LinkEngine::arrival_of(const RunSpan& arrival, std::uint64_t i) const {
  if (arrival.rate == nullptr) return arrival.origin;
  const Time head = arrival.head(i);
  if (!(*arrival.rate < config_.rate)) return head;
  const Time tail = arrival.tail(i);
  const Time own = i + 1 == arrival.count ? config_.rate.ps(arrival.tail_bytes) : packet_ps_;
  return std::max(head, tail - std::min(own, tail));
}

/// The credit that packet `packet` needs comes back a latency after packet - buffer has left.
Time LinkEngine::credit_of(const Lane& lane, std::uint64_t packet) const {
  if (!lane.needs_credit || packet < lane.credit_base + config_.buffer_packets) return 0;
  const std::uint64_t freed = packet - config_.buffer_packets;
  const RunSpan* credit = lane.credits.with(freed);
  return credit == nullptr ? kNever : credit->tail(freed - credit->first) + config_.latency;
}

/// Packets from lane.next on, of one message, that can leave without a gap by what is promised; no more than
/// `limit`.
std::uint64_t LinkEngine::arrived_extent(const Lane& lane, const Slots& slots, std::uint64_t limit) const {
  std::uint64_t n = 0;
  for (std::size_t k = 0; n < limit && k < lane.arrivals.size(); ++k) {
    const RunSpan& run = lane.arrivals[k];
    if (run.end() <= lane.next + n) continue;
    const std::uint64_t skip = lane.next + n - run.first;
    const std::uint64_t rest = run.count - skip;
    if (n > 0 && arrival_of(run, skip) > slots.at(n) + kRounding) break;
    if (run.rate == nullptr || !(*run.rate < *slots.rate)) {
      n += rest;
    } else {
      const std::uint64_t base = n;
      const std::uint64_t fit = first_late(
          rest, [&](std::uint64_t i) { return arrival_of(run, skip + i) > slots.at(base + i) + kRounding; });
      n += fit;
      if (fit < rest) break;
    }
    if (run.last) break;
  }
  return std::min(n, limit);
}

LinkEngine::Extent LinkEngine::credited_extent(const Lane& lane, std::uint64_t first, const Slots& slots,
                                               std::uint64_t limit) const {
  if (!lane.needs_credit) return {limit, false};
  const std::uint64_t granted = lane.credit_base + config_.buffer_packets;
  std::uint64_t n = granted > first ? std::min(limit, granted - first) : 0;
  for (std::size_t k = 0; n < limit && k < lane.credits.size(); ++k) {
    const RunSpan& run = lane.credits[k];
    const std::uint64_t freed = first + n - config_.buffer_packets;
    if (run.end() <= freed) continue;
    const std::uint64_t skip = freed - run.first;
    const std::uint64_t rest = std::min<std::uint64_t>(run.count - skip, limit - n);
    const std::uint64_t base = n;
    const auto late = [&](std::uint64_t i) {
      return run.tail(skip + i) + config_.latency > slots.at(base + i) + kRounding;
    };
    if (late(0)) return {n, false};
    if (!(*run.rate < *slots.rate)) {
      n += rest;
    } else {
      const std::uint64_t fit = first_late(rest, late);
      n += fit;
      if (fit < rest) return {n, false};
    }
  }
  return {n, n < limit};
}

/// The longest run on `slots`. With `may_hope` it goes on beyond the known credits where the next hop will
/// have answered before they are spent.
LinkEngine::Plan LinkEngine::plan(const Lane& lane, const Slots& slots, std::uint64_t limit,
                                  bool may_hope) const {
  const std::uint64_t n = arrived_extent(lane, slots, limit);
  const Extent credit = credited_extent(lane, lane.next, slots, n);
  if (credit.packets < n) {
    const Time packet = slots.rate->ps(kPacketBytes);
    const bool hopeful = may_hope && credit.unknown_beyond &&
                         credit.packets * packet >= config_.latency + node_latency_ + packet;
    return {slots, hopeful ? n : credit.packets, credit.packets};
  }
  return {slots, n, credit.packets};
}

/// Packets come slower than the link sends: it forwards each as it comes, and leaves the gaps to others.
/// Being behind the arrivals by less than the spare buffer costs nothing but that time.
LinkEngine::Plan LinkEngine::paced_by_arrivals(const Lane& lane, Time start) const {
  const RunSpan& arrival = *lane.arrivals.with(lane.next);
  if (arrival.rate == nullptr || !(*arrival.rate < config_.rate)) return {};
  const std::uint64_t skip = lane.next - arrival.first;
  const Time spacing = arrival.rate->ps(kPacketBytes);
  Slots slots{arrival.origin, arrival.offset + skip * kPacketBytes, arrival.rate, spacing - packet_ps_};
  const std::uint64_t in_loop = divide_up(lane.feed_round_trip, spacing) + 1;
  const std::uint64_t spare =
      lane.feed_buffer == 0 ? 1 : lane.feed_buffer - std::min<std::uint64_t>(lane.feed_buffer, in_loop);
  if (!shift_to(slots, start, spare * spacing)) return {};
  return plan(lane, slots, arrival.count - skip, true);
}

/// The same where credits come slower: each packet leaves when its credit is here.
LinkEngine::Plan LinkEngine::paced_by_credits(const Lane& lane, Time start) const {
  if (!lane.needs_credit || lane.next < lane.credit_base + config_.buffer_packets) return {};
  const std::uint64_t freed = lane.next - config_.buffer_packets;
  const RunSpan* credit = lane.credits.with(freed);
  if (credit == nullptr || !(*credit->rate < config_.rate)) return {};
  const std::uint64_t skip = freed - credit->first;
  const Time spacing = credit->rate->ps(kPacketBytes);
  const Time late = spacing - packet_ps_;
  const Time origin = credit->origin + config_.latency;
  if (origin < late) return {};
  Slots slots{origin - late, credit->offset + (skip + 1) * kPacketBytes, credit->rate, late};
  const std::uint64_t in_loop = divide_up(round_trip_ps() + packet_ps_, spacing) + 1;
  const std::uint64_t spare =
      config_.buffer_packets - std::min<std::uint64_t>(config_.buffer_packets, in_loop);
  if (!shift_to(slots, start, spare * spacing)) return {};
  // A short last packet begins with its credit, not at the end of its slot: it goes by itself.
  const Message& message = *lane.arrivals.with(lane.next)->message;
  const std::uint64_t full = message.first_packet + message.bytes / kPacketBytes;
  if (full <= lane.next) return {};
  // Credits are hoped to go on at this pace, behind those that are promised.
  return plan(lane, slots, full - lane.next, true);
}

LinkEngine::Plan LinkEngine::paced(const Lane& lane, Time start) const {
  const Plan by_arrivals = paced_by_arrivals(lane, start);
  const Plan by_credits = paced_by_credits(lane, start);
  return by_credits.packets > by_arrivals.packets ? by_credits : by_arrivals;
}

/// Where packets or credits come slower than the link sends, waiting until a train leaves without gaps and
/// its last packet on time frees the gaps for others. It must not starve the side that waits for credit.
Time LinkEngine::gathered(const Lane& lane, const RunSpan& arrival, Time ready) const {
  if (!gathering_ || config_.packet_grain || !bounded_ || calendar_.now() >= free_at_) return ready;
  if (preempts_ && present_ != nullptr && present_->claims->level() != lane.claims->level()) return ready;
  if (preempts_ && is_held()) return ready;
  const std::uint64_t skip = lane.next - arrival.first;
  const std::uint64_t most = std::min<std::uint64_t>(config_.train_packets, arrival.count - skip);
  if (most < 2) return ready;
  if (arrival.rate != nullptr && *arrival.rate < config_.rate && lane.feed_buffer > 0) {
    // A train of m holds the buffer (m - 1) packets longer than cut-through would.
    const std::uint64_t in_loop = divide_up(lane.feed_round_trip, arrival.rate->ps(kPacketBytes));
    const std::uint64_t spare = lane.feed_buffer > in_loop ? lane.feed_buffer - in_loop : 1;
    const std::uint64_t m = std::min(most, spare);
    if (m > 1) ready = std::max(ready, arrival_of(arrival, skip + m - 1) - (m - 1) * packet_ps_);
  }
  if (!lane.needs_credit || lane.next < lane.credit_base + config_.buffer_packets) return ready;
  const std::uint64_t freed = lane.next - config_.buffer_packets;
  const RunSpan* credit = lane.credits.with(freed);
  if (credit == nullptr || !(*credit->rate < config_.rate)) return ready;
  const Time spacing = credit->rate->ps(kPacketBytes);
  const std::uint64_t in_loop = divide_up(round_trip_ps() + packet_ps_, spacing) + 1;
  if (config_.buffer_packets <= in_loop || spacing <= packet_ps_) return ready;
  const std::uint64_t slack = config_.buffer_packets - in_loop;
  std::uint64_t m = 1 + slack * spacing / (spacing - packet_ps_);
  m = std::min({m, most, credit->end() - freed});
  if (m < 2) return ready;
  const Time last = credit->tail(freed - credit->first + m - 1) + config_.latency;
  return std::max(ready, last - std::min(last, (m - 1) * packet_ps_));
}

/// A port's turn while another port is ready. A longer one than half a buffer would let the feeding link run
/// out of credits, and equal turns would become unequal shares; and a flow that comes slower than its share
/// may wait no longer than its buffer bridges.
std::uint64_t LinkEngine::turn_packets() const {
  if (config_.packet_grain || (preempts_ && is_held())) return 1;
  std::uint64_t turn = config_.train_packets;
  if (smallest_feed_ != 0) turn = std::min<std::uint64_t>(turn, smallest_feed_ / 2);
  if (bridging_) {
    for (const ClaimList* list : active_) {
      for (const Claim& claim : *list) turn = std::min<std::uint64_t>(turn, claim.longest_turn);
    }
    for (const Lane* lane : blocked_) turn = std::min<std::uint64_t>(turn, lane->longest_turn);
  }
  return std::max<std::uint64_t>(1, turn);
}

/// Packets that others may take in one turn while the flow's buffer bridges it: all but where it comes slower
/// than half of the link's rate.
std::uint32_t LinkEngine::bridged_turn(const Lane& lane, const RunSpan& arrival) const {
  if (lane.feed_buffer == 0 || config_.rate.bytes_per_s() < 2 * arrival.rate->bytes_per_s()) return ~0u;
  const Time spacing = arrival.rate->ps(kPacketBytes);
  const std::uint64_t in_loop = divide_up(lane.feed_round_trip, spacing) + 1;
  const std::uint64_t spare = lane.feed_buffer > in_loop ? lane.feed_buffer - in_loop : 0;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(1 + spare * spacing / packet_ps_, ~0u));
}

/// Packets that the present run keeps when port `claimant` is ready: as many as it had in the turn before, or
/// a port that gathers trains would take four packets for each one of the other port.
std::uint64_t LinkEngine::least_turn(unsigned claimant) const {
  if (claimant == present_->input || claimant != last_port_) return 1;
  const std::uint64_t turn = std::min(turn_packets(), last_turn_);
  return turn > turn_before_ + 1 ? turn - turn_before_ : 1;
}

/// End of the packets of `run` that have begun before `now`.
std::uint64_t LinkEngine::begun_end(const RunSpan& run, Time now) const {
  if (run.head(0) >= now) return run.first;
  const std::uint64_t bytes = run.rate->bytes(now - run.origin);
  std::uint64_t i = bytes > run.offset ? (bytes - run.offset) / kPacketBytes : 0;
  while (i < run.count && run.head(i) < now) ++i;
  while (i > 0 && run.head(i - 1) >= now) --i;
  return run.first + std::min<std::uint64_t>(i, run.count);
}

/// A run goes no further than to the head of the next older packet of its own port.
std::uint64_t LinkEngine::before_older(const Claim& chosen, const ClaimList& list, Time now,
                                       std::uint64_t limit) const {
  if (limit < 2) return limit;
  Time oldest = kNever;
  // Those that are older than the chosen one are not ready.
  for (const Claim* claim = &chosen + 1; claim != list.end(); ++claim) {
    if (claim->age > now) break;
    if (claim->ready > now) continue;
    oldest = claim->age;
    break;
  }
  if (oldest == kNever) return limit;
  const std::uint64_t next = chosen.lane->next;
  const RunSpan* run = chosen.lane->arrivals.with(next);
  // None where packets go once more.
  if (run == nullptr || run->rate == nullptr) return limit;
  const std::uint64_t most = std::min(limit, run->end() - next);
  return first_late(most, [&](std::uint64_t i) { return run->head(next + i - run->first) > oldest; });
}

/// Neighbours mostly have equal rates. The own one is at hand when the times of a run are looked at.
const Rate* LinkEngine::own_copy(const Rate* rate) {
  if (rate == nullptr) return rate;
  if (*rate == config_.rate) return &config_.rate;
  gathering_ = gathering_ || *rate < config_.rate;
  return rate;
}

/// refresh() after arrivals or credits were added behind those that were known. That says nothing new of a
/// lane for which it is known when it is ready, but where it depends on the present time whether it gathers.
/// False if so.
bool LinkEngine::note_later_promise(Lane& lane) {
  if (gathering_ || lane.standing == Standing::kIdle || resends_ != nullptr) {
    refresh(lane);
    return true;
  }
  if (lane.standing == Standing::kClaims || (holding_ && lane.held != 0)) return false;
  // The arrival is as it was when the lane was blocked.
  const Time credit = credit_of(lane, lane.next);
  if (credit == kNever) return false;
  claim(lane, lane.age, std::max(lane.age, credit));
  return true;
}

/// To be called when the lane's arrivals, credits or runs have changed.
void LinkEngine::refresh(Lane& lane) {
  if (holding_ && lane.held != 0) return park(lane);
  if (resends_ != nullptr && refresh_resends(lane)) return;
  const RunSpan* arrival = lane.arrivals.with(lane.next);
  if (arrival == nullptr) {
    leave(lane);
    return;
  }
  if (lane.standing == Standing::kIdle) lane.serial = claimed_++;
  if (lane.feed_buffer != 0 && arrival->rate != lane.turn_rate) {
    lane.turn_rate = arrival->rate;
    lane.longest_turn = bridged_turn(lane, *arrival);
    bridging_ = bridging_ || lane.longest_turn != ~0u;
  }
  const std::uint64_t skip = lane.next - arrival->first;
  const Time age = arrival->head(skip);
  const Time credit = credit_of(lane, lane.next);
  if (credit == kNever) {
    lane.age = age;
    block(lane);
    return;
  }
  const bool slower = arrival->rate != nullptr && *arrival->rate < config_.rate;
  const Time here = slower ? arrival_of(*arrival, skip) : age;
  claim(lane, age, gathered(lane, *arrival, std::max(here, credit)));
}

/// What a held lane has waits as if it had no credit.
void LinkEngine::park(Lane& lane) {
  const RunSpan* arrival = lane.arrivals.with(lane.next);
  if (arrival == nullptr) return leave(lane);
  if (lane.standing == Standing::kIdle) lane.serial = claimed_++;
  lane.age = arrival->head(lane.next - arrival->first);
  block(lane);
}

/// The lane claims the link for packets of this age, from `ready` on.
void LinkEngine::claim(Lane& lane, Time age, Time ready) {
  ClaimList& list = *lane.claims;
  const Claim claim{age, ready, &lane, lane.id, lane.longest_turn};
  if (lane.standing == Standing::kClaims) {
    lane.place = list.move(claim, list.find(lane, lane.place));
    return;
  }
  leave(lane);
  lane.standing = Standing::kClaims;
  if (list.size() == 0) {
    auto place = active_.end();
    while (place != active_.begin() && list.key() < place[-1]->key()) --place;
    active_.insert(place, &list);
  }
  lane.place = list.insert(claim, arena_);
}

void LinkEngine::block(Lane& lane) {
  if (lane.standing == Standing::kBlocked) return;
  leave(lane);
  lane.standing = Standing::kBlocked;
  lane.place = static_cast<std::uint32_t>(blocked_.size());
  blocked_.push_back(&lane);
}

/// The lane neither claims nor is blocked any more.
void LinkEngine::leave(Lane& lane) {
  if (lane.standing == Standing::kClaims) {
    ClaimList& list = *lane.claims;
    list.erase(list.find(lane, lane.place));
    if (list.size() == 0) active_.erase(std::find(active_.begin(), active_.end(), &list));
  } else if (lane.standing == Standing::kBlocked) {
    blocked_.back()->place = lane.place;
    blocked_[lane.place] = blocked_.back();
    blocked_.pop_back();
  }
  lane.standing = Standing::kIdle;
}

/// kNever: nothing to answer.
void LinkEngine::set_answer(Lane& lane, Time when) {
  const bool owes = when != kNever;
  if (owes && !lane.owes_answer) owing_.push_back(&lane);
  if (!owes && lane.owes_answer) owing_.erase(std::find(owing_.begin(), owing_.end(), &lane));
  lane.answer_at = when;
  lane.owes_answer = owes;
}

void LinkEngine::forget_spent_credits(Lane& lane, Time now) {
  while (!lane.credits.empty() && lane.credits.front().here <= now) {
    lane.credit_base = lane.credits.front().end();
    lane.credits.pop_front();
  }
}

}  // namespace wafervp
