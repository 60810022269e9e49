// SPDX-License-Identifier: Apache-2.0
#include "core/calendar.h"

#include <algorithm>
#include <stdexcept>

#include "core/prefetch.h"

// libsystemc refers to it; a program with a main of its own has none.
extern "C" __attribute__((weak)) int sc_main(int, char**) { return 0; }

namespace wafervp {

namespace {

constexpr std::uint32_t kLargeBatch = 128;  // the state of fewer modules stays in the cache
constexpr unsigned kAheadDistance = 1;      // entries between two steps of preparation
constexpr Time kLookAhead = 1'000'000;      // ps that sc_time_stamp may lag behind

std::size_t cache_slot(Time time) { return static_cast<std::size_t>((time * 0x9e3779b97f4a7c15ull) >> 52); }

sc_core::sc_time to_sc_time(Time ps) { return sc_core::sc_time::from_value(ps); }

}  // namespace

Calendar::Calendar(sc_core::sc_module_name name) : sc_module(name), cache_(kCacheSlots) {
  SC_HAS_PROCESS(Calendar);
  SC_METHOD(drain);
  sensitive << wake_;
  dont_initialize();
}

bool Calendar::occupied(const Bucket& bucket) {
  for (const List& list : bucket.lists) {
    if (list.head != nullptr) return true;
  }
  return false;
}

bool Calendar::empty() const {
  if (follower_ != nullptr || batch_.head != nullptr) return false;
  return std::none_of(buckets_.begin(), buckets_.end(), occupied);
}

void Calendar::unlink(CalendarEntry& entry) {
  entry.time_ = kNever;
  if (entry.bucket_ == kFollows) {
    follower_ = nullptr;
    return;
  }
  // An entry of the stage that is being run is in the batch.
  List& list = buckets_[entry.bucket_].lists[static_cast<std::size_t>(entry.stage_)];
  if (list.second == &entry) ++list.breaks;  // no longer known where
  if (entry.prev_ != nullptr) {
    entry.prev_->next_ = entry.next_;
  } else {
    (list.head == &entry ? list : batch_).head = entry.next_;
  }
  if (entry.next_ != nullptr) {
    entry.next_->prev_ = entry.prev_;
  } else {
    (list.tail == &entry ? list : batch_).tail = entry.prev_;
  }
}

/// Makes `recent_bucket_` the bucket of `when`.
void Calendar::find_bucket(Time when) {
  if (when < now_) throw std::logic_error("calendar: an entry was scheduled in the past");
  recent_ = when;
  if (running_ != kNone && when == now_) {
    recent_bucket_ = running_;
    return;
  }
  CacheSlot& slot = cache_[cache_slot(when)];
  if (slot.time == when) {
    recent_bucket_ = slot.bucket;
    return;
  }
  if (free_buckets_.empty()) {
    recent_bucket_ = static_cast<std::uint32_t>(buckets_.size());
    buckets_.emplace_back();
  } else {
    recent_bucket_ = free_buckets_.back();
    free_buckets_.pop_back();
  }
  buckets_[recent_bucket_].time = when;
  buckets_[recent_bucket_].serial = next_serial_++;
  slot = {when, recent_bucket_};
  heap_push({when, recent_bucket_});
  if (!draining_ && when < armed_) rearm();
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

/// Sorts the batch by order. Two stretches in the wrong order are what a ring makes: each number's neighbour.
void Calendar::sort_batch() {
  if (batch_.breaks == 1 && batch_.tail->order_ < batch_.head->order_) {
    CalendarEntry* end = batch_.second->prev_;
    batch_.tail->next_ = batch_.head;
    batch_.head->prev_ = batch_.tail;
    batch_.head = batch_.second;
    batch_.head->prev_ = nullptr;
    batch_.tail = end;
    batch_.tail->next_ = nullptr;
    return;
  }
  sorting_.clear();
  for (CalendarEntry* entry = batch_.head; entry != nullptr; entry = entry->next_) sorting_.push_back(entry);
  std::stable_sort(sorting_.begin(), sorting_.end(),
                   [](const CalendarEntry* a, const CalendarEntry* b) { return a->order_ < b->order_; });
  batch_ = {};
  for (CalendarEntry* entry : sorting_) append(batch_, *entry);
}

/// Each pointer goes one entry on. They are hints only: an entry that was moved leads elsewhere, or to no
/// more.
inline void Calendar::look_ahead() {
  for (unsigned step = kAheadSteps; step-- > 0;) {
    CalendarEntry* entry = ahead_[step];
    if (entry == nullptr) continue;
    entry = entry->next_;
    ahead_[step] = entry;
    if (entry == nullptr) continue;
    if (step == 0) prefetch(entry->next_, sizeof(CalendarEntry));
    entry->prepare(step);
  }
}

/// Runs the batch; an entry of it may move or cancel a later one.
void Calendar::run_batch(Stage stage) {
  const bool large = batch_.count >= kLargeBatch;
  ahead_ = {};
  if (large) {
    CalendarEntry* entry = batch_.head;
    for (unsigned step = kAheadSteps; step-- > 0;) {
      for (unsigned i = 0; i < kAheadDistance && entry != nullptr; ++i) entry = entry->next_;
      ahead_[step] = entry;
    }
  }
  while (CalendarEntry* entry = batch_.head) {
    if (large) look_ahead();
    CalendarEntry* next = entry->next_;
    batch_.head = next;
    (next != nullptr ? next->prev_ : batch_.tail) = nullptr;
    entry->time_ = kNever;
    if (stage != Stage::kArrival) {
      fire(*entry);
      continue;
    }
    const std::uint32_t order = entry->order_;
    arriving_order_ = order;
    fire(*entry);
    arriving_order_ = kNone;
    if (follower_ == nullptr || (batch_.head != nullptr && batch_.head->order_ == order)) continue;
    entry = follower_;
    follower_ = nullptr;
    entry->time_ = kNever;
    fire(*entry);
  }
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
    batch_ = list;
    list = {};
    if (batch_.breaks > 0) sort_batch();
    run_batch(static_cast<Stage>(stage));
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
      for (CalendarEntry* entry = buckets_[other].lists[stage].head; entry != nullptr;) {
        CalendarEntry* next = entry->next_;
        entry->bucket_ = top.bucket;
        append(joined.lists[stage], *entry);
        entry = next;
      }
    }
    if (other != top.bucket) release(other);
  }
  buckets_[top.bucket] = joined;
}

/// Its entries have been run, or have moved to another bucket.
void Calendar::release(std::uint32_t index) {
  buckets_[index] = {};
  free_buckets_.push_back(index);
  if (recent_bucket_ == index) recent_ = kNever;
}

void Calendar::drain_until(Time bound) {
  while (!heap_.empty() && heap_[0].time <= bound) {
    const HeapItem top = heap_[0];
    if (top.time > limit_ && occupied(buckets_[top.bucket])) {
      limit_reached_ = true;
      return;
    }
    heap_pop();
    if (!heap_.empty() && heap_[0].time == top.time) join_buckets(top);
    if (occupied(buckets_[top.bucket])) {
      now_ = top.time;
      running_ = top.bucket;
      run_bucket(top.bucket);
      running_ = kNone;
    }
    CacheSlot& slot = cache_[cache_slot(top.time)];
    if (slot.time == top.time) slot = {};
    release(top.bucket);
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
