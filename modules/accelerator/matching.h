// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "core/arena.h"
#include "core/flow.h"
#include "core/prefetch.h"

namespace wafervp {

/// Expectations and received messages, matched by (from, tag). An index of hash values, probed one by one,
/// says which slot to look at, so that a match reads one slot and mostly one line of the index. Of equal
/// pairs the oldest goes first. A slot outlives its match: it is the staged message until a COMBINE part
/// frees it.
class MatchTable {
 public:
  enum class State : std::uint8_t {
    kFree,
    kArmed,     ///< an EXPECT part waits for its message
    kReceived,  ///< a message waits for its EXPECT part
    kStaged,    ///< matched, not yet combined
  };

  struct alignas(64) Slot {
    std::uint64_t tag = 0;
    std::uint64_t bytes = 0;  ///< expected while armed, then those of the message
    std::uint32_t from = 0;
    std::uint32_t next = kNone;  ///< in the free list
    std::uint32_t cookie = 0;
    State state = State::kFree;
    std::uint8_t dtype = 0;
    Bytes data;
  };

  explicit MatchTable(Arena& arena)
      : index_store_(kFirstPlaces, Place(), &arena.memory()), slot_store_(&arena.memory()) {
    index_ = index_store_.data();
  }
  MatchTable(const MatchTable&) = delete;
  MatchTable& operator=(const MatchTable&) = delete;

  /// Takes the oldest slot of (from, tag) in state `wanted` out of the index; null if there is none.
  Slot* take(std::uint32_t from, std::uint64_t tag, State wanted) {
    if (unmatched_ == 0) return nullptr;
    const std::uint32_t hash = hash_of(from, tag);
    for (std::size_t at = hash & mask_; index_[at].slot != kNone; at = (at + 1) & mask_) {
      if (index_[at].hash != hash) continue;
      Slot& slot = slots_[index_[at].slot];
      if (slot.tag != tag || slot.from != from || slot.state != wanted) continue;
      remove(at);
      --unmatched_;
      return &slot;
    }
    return nullptr;
  }
  /// Whether take() would find a slot.
  bool holds(std::uint32_t from, std::uint64_t tag, State state) const {
    const std::uint32_t hash = hash_of(from, tag);
    for (std::size_t at = hash & mask_; index_[at].slot != kNone; at = (at + 1) & mask_) {
      if (index_[at].hash != hash) continue;
      const Slot& slot = slots_[index_[at].slot];
      if (slot.tag == tag && slot.from == from && slot.state == state) return true;
    }
    return false;
  }
  /// A new slot in state kArmed or kReceived, which is put into the index, or kStaged, which is not.
  Slot& insert(std::uint32_t from, std::uint64_t tag, State state) {
    if (free_ == kNone) add_slots();
    const std::uint32_t number = free_;
    Slot& slot = slots_[number];
    free_ = slot.next;
    ++used_;
    slot.from = from;
    slot.tag = tag;
    slot.state = state;
    if (state != State::kStaged) put(hash_of(from, tag), number);
    return slot;
  }

  static std::uint32_t hash_of(std::uint32_t from, std::uint64_t tag) {
    return static_cast<std::uint32_t>(((tag ^ (std::uint64_t{from} << 40)) * 0x9e3779b97f4a7c15ull) >> 32);
  }
  /// A match comes soon: asks for its place in the index.
  void prepare(std::uint32_t hash) const { prefetch(&index_[hash & mask_], sizeof(Place)); }
  /// Of the expectation that will be matched, mostly.
  std::uint32_t likely_cookie(std::uint32_t hash) const {
    const std::uint32_t number = index_[hash & mask_].slot;
    return number != kNone ? slots_[number].cookie : 0;
  }

  /// The staged message with this handle; null if there is none.
  Slot* staged(std::uint32_t handle) {
    return handle < slot_count_ && slots_[handle].state == State::kStaged ? &slots_[handle] : nullptr;
  }
  std::uint32_t handle_of(const Slot& slot) const { return static_cast<std::uint32_t>(&slot - slots_); }
  void free(Slot& slot) {
    if (slot.data) drop_values(slot.data);
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
  static constexpr std::uint32_t kNone = 0xffffffffu;
  static constexpr std::uint32_t kFirstPlaces = 8;  // a cache line
  static constexpr std::uint32_t kFirstSlots = 2;

  struct Place {
    std::uint32_t hash = 0;
    std::uint32_t slot = kNone;
  };

  void put(std::uint32_t hash, std::uint32_t number) {
    std::size_t at = hash & mask_;
    while (index_[at].slot != kNone) at = (at + 1) & mask_;
    index_[at] = {hash, number};
    ++unmatched_;
    if (2 * unmatched_ > mask_) grow_index();
  }
  /// Places behind that were passed over because of this one move up, the oldest of a pair first.
  void remove(std::size_t at) {
    const std::size_t next = (at + 1) & mask_;
    index_[at].slot = kNone;
    if (index_[next].slot != kNone) close_gap(at);
  }
  void close_gap(std::size_t gap);
  void add_slots();
  void grow_index();

  // In the order of use; the stores own what the pointers before them lead to.
  std::uint32_t unmatched_ = 0;
  std::uint32_t mask_ = kFirstPlaces - 1;
  Place* index_;
  Slot* slots_ = nullptr;
  std::uint32_t slot_count_ = 0;
  std::uint32_t free_ = kNone;
  std::uint32_t used_ = 0;
  std::pmr::vector<Place> index_store_;
  std::pmr::vector<Slot> slot_store_;
};

}  // namespace wafervp
