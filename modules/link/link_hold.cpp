// SPDX-License-Identifier: Apache-2.0
// Flows that are held back: by their source, and by operations that have a link on their way for themselves.
#include <algorithm>

#include "link/link_engine.h"
#include "link/path_holds.h"

namespace wafervp {

void PathHoldsDeleter::operator()(PathHolds* holds) const { delete holds; }

void PathHolds::fire(Time now) { engine.take_notices(now); }

void LinkEngine::hold_flow(Lane& lane, bool back) {
  const Time now = calendar_.now();
  if (booked_at_ != nullptr) booked_at_->unbook(now);
  set_held(lane, Lane::kBySource, back);
  schedule_wake(now);
}

void LinkEngine::hold_path(std::uint8_t traffic_class, bool begins, Time from) {
  if (!preempts_) return;
  auto& holds = special_->path_holds;
  if (holds == nullptr) holds.reset(new PathHolds(*this, special_->turns.size(), config_.id.value));
  holds->notices.push_back({from, special_->preemption.level[traffic_class & 3u], begins});
  if (from < holds->time()) calendar_.schedule(*holds, from);
}

void LinkEngine::take_notices(Time now) {
  PathHolds& holds = *special_->path_holds;
  Time next = kNever;
  const auto known = [&](const PathHolds::Notice& notice) {
    next = notice.at > now ? std::min(next, notice.at) : next;
    if (notice.at <= now) holds.holders[notice.level] += notice.begins ? 1 : -1;
    return notice.at <= now;
  };
  holds.notices.erase(std::remove_if(holds.notices.begin(), holds.notices.end(), known), holds.notices.end());
  if (next != kNever) calendar_.schedule(holds, next);

  const auto first = std::find_if(holds.holders.begin(), holds.holders.end(), [](int n) { return n > 0; });
  const unsigned above = first == holds.holders.end() ? PathHolds::kNoLevel
                                                      : static_cast<unsigned>(first - holds.holders.begin());
  if (above == holds.above) return;
  if (above < holds.above) {
    holds.interrupted[above] = special_->configured_level;
  } else if (changes_over_) {
    change_back(holds.interrupted[holds.above], now);
  }
  holds.above = above;
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
