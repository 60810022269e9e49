// SPDX-License-Identifier: Apache-2.0
#include "core/calendar.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "core/prefetch.h"

// libsystemc refers to it; a program with a main of its own has none.
extern "C" __attribute__((weak)) int sc_main(int, char**) { return 0; }

namespace wafervp {

namespace {

constexpr std::uint32_t kLargeBatch = 128;      // the state of fewer modules stays in the cache
constexpr std::uint32_t kArbitrationBatch = 4;  // each looks at flows, of which there are many more
constexpr std::size_t kSmallBatch = 40;         // sorted by insertion
constexpr std::size_t kWarmBytes = 128;         // of an entry and what lies behind it
constexpr Time kLookAhead = 1'000'000;          // ps that sc_time_stamp may lag behind

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
  return std::any_of(bucket.lists.begin(), bucket.lists.end(),
                     [](const List& list) { return list.live > 0; });
}

bool Calendar::empty() const {
  return follower_ == nullptr && batch_.live == 0 && std::none_of(buckets_.begin(), buckets_.end(), occupied);
}

void Calendar::unlink(CalendarEntry& entry) {
  entry.time_ = kNever;
  if (entry.bucket_ == kFollows) {
    follower_ = nullptr;
    return;
  }
  const auto is_entry = [&entry](const Item& item) { return item.entry == &entry; };
  List* list = &buckets_[entry.bucket_].lists[static_cast<std::size_t>(entry.stage_)];
  auto item = list->items.begin() + entry.place_;
  if (entry.place_ >= list->items.size() || !is_entry(*item)) {
    // It is in the batch that is being run, which may have been sorted.
    list = &batch_;
    item = std::find_if(list->items.begin(), list->items.end(), is_entry);
  }
  item->entry = nullptr;
  --list->live;
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
  const auto before = [](const Item& a, const Item& b) { return a.order < b.order; };
  std::vector<Item>& items = batch_.items;
  if (items.size() <= kSmallBatch) {
    for (std::size_t i = 1; i < items.size(); ++i) {
      const Item item = items[i];
      std::size_t to = i;
      for (; to > 0 && before(item, items[to - 1]); --to) items[to] = items[to - 1];
      items[to] = item;
    }
    return;
  }
  const auto second = std::is_sorted_until(items.begin(), items.end(), before);
  if (before(items.back(), items.front()) && std::is_sorted(second, items.end(), before)) {
    std::rotate(items.begin(), second, items.end());
  } else {
    std::stable_sort(items.begin(), items.end(), before);
  }
}

/// Hints for entries that come after the one at `place`: the nearer, the more of their memory is here.
void Calendar::look_ahead(std::size_t place) const {
  const Item* items = batch_.items.data();
  const std::size_t size = batch_.items.size();
  if (place + kAheadSteps + 2 < size) prefetch(items[place + kAheadSteps + 2].entry, kWarmBytes);
  for (unsigned step = 0; step < kAheadSteps; ++step) {
    const std::size_t ahead = place + kAheadSteps - step;
    if (ahead < size && items[ahead].entry != nullptr) items[ahead].entry->prepare(step);
  }
}

/// Runs an entry, of which an arrival may be followed.
inline void Calendar::run(CalendarEntry& entry, Stage stage, std::uint32_t order) {
  entry.time_ = kNever;
  if (stage != Stage::kArrival) return fire(entry);
  arriving_order_ = order;
  fire(entry);
  arriving_order_ = kNone;
}

inline void Calendar::run_follower() {
  if (follower_ == nullptr) return;
  CalendarEntry& follower = *follower_;
  follower_ = nullptr;
  follower.time_ = kNever;
  fire(follower);
}

/// Runs the batch; an entry of it may move or cancel a later one, which leaves its place empty.
void Calendar::run_batch(Stage stage) {
  Item* items = batch_.items.data();
  const std::size_t size = batch_.items.size();
  const bool ahead = size >= (stage == Stage::kArbitration ? kArbitrationBatch : kLargeBatch);
  for (std::size_t place = 0; place < size; ++place) {
    if (ahead) look_ahead(place);
    const Item item = items[place];
    last_of_order_ = place + 1 == size || items[place + 1].order != item.order;
    if (item.entry != nullptr) {
      items[place].entry = nullptr;
      --batch_.live;
      run(*item.entry, stage, item.order);
    }
    // Behind the last place of its order, also where that one is empty.
    if (last_of_order_) run_follower();
  }
  batch_.clear();
}

/// Runs everything of one time, stage by stage; work that is posted for this time joins in.
void Calendar::run_bucket(std::uint32_t index) {
  std::size_t stage = 0;
  while (stage < kStages) {
    List& list = buckets_[index].lists[stage];
    if (list.live == 0) {
      if (!list.items.empty()) list.clear();
      ++stage;
      continue;
    }
    now_ = buckets_[index].time;
    running_ = index;
    if (list.items.size() == 1) {
      CalendarEntry& entry = *list.items.front().entry;
      list.clear();
      run(entry, static_cast<Stage>(stage), entry.order_);
      run_follower();
    } else {
      std::swap(batch_, list);
      if (!batch_.sorted) sort_batch();
      run_batch(static_cast<Stage>(stage));
    }
    stage = 0;
  }
  running_ = kNone;
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
      for (const Item& item : buckets_[other].lists[stage].items) {
        if (item.entry == nullptr) continue;
        item.entry->bucket_ = top.bucket;
        joined.lists[stage].append(*item.entry);
      }
      buckets_[other].lists[stage].clear();
    }
    if (other != top.bucket) release(other);
  }
  buckets_[top.bucket] = std::move(joined);
}

/// Its entries have been run, or have moved to another bucket.
void Calendar::release(std::uint32_t index) {
  buckets_[index].time = kNever;
  free_buckets_.push_back(index);
  if (recent_bucket_ == index) recent_ = kNever;
}

void Calendar::drain_until(Time bound) {
  while (!heap_.empty() && heap_[0].time <= bound) {
    const HeapItem top = heap_[0];
    heap_pop();
    if (!heap_.empty() && heap_[0].time == top.time) join_buckets(top);
    if (top.time > limit_ && occupied(buckets_[top.bucket])) {
      heap_push(top);  // it stays
      now_ = limit_;   // nothing happens until then
      limit_reached_ = true;
      return;
    }
    run_bucket(top.bucket);
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
