// SPDX-License-Identifier: Apache-2.0
#include "accelerator/matching.h"

#include <algorithm>

namespace wafervp {

void MatchTable::close_gap(std::size_t gap) {
  for (std::size_t at = (gap + 1) & mask_; index_[at].slot != kNone; at = (at + 1) & mask_) {
    const std::size_t home = index_[at].hash & mask_;
    // It may move to the gap unless its home lies behind the gap.
    if (((at - home) & mask_) < ((at - gap) & mask_)) continue;
    index_[gap] = index_[at];
    index_[at].slot = kNone;
    gap = at;
  }
}

void MatchTable::add_slots() {
  const std::size_t first = slots_.size();
  slots_.resize(first == 0 ? kFirstSlots : 2 * first);
  for (std::size_t i = slots_.size(); i-- > first;) {
    slots_[i].next = free_;
    free_ = static_cast<std::uint32_t>(i);
  }
}

void MatchTable::grow_index() {
  std::pmr::vector<Place> old(2 * index_.size(), Place(), index_.get_allocator());
  old.swap(index_);
  mask_ = index_.size() - 1;
  // From an empty place on, so that the order within a row of occupied places is kept where it wraps around.
  const std::size_t first = static_cast<std::size_t>(
      std::find_if(old.begin(), old.end(), [](const Place& place) { return place.slot == kNone; }) -
      old.begin());
  for (std::size_t i = 0; i < old.size(); ++i) {
    const Place& place = old[(first + i) & (old.size() - 1)];
    if (place.slot == kNone) continue;
    std::size_t at = place.hash & mask_;
    while (index_[at].slot != kNone) at = (at + 1) & mask_;
    index_[at] = place;
  }
}

}  // namespace wafervp
