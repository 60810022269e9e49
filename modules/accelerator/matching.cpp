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
  const std::uint32_t first = slot_count_;
  slot_count_ = first == 0 ? kFirstSlots : 2 * first;
  slot_store_.resize(slot_count_);
  slots_ = slot_store_.data();
  for (std::uint32_t i = slot_count_; i-- > first;) {
    slots_[i].next = free_;
    free_ = i;
  }
}

void MatchTable::grow_index() {
  std::pmr::vector<Place> old(2 * index_store_.size(), Place(), index_store_.get_allocator());
  old.swap(index_store_);
  index_ = index_store_.data();
  mask_ = static_cast<std::uint32_t>(index_store_.size() - 1);
  // From an empty place on, so that the order within a row of occupied places is kept where it wraps around.
  const auto gap =
      std::find_if(old.begin(), old.end(), [](const Place& place) { return place.slot == kNone; });
  std::rotate(old.begin(), gap, old.end());
  for (const Place& place : old) {
    if (place.slot == kNone) continue;
    std::size_t at = place.hash & mask_;
    while (index_[at].slot != kNone) at = (at + 1) & mask_;
    index_[at] = place;
  }
}

}  // namespace wafervp
