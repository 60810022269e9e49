// SPDX-License-Identifier: Apache-2.0
#include "core/calendar.h"

#include <algorithm>
#include <stdexcept>

// libsystemc refers to it; a program with a main of its own has none.
extern "C" __attribute__((weak)) int sc_main(int, char**) { return 0; }

namespace wafervp {

namespace {

constexpr std::uint32_t kInBatch = 0xfffffffeu;
constexpr Time kLookAhead = 1'000'000;  // ps that sc_time_stamp may lag behind

std::size_t cache_slot(Time time) { return static_cast<std::size_t>((time * 0x9e3779b97f4a7c15ull) >> 52); }

sc_core::sc_time to_sc_time(Time ps) { return sc_core::sc_time::from_value(ps); }

}  // namespace

Calendar::Calendar(sc_core::sc_module_name name) : sc_module(name), cache_(kCacheSlots) {
  SC_HAS_PROCESS(Calendar);
  SC_METHOD(drain);
  sensitive << wake_;
  dont_initialize();
}

void Calendar::schedule(CalendarEntry& entry, Time when) {
  if (when < now_) throw std::logic_error("calendar: an entry was scheduled in the past");
  if (entry.scheduled()) unlink(entry);
  entry.time_ = when;
  const std::uint32_t index = bucket_at(when);
  Bucket& bucket = buckets_[index];
  List& list = bucket.lists[static_cast<std::size_t>(entry.stage_)];
  entry.bucket_ = index;
  entry.prev_ = list.tail;
  entry.next_ = nullptr;
  (list.tail ? list.tail->next_ : list.head) = &entry;
  list.tail = &entry;
  ++bucket.count;
  ++pending_;
  if (!draining_ && when < armed_) rearm();
}

void Calendar::cancel(CalendarEntry& entry) {
  if (entry.scheduled()) unlink(entry);
}

void Calendar::unlink(CalendarEntry& entry) {
  if (entry.bucket_ != kInBatch) {
    Bucket& bucket = buckets_[entry.bucket_];
    List& list = bucket.lists[static_cast<std::size_t>(entry.stage_)];
    (entry.prev_ ? entry.prev_->next_ : list.head) = entry.next_;
    (entry.next_ ? entry.next_->prev_ : list.tail) = entry.prev_;
    --bucket.count;
  }
  entry.time_ = kNever;
  --pending_;
}

std::uint32_t Calendar::bucket_at(Time when) {
  if (running_ != kNone && when == now_) return running_;
  CacheSlot& slot = cache_[cache_slot(when)];
  if (slot.time == when) return slot.bucket;
  std::uint32_t index;
  if (free_buckets_.empty()) {
    index = static_cast<std::uint32_t>(buckets_.size());
    buckets_.emplace_back();
  } else {
    index = free_buckets_.back();
    free_buckets_.pop_back();
  }
  buckets_[index].time = when;
  buckets_[index].serial = next_serial_++;
  slot = {when, index};
  heap_push({when, index});
  return index;
}

void Calendar::heap_push(HeapItem item) {
  heap_.push_back(item);
  std::size_t i = heap_.size() - 1;
  while (i > 0) {
    const std::size_t parent = (i - 1) / 4;
    if (heap_[parent].time <= item.time) break;
    heap_[i] = heap_[parent];
    i = parent;
  }
  heap_[i] = item;
}

void Calendar::heap_pop() {
  const HeapItem item = heap_.back();
  heap_.pop_back();
  const std::size_t size = heap_.size();
  if (size == 0) return;
  std::size_t i = 0;
  for (;;) {
    const std::size_t first = 4 * i + 1;
    if (first >= size) break;
    std::size_t least = first;
    const std::size_t last = std::min(first + 4, size);
    for (std::size_t child = first + 1; child < last; ++child) {
      if (heap_[child].time < heap_[least].time) least = child;
    }
    if (heap_[least].time >= item.time) break;
    heap_[i] = heap_[least];
    i = least;
  }
  heap_[i] = item;
}

/// Sorts a batch by order; entries come mostly sorted, or as a few sorted stretches.
void Calendar::sort_batch(std::vector<CalendarEntry*>& batch) {
  const auto before = [](const CalendarEntry* a, const CalendarEntry* b) { return a->order_ < b->order_; };
  std::size_t descents = 0, last = 0;
  for (std::size_t i = 1; i < batch.size(); ++i) {
    if (before(batch[i], batch[i - 1])) {
      ++descents;
      last = i;
    }
  }
  if (descents == 0) return;
  if (descents > 1) {
    std::stable_sort(batch.begin(), batch.end(), before);
    return;
  }
  const auto middle = batch.begin() + static_cast<std::ptrdiff_t>(last);
  if (before(batch.back(), batch.front())) {
    std::rotate(batch.begin(), middle, batch.end());  // two stretches in the wrong order
  } else {
    std::inplace_merge(batch.begin(), middle, batch.end(), before);
  }
}

void Calendar::fire(CalendarEntry& entry) {
  ++executed_;
  entry.fire(now_);
}

/// The firmware of a module runs right behind its last arrival of one time, while its state is in the
/// processor's cache: what it does reaches others later or in a later stage only.
void Calendar::fire_follower(std::uint32_t index, std::uint32_t order) {
  CalendarEntry* follower = buckets_[index].lists[static_cast<std::size_t>(Stage::kFirmware)].tail;
  if (follower == nullptr || follower->order_ != order) return;
  unlink(*follower);
  fire(*follower);
}

/// Runs everything of one time, stage by stage; work that is posted for this time joins in.
void Calendar::run_bucket(std::uint32_t index) {
  std::size_t stage = 0;
  while (stage < kStages) {
    List& list = buckets_[index].lists[stage];
    if (list.head == nullptr) {
      ++stage;
      continue;
    }
    if (list.head == list.tail) {
      CalendarEntry* entry = list.head;
      unlink(*entry);
      fire(*entry);
    } else {
      std::vector<CalendarEntry*> batch;
      batch.swap(batch_);
      for (CalendarEntry* entry = list.head; entry != nullptr; entry = entry->next_) {
        batch.push_back(entry);
        entry->bucket_ = kInBatch;
      }
      buckets_[index].count -= static_cast<std::uint32_t>(batch.size());
      list = {};
      sort_batch(batch);
      const bool arrivals = stage == static_cast<std::size_t>(Stage::kArrival);
      for (std::size_t i = 0; i < batch.size(); ++i) {
        CalendarEntry* entry = batch[i];
        // An earlier entry of the batch may have moved or cancelled this one.
        if (entry->bucket_ != kInBatch || entry->time_ != now_) continue;
        const std::uint32_t order = entry->order_;
        entry->time_ = kNever;
        entry->bucket_ = 0;
        --pending_;
        fire(*entry);
        if (arrivals && (i + 1 == batch.size() || batch[i + 1]->order_ != order)) fire_follower(index, order);
      }
      batch.clear();
      batch_.swap(batch);
    }
    stage = 0;
  }
}

/// Another bucket of the same time exists only where the cache had lost the first one. Entries come together
/// in the order in which the buckets were made, which is that of scheduling.
void Calendar::join_buckets(const HeapItem& top) {
  std::vector<std::uint32_t> others{top.bucket};
  while (!heap_.empty() && heap_[0].time == top.time) {
    others.push_back(heap_[0].bucket);
    heap_pop();
  }
  std::sort(others.begin(), others.end(),
            [this](std::uint32_t a, std::uint32_t b) { return buckets_[a].serial < buckets_[b].serial; });
  Bucket joined;
  joined.time = top.time;
  for (const std::uint32_t other : others) {
    for (std::size_t stage = 0; stage < kStages; ++stage) {
      List& into = joined.lists[stage];
      for (CalendarEntry* entry = buckets_[other].lists[stage].head; entry != nullptr;) {
        CalendarEntry* next = entry->next_;
        entry->bucket_ = top.bucket;
        entry->prev_ = into.tail;
        entry->next_ = nullptr;
        (into.tail ? into.tail->next_ : into.head) = entry;
        into.tail = entry;
        entry = next;
      }
    }
    joined.count += buckets_[other].count;
    if (other != top.bucket) {
      buckets_[other] = {};
      free_buckets_.push_back(other);
    }
  }
  buckets_[top.bucket] = joined;
}

void Calendar::drain_until(Time bound) {
  while (!heap_.empty() && heap_[0].time <= bound) {
    const HeapItem top = heap_[0];
    if (top.time > limit_ && buckets_[top.bucket].count > 0) {
      limit_reached_ = true;
      return;
    }
    heap_pop();
    if (!heap_.empty() && heap_[0].time == top.time) join_buckets(top);
    if (buckets_[top.bucket].count > 0) {
      now_ = top.time;
      running_ = top.bucket;
      run_bucket(top.bucket);
      running_ = kNone;
    }
    CacheSlot& slot = cache_[cache_slot(top.time)];
    if (slot.time == top.time) slot = {};
    buckets_[top.bucket] = {};
    free_buckets_.push_back(top.bucket);
    if (executed_ >= next_watch_) {
      next_watch_ = executed_ + watch_interval_;
      if (!watch_(watch_context_, now_)) {
        stopped_ = true;
        return;
      }
    }
    if (stop_requested_) {
      stopped_ = true;
      return;
    }
  }
}

void Calendar::set_watch(Watch watch, void* context, std::uint32_t interval) {
  watch_ = watch;
  watch_context_ = context;
  watch_interval_ = interval;
  next_watch_ = executed_ + interval;
}

void Calendar::drain() {
  armed_ = kNever;
  draining_ = true;
  const Time stamp = sc_core::sc_time_stamp().value();
  const Time pending =
      sc_core::sc_pending_activity() ? sc_core::sc_time_to_pending_activity().value() : kNever;
  // Whatever the kernel has to do next runs before our events of the same time.
  const Time bound = pending == 0 ? stamp : stamp + std::min(kLookAhead, pending - 1);
  try {
    drain_until(bound);
  } catch (...) {
    // The kernel would turn it into a report of its own; the caller of sc_start gets it as it was.
    failure_ = std::current_exception();
    stopped_ = true;
  }
  draining_ = false;
  if (limit_reached_ || stopped_) {
    sc_core::sc_stop();
    return;
  }
  rearm();
}

void Calendar::rethrow_failure() const {
  if (failure_) std::rethrow_exception(failure_);
}

void Calendar::rearm() {
  if (heap_.empty()) return;
  const Time stamp = sc_core::sc_time_stamp().value();
  armed_ = heap_[0].time;
  wake_.notify(armed_ > stamp ? to_sc_time(armed_ - stamp) : sc_core::SC_ZERO_TIME);
}

}  // namespace wafervp
