// SPDX-License-Identifier: Apache-2.0
// Go-Back-N: a packet in error, what follows it in vain, and what is sent once more.
#include <algorithm>
#include <string>

#include "link/link_engine.h"
#include "link/resends.h"

namespace wafervp {

namespace {

/// By then the chance that the link is alive is nil: 10^-17 where 96 % of the packets are in error.
constexpr std::uint32_t kDeadAfter = 1000;

}  // namespace

void ResendsDeleter::operator()(Resends* resends) const { delete resends; }

void Resends::fire(Time now) { engine.go_back(now); }

void LinkEngine::make_resends() { resends_.reset(new Resends(*this, config())); }

SentSoFar LinkEngine::sent_so_far() const {
  SentSoFar sent = resends_->failed;
  for (const std::uint64_t packets : counts_.class_packets) sent.packets += packets;
  for (const std::uint64_t bytes : counts_.class_bytes) sent.bytes += bytes;
  sent.bytes += (sent.packets - resends_->failed.packets) * resends_->header_bytes;
  return sent;
}

/// Full packets that pass from now on before one is in error; the first one is known to pass.
std::uint64_t LinkEngine::packets_without_error() const {
  return std::max<std::uint64_t>(
      1, resends_->errors.clear(sent_so_far(), kPacketBytes + resends_->header_bytes));
}

/// Puts `bytes` on the wire that nobody keeps; returns when they are over.
Time LinkEngine::occupy(Time start, std::uint64_t bytes) {
  if (start != free_at_) {
    period_start_ = start;
    period_bytes_ = 0;
  }
  period_bytes_ += bytes;
  free_at_ = period_start_ + config_.rate.ps(period_bytes_);
  counts_.busy_ps += free_at_ - start;
  set_present(nullptr);
  turn_left_ -= std::min<std::uint64_t>(turn_left_, 1);
  return free_at_;
}

/// Sends one packet of the lane that was chosen if it is in error, follows one that is, or goes once more;
/// false if its next packet is a good one.
bool LinkEngine::send_in_vain(Lane& lane, Time start) {
  Resends& resends = *resends_;
  if (resends.control && &lane == &resends.control->lane) {
    put_control(start);
    return true;
  }
  const Resends::OfLane* known = resends.find(lane);
  if (known != nullptr && known->owed > 0) {
    occupy(start, kPacketBytes);
    ++resends.again_packets;
    resends.again_bytes += kPacketBytes;
    --resends.lanes[&lane].owed;
    refresh(lane);
    return true;
  }
  Time& dropped_until = resends.dropped_until[lane.traffic_class & 3u];
  const bool dropped = start < dropped_until;
  const std::uint64_t packet = lane.next + (known == nullptr ? 0 : known->in_vain);
  const RunSpan& arrival = *lane.arrivals.with(packet);
  const std::uint64_t bytes = packet + 1 == arrival.end() ? arrival.tail_bytes : kPacketBytes;
  if (!dropped) {
    const std::uint64_t on_wire = bytes + resends_->header_bytes;
    if (resends.errors.clear(sent_so_far(), on_wire) > 0) return false;
    ++resends.failed.packets;
    resends.failed.bytes += on_wire;
    resends.errors.pass(sent_so_far());
    if (++resends.in_a_row == kDeadAfter) {
      throw DeadLink(config_.id, "a packet was in error " + std::to_string(kDeadAfter) +
                                     " times, and none came through between them: this link is dead");
    }
  }
  const Time end = occupy(start, bytes);
  ++resends.again_packets;
  resends.again_bytes += bytes;
  Resends::OfLane& state = resends.lanes[&lane];
  ++state.in_vain;
  if (!dropped) {
    // The far end knows at the packet's tail, this end when it is told.
    const Time told = end + 2 * config_.latency + config_.rate.ps(kControlPacketBytes);
    dropped_until = told;
    if (resends.control) {
      resends.control->negative.push_back(end + config_.latency);
      schedule_control(end + config_.latency);
    }
    state.held_until = again_from_sources(lane, told);
    schedule_go_back(told);
    schedule_go_back(state.held_until);
  }
  refresh(lane);
  return true;
}

void LinkEngine::note_good_run(const Lane& lane) {
  resends_->in_a_row = 0;
  if (resends_->control) expect_acks(lane);
}

/// A switch keeps no sums: in an in-network flow all sources send again from the lane's next packet on. When
/// its head is back in this queue, if this link knows at `told`.
Time LinkEngine::again_from_sources(const Lane& lane, Time told) {
  if (lane.flow->group == 0 || lane.from_source) return told;
  Run run;
  run.flow = lane.flow;
  run.first = lane.next;
  run.hop = lane.hop;
  run.lane = lane.previous_lane;
  run.origin = told;
  FabricPhase phase = FabricPhase::kNack;
  lane.previous_place->nb_transport_bw(run, phase, no_delay_);
  return run.origin;
}

/// A link behind asks for packets from run.first on, at run.origin at its own place; run.origin becomes the
/// time when the first of them is there again.
void LinkEngine::on_nack(Lane& lane, Run& run) {
  if (resends_ == nullptr) make_resends();
  const Time told = run.origin + config_.latency + config_.rate.ps(kControlPacketBytes);
  Time again = told;
  if (!lane.from_source) {
    Run further = run;
    further.hop = lane.hop;
    further.lane = lane.previous_lane;
    further.origin = told;
    FabricPhase phase = FabricPhase::kNack;
    lane.previous_place->nb_transport_bw(further, phase, no_delay_);
    again = further.origin;
  }
  resends_->requests.push_back({again, &lane, run.first});
  schedule_go_back(again);
  run.origin = again + config_.latency;
}

void LinkEngine::schedule_go_back(Time when) {
  if (when < resends_->time()) calendar_.schedule(*resends_, when);
}

/// What was sent in vain goes again from now on, and what a link behind has asked for once more.
void LinkEngine::go_back(Time now) {
  Resends& resends = *resends_;
  Time next = kNever;
  const auto look_at = [&](Time when) {
    if (when > now) next = std::min(next, when);
  };
  for (const Time until : resends.dropped_until) look_at(until);
  auto& requests = resends.requests;
  for (const Resends::Request& request : requests) {
    look_at(request.at);
    if (request.at > now) continue;
    Lane& lane = *request.lane;
    const std::uint64_t begun = in_progress(lane, now) ? begun_end(lane.run, now) : lane.next;
    if (begun <= request.first) continue;
    Resends::OfLane& state = resends.lanes[&lane];
    state.owed += begun - request.first;
    state.owed_from = now;
    // What has not begun goes behind it.
    shorten(lane, begun);
  }
  requests.erase(std::remove_if(requests.begin(), requests.end(),
                                [now](const Resends::Request& request) { return request.at <= now; }),
                 requests.end());
  for (const auto& lane : lanes_) {
    const auto found = resends.lanes.find(lane.get());
    if (found == resends.lanes.end()) continue;
    Resends::OfLane& state = found->second;
    look_at(state.held_until);
    if (resends.dropped_until[lane->traffic_class & 3u] <= now) state.in_vain = 0;
    if (state.in_vain == 0 && state.owed == 0 && state.held_until <= now) resends.lanes.erase(found);
    refresh(*lane);
    want_wake(*lane, now);
  }
  if (next != kNever) calendar_.schedule(resends, next);
}

/// refresh() of a lane whose next packet is not what goes next; false if it is.
bool LinkEngine::refresh_resends(Lane& lane) {
  const Resends::OfLane* state = resends_->find(lane);
  if (state == nullptr) return false;
  const Time now = calendar_.now();
  if (lane.standing == Standing::kIdle) lane.serial = claimed_++;
  if (state->owed > 0) {
    claim(lane, state->owed_from, state->owed_from);
    return true;
  }
  const bool dropped = now < resends_->dropped_until[lane.traffic_class & 3u];
  if (!dropped && now >= state->held_until) return false;
  if (lane.arrivals.with(lane.next) == nullptr) {
    leave(lane);
    return true;
  }
  const std::uint64_t packet = lane.next + state->in_vain;
  const RunSpan* arrival = dropped ? lane.arrivals.with(packet) : nullptr;
  const Time credit = arrival == nullptr ? kNever : credit_of(lane, packet);
  if (credit == kNever) {
    block(lane);
    return true;
  }
  const std::uint64_t skip = packet - arrival->first;
  claim(lane, arrival->head(skip), std::max(arrival_of(*arrival, skip), credit));
  return true;
}

}  // namespace wafervp
