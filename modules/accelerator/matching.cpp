// SPDX-License-Identifier: Apache-2.0
#include "accelerator/matching.h"

namespace wafervp {

void MatchTable::append(std::uint32_t index) {
  std::uint32_t* link = &buckets_[bucket_of(slots_[index].from, slots_[index].tag)];
  while (*link != kNone) link = &slots_[*link].next;
  slots_[index].next = kNone;
  *link = index;
}

MatchTable::Slot& MatchTable::insert_slowly(std::uint32_t from, std::uint64_t tag, State state) {
  if (unmatched_ >= buckets_.size()) {
    // Slots of one key share a chain before and after, so that walking chain by chain keeps their order.
    const auto old = buckets_;
    buckets_.assign(2 * old.size(), kNone);
    --shift_;
    for (std::uint32_t index : old) {
      while (index != kNone) {
        const std::uint32_t next = slots_[index].next;
        append(index);
        index = next;
      }
    }
  }
  if (free_ == kNone) {
    const std::size_t first = slots_.size();
    slots_.resize(first == 0 ? kFirstSlots : 2 * first);
    for (std::size_t i = slots_.size(); i-- > first;) {
      slots_[i].next = free_;
      free_ = static_cast<std::uint32_t>(i);
    }
  }
  const std::uint32_t index = free_;
  free_ = slots_[index].next;
  Slot& slot = fill(index, from, tag, state);
  append(index);
  return slot;
}

}  // namespace wafervp
