// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>

#include "core/flow.h"
#include "core/prefetch.h"

namespace wafervp {

/// Expectations and received messages, matched by (from, tag): a chained hash table over a slab, so that
/// a match costs one bucket and mostly one slot; small tables lie inside the object, next to each other. Of
/// equal pairs the oldest goes first. A slot outlives its match: it is the staged message until a COMBINE
/// part frees it.
class alignas(64) MatchTable {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffu;

  enum class State : std::uint8_t {
    kFree,
    kArmed,     ///< an EXPECT part waits for its message
    kReceived,  ///< a message waits for its EXPECT part
    kStaged,    ///< matched, not yet combined
  };

  struct Slot {
    std::uint64_t tag = 0;
    std::uint64_t bytes = 0;  ///< expected while armed, then those of the message
    std::uint32_t from = 0;
    std::uint32_t next = kNone;  ///< in the bucket's chain, or in the free list
    std::uint32_t cookie = 0;
    State state = State::kFree;
    std::uint8_t dtype = 0;
    Bytes data;
  };

  MatchTable() : buckets_(kFirstBuckets, kNone) {}

  /// Takes the oldest slot of (from, tag) in state `wanted` out of the table and returns it; where there
  /// is none, a new slot in state `otherwise` is put in. `matched` says which of the two happened.
  Slot& match_or_insert(std::uint32_t from, std::uint64_t tag, State wanted, State otherwise, bool& matched) {
    std::uint32_t* link = &buckets_[bucket_of(from, tag)];
    while (*link != kNone) {
      Slot& slot = slots_[*link];
      if (slot.tag == tag && slot.from == from && slot.state == wanted) {
        *link = slot.next;
        --unmatched_;
        matched = true;
        return slot;
      }
      link = &slot.next;
    }
    matched = false;
    if (unmatched_ >= buckets_.size() || free_ == kNone) return insert_slowly(from, tag, otherwise);
    const std::uint32_t index = free_;
    free_ = slots_[index].next;
    *link = index;
    return fill(index, from, tag, otherwise);
  }

  // A match of (from, tag) comes soon: these go before it, in this order.
  void prepare_bucket(std::uint32_t from, std::uint64_t tag) const {
    prefetch(&buckets_[bucket_of(from, tag)], sizeof(std::uint32_t));
  }
  void prepare_slot(std::uint32_t from, std::uint64_t tag) const {
    const std::uint32_t index = buckets_[bucket_of(from, tag)];
    if (index != kNone) prefetch(&slots_[index], sizeof(Slot));
  }
  /// Of the expectation that will be matched, mostly.
  std::uint32_t likely_cookie(std::uint32_t from, std::uint64_t tag) const {
    const std::uint32_t index = buckets_[bucket_of(from, tag)];
    return index != kNone ? slots_[index].cookie : 0;
  }

  /// The staged message with this handle; null if there is none.
  Slot* staged(std::uint32_t handle) {
    return handle < slots_.size() && slots_[handle].state == State::kStaged ? &slots_[handle] : nullptr;
  }
  std::uint32_t handle_of(const Slot& slot) const {
    return static_cast<std::uint32_t>(&slot - slots_.data());
  }
  void free(Slot& slot) {
    if (slot.data) slot.data.reset();
    slot.state = State::kFree;
    slot.next = free_;
    free_ = handle_of(slot);
    --used_;
  }

  /// Armed expectations and received messages without a partner.
  std::size_t unmatched() const { return unmatched_; }
  /// Those and the staged messages.
  std::size_t used() const { return used_; }

 private:
  static constexpr std::size_t kFirstBuckets = 4;
  static constexpr std::size_t kFirstSlots = 4;

  std::size_t bucket_of(std::uint32_t from, std::uint64_t tag) const {
    const std::uint64_t mixed = (tag ^ (from * 0xd6e8feb86659fd93ull)) * 0x9e3779b97f4a7c15ull;
    return static_cast<std::size_t>(mixed >> shift_);
  }
  Slot& fill(std::uint32_t index, std::uint32_t from, std::uint64_t tag, State state) {
    Slot& slot = slots_[index];
    slot.from = from;
    slot.tag = tag;
    slot.state = state;
    slot.next = kNone;
    ++unmatched_;
    ++used_;
    return slot;
  }
  Slot& insert_slowly(std::uint32_t from, std::uint64_t tag, State state);
  void append(std::uint32_t index);

  std::uint32_t unmatched_ = 0;
  std::uint32_t used_ = 0;
  std::uint32_t free_ = kNone;
  std::uint32_t shift_ = 62;  ///< 64 - log2(buckets)
  boost::container::small_vector<std::uint32_t, kFirstBuckets> buckets_;
  boost::container::small_vector<Slot, kFirstSlots> slots_;
};

}  // namespace wafervp
