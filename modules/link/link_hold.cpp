// SPDX-License-Identifier: Apache-2.0
// Flows that are held back: by their source, and by operations that have a link on their way for themselves.
#include <algorithm>

#include "link/link_engine.h"
#include "link/path_holds.h"

namespace wafervp {

void PathHoldsDeleter::operator()(PathHolds* holds) const { delete holds; }

void PathHolds::fire(Time now) { engine.take_notices(now); }

void PathHolders::tell(Time now) {
  const auto first = std::find_if(flows_.begin(), flows_.end(), [](int flows) { return flows > 0; });
  const unsigned above = first == flows_.end() ? kNoLevel : static_cast<unsigned>(first - flows_.begin());
  if (above == above_) return;
  above_ = above;
  for (LinkEngine* link : links_) link->hold_above(above, now);
}

void LinkEngine::hold_flow(Lane& lane, bool back) {
  const Time now = calendar_.now();
  if (booked_at_ != nullptr) booked_at_->unbook(now);
  set_held(lane, Lane::kBySource, back);
  schedule_wake(now);
}

void LinkEngine::make_path_holds(const std::shared_ptr<PathHolders>& holders) {
  special_->path_holds.reset(new PathHolds(*this, holders, special_->turns.size(), config_.id.value));
}

void LinkEngine::begin_path(std::uint8_t traffic_class, Time from) {
  if (!preempts_) return;
  if (special_->path_holds == nullptr) make_path_holds(std::make_shared<PathHolders>());
  PathHolds* holds = special_->path_holds.get();
  holds->begins.push_back({from, special_->preemption.level[traffic_class & 3u]});
  if (from < holds->time()) calendar_.schedule(*holds, from);
}

void LinkEngine::end_path(const Lane& lane, std::uint64_t end_packet) {
  if (!preempts_) return;
  special_->path_holds->ends.push_back({&lane, end_packet});
  look_at_ends(calendar_.now());
}

/// A run is promised, or its end is to be looked at.
void LinkEngine::look_at_ends(Time when) {
  PathHolds& holds = *special_->path_holds;
  if (!holds.ends.empty() && when < holds.time()) calendar_.schedule(holds, when);
}

/// When the lane's packets below `end_packet` have left, as far as that is known.
Time LinkEngine::passed_at(const Lane& lane, std::uint64_t end_packet) const {
  if (booked_at_ != nullptr) return 0;  // no other flow has come this way
  if (lane.next < end_packet) return kNever;
  return in_progress(lane, calendar_.now()) && lane.run.first < end_packet ? lane.run_end : 0;
}

void LinkEngine::take_notices(Time now) {
  PathHolds& holds = *special_->path_holds;
  Time next = kNever;
  const auto known = [&](const PathHolds::Begin& begin) {
    next = begin.at > now ? std::min(next, begin.at) : next;
    if (begin.at <= now) holds.holders->add(begin.level, 1);
    return begin.at <= now;
  };
  const auto passed = [&](const PathHolds::End& end) {
    const Time at = passed_at(*end.lane, end.end_packet);
    next = at > now ? std::min(next, at) : next;
    if (at <= now) holds.holders->add(end.lane->claims->level(), -1);
    return at <= now;
  };
  holds.begins.erase(std::remove_if(holds.begins.begin(), holds.begins.end(), known), holds.begins.end());
  holds.ends.erase(std::remove_if(holds.ends.begin(), holds.ends.end(), passed), holds.ends.end());
  if (next != kNever) calendar_.schedule(holds, next);
  holds.holders->tell(now);
}

/// Levels above `level` wait from now on.
void LinkEngine::hold_above(unsigned level, Time now) {
  PathHolds& holds = *special_->path_holds;
  if (level < holds.above) {
    holds.interrupted[level] = special_->configured_level;
  } else if (changes_over_) {
    change_back(holds.interrupted[holds.above], now);
  }
  holds.above = level;
  if (booked_at_ != nullptr && waits_for_path(*lanes_.front())) booked_at_->unbook(now);
  for (const auto& lane : lanes_) set_held(*lane, Lane::kByPath, waits_for_path(*lane));
  schedule_wake(now);
}

/// The feeding node goes back to the class that was held, before a packet of it is here.
void LinkEngine::change_back(unsigned level, Time now) {
  Special& special = *special_;
  constexpr unsigned kNoLevel = Special::kNoLevel;
  if (level == kNoLevel || special.configured_level == kNoLevel || level <= special.configured_level) return;
  special.configured_level = level;
  special.configured_at = std::max(now, free_at_) + special.preemption.reconfiguration;
}

bool LinkEngine::waits_for_path(const Lane& lane) const {
  if (special_ == nullptr || special_->path_holds == nullptr) return false;
  return lane.claims->level() > special_->path_holds->above;
}

/// An operation has the link for itself.
bool LinkEngine::is_held() const {
  return special_->path_holds != nullptr && special_->path_holds->above != PathHolds::kNoLevel;
}

/// For `why`: parks the lane at the next packet boundary, or lets it go.
void LinkEngine::set_held(Lane& lane, std::uint8_t why, bool back) {
  holding_ = holding_ || back;
  const bool before = lane.held != 0;
  lane.held = static_cast<std::uint8_t>(back ? lane.held | why : lane.held & ~why);
  if ((lane.held != 0) == before) return;
  constexpr std::uint64_t kAllPackets = ~std::uint64_t{0};
  shorten(lane, back ? 0 : kAllPackets);
}

}  // namespace wafervp
