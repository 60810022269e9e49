// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace perf_loop {

using Time = std::uint64_t;  ///< ps
inline constexpr Time kNever = ~Time{0};

/// Order of work at one time, as in the product: arrivals, completions, arbitration.
enum Stage : std::uint8_t { kArrival = 0, kCompletion = 1, kArbitration = 2 };
inline constexpr std::size_t kStages = 3;

/// An intrusive event: in the calendar at most once.
struct Event {
  Event* prev = nullptr;
  Event* next = nullptr;
  Time time = kNever;
  std::uint32_t bucket = 0;
  Stage stage = kArrival;
};

/// 4-ary heap of distinct times, each with a list per stage; a lossy cache finds a time's bucket.
class Calendar {
 public:
  Calendar() : cache_(kCacheSlots) {}

  Time now() const { return now_; }
  std::uint64_t executed() const { return executed_; }

  void schedule(Event& event, Time when) {
    if (event.time != kNever) unlink(event);
    event.time = when;
    const std::uint32_t index = bucket_at(when);
    Bucket& bucket = buckets_[index];
    List& list = bucket.lists[event.stage];
    event.bucket = index;
    event.prev = list.tail;
    event.next = nullptr;
    (list.tail ? list.tail->next : list.head) = &event;
    list.tail = &event;
  }

  /// Calls handler(event) for each event in order until none is left.
  template <class Handler>
  void run(Handler&& handler) {
    while (!heap_.empty()) {
      const Item item = heap_.front();
      now_ = item.time;
      // A handler may add to this bucket, at any stage, and may move the buckets.
      std::size_t stage = 0;
      while (stage < kStages) {
        Event* event = buckets_[item.bucket].lists[stage].head;
        if (!event) {
          ++stage;
          continue;
        }
        unlink(*event);
        event->time = kNever;
        ++executed_;
        handler(*event);
        if (stage > 0 && buckets_[item.bucket].lists[0].head) stage = 0;
      }
      Slot& slot = cache_[slot_of(item.time)];
      if (slot.bucket == item.bucket && slot.time == item.time) slot.time = kNever;
      free_.push_back(item.bucket);
      pop();
    }
  }

 private:
  struct List {
    Event* head = nullptr;
    Event* tail = nullptr;
  };
  struct Bucket {
    std::array<List, kStages> lists;
  };
  struct Item {
    Time time;
    std::uint32_t bucket;
    std::uint32_t order;
  };
  struct Slot {
    Time time = kNever;
    std::uint32_t bucket = 0;
  };
  static constexpr std::size_t kCacheSlots = 4096;

  static std::size_t slot_of(Time when) { return (when * 0x9e3779b97f4a7c15u) >> 52; }
  /// Two buckets of one time (after a loss in the cache) keep the order in which they were made.
  static bool before(const Item& a, const Item& b) {
    return a.time != b.time ? a.time < b.time : static_cast<std::int32_t>(a.order - b.order) < 0;
  }

  std::uint32_t bucket_at(Time when) {
    Slot& slot = cache_[slot_of(when)];
    if (slot.time == when) return slot.bucket;
    std::uint32_t index;
    if (free_.empty()) {
      index = static_cast<std::uint32_t>(buckets_.size());
      buckets_.emplace_back();
    } else {
      index = free_.back();
      free_.pop_back();
    }
    slot = Slot{when, index};
    push(Item{when, index, made_++});
    return index;
  }

  void unlink(Event& event) {
    List& list = buckets_[event.bucket].lists[event.stage];
    (event.prev ? event.prev->next : list.head) = event.next;
    (event.next ? event.next->prev : list.tail) = event.prev;
  }

  void push(Item item) {
    std::size_t at = heap_.size();
    heap_.push_back(item);
    while (at > 0) {
      const std::size_t parent = (at - 1) / 4;
      if (!before(item, heap_[parent])) break;
      heap_[at] = heap_[parent];
      at = parent;
    }
    heap_[at] = item;
  }

  /// Removes the first: nothing that was pushed while its events ran is before it.
  void pop() {
    const Item last = heap_.back();
    heap_.pop_back();
    if (heap_.empty()) return;
    std::size_t at = 0;
    for (;;) {
      const std::size_t first = 4 * at + 1;
      if (first >= heap_.size()) break;
      std::size_t least = first;
      const std::size_t end = first + 4 < heap_.size() ? first + 4 : heap_.size();
      for (std::size_t child = first + 1; child < end; ++child) {
        if (before(heap_[child], heap_[least])) least = child;
      }
      if (!before(heap_[least], last)) break;
      heap_[at] = heap_[least];
      at = least;
    }
    heap_[at] = last;
  }

  std::vector<Item> heap_;
  std::vector<Bucket> buckets_;
  std::vector<std::uint32_t> free_;
  std::vector<Slot> cache_;
  Time now_ = 0;
  std::uint64_t executed_ = 0;
  std::uint32_t made_ = 0;
};

}  // namespace perf_loop
