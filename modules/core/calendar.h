// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <systemc>
#include <vector>

#include "core/time.h"

namespace wafervp {

/// Order of work at one time: all arrivals, then firmware, then arbitration, then answers of
/// collective stages that could not be served. No result depends on the order of calls.
enum class Stage : std::uint8_t { kArrival = 0, kFirmware = 1, kArbitration = 2, kAnswer = 3 };
inline constexpr std::size_t kStages = 4;
inline constexpr unsigned kAheadSteps = 3;

class Calendar;

/// An intrusive calendar entry: a module embeds one per thing that it can wait for. An entry is in
/// the calendar at most once; it may be moved or cancelled in constant time.
class CalendarEntry {
 public:
  /// `order` breaks ties at one time and stage; lower runs first, then the order of scheduling.
  CalendarEntry(Stage stage, std::uint32_t order) : order_(order), stage_(stage) {}
  CalendarEntry(const CalendarEntry&) = delete;
  CalendarEntry& operator=(const CalendarEntry&) = delete;

  bool scheduled() const { return time_ != kNever; }
  Time time() const { return time_; }
  void set_order(std::uint32_t order) { order_ = order; }

 protected:
  ~CalendarEntry() = default;

 private:
  friend class Calendar;
  /// Called once at its time; the entry is no longer scheduled and may be scheduled again.
  virtual void fire(Time now) = 0;
  /// Hints to the processor's cache, in kAheadSteps steps before fire(), a few entries of a large batch
  /// apart: a step asks for the memory that the next step, at last fire(), will read.
  virtual void prepare(unsigned step) const { static_cast<void>(step); }

  Time time_ = kNever;
  std::uint32_t bucket_ = 0;  ///< or kFollows
  std::uint32_t place_ = 0;   ///< in its list, as it was appended
  std::uint32_t order_;
  Stage stage_;
};

/// An entry that calls a member function of its owner.
template <class Owner, void (Owner::*Method)(Time)>
class CalendarCall final : public CalendarEntry {
 public:
  CalendarCall(Owner& owner, Stage stage, std::uint32_t order) : CalendarEntry(stage, order), owner_(owner) {}

 private:
  void fire(Time now) override { (owner_.*Method)(now); }
  Owner& owner_;
};

/// The one event calendar of the data plane: a heap of distinct times with a list per stage, drained
/// by one SC_METHOD on one sc_event. Inside the drain it runs ahead to the kernel's next activity.
class Calendar : public sc_core::sc_module {
 public:
  explicit Calendar(sc_core::sc_module_name name);

  /// Schedules `entry` at `when` >= now(); an entry that is scheduled already is moved.
  void schedule(CalendarEntry& entry, Time when) {
    if (entry.scheduled()) unlink(entry);
    if (when != recent_) find_bucket(when);
    entry.time_ = when;
    entry.bucket_ = recent_bucket_;
    buckets_[recent_bucket_].lists[static_cast<std::size_t>(entry.stage_)].append(entry);
  }
  /// Schedules an entry of Stage::kFirmware, which must not be scheduled, at now(). Where an arrival of the
  /// same order is being run, it comes right behind the last such arrival: the state of the module is in the
  /// processor's cache then, and what firmware does reaches others later or in a later stage only.
  void follow(CalendarEntry& entry) {
    if (entry.order_ != arriving_order_ || follower_ != nullptr) return schedule(entry, now_);
    follower_ = &entry;
    entry.time_ = now_;
    entry.bucket_ = kFollows;
  }
  /// False while another arrival of the same order, at the same time, is known to come behind the one that is
  /// being run.
  bool last_of_order() const { return last_of_order_; }
  void cancel(CalendarEntry& entry) {
    if (entry.scheduled()) unlink(entry);
  }
  Time now() const { return now_; }
  std::uint64_t executed() const { return executed_; }
  bool empty() const;

  /// Called about every `interval` events with the calendar's time; returning false stops the run.
  using Watch = bool (*)(void* context, Time now);
  void set_watch(Watch watch, void* context, std::uint32_t interval);
  /// Nothing after this time is executed; the run then ends with `limit_reached()`.
  void set_limit(Time limit) { limit_ = limit < kTimeEnd ? limit : kTimeEnd; }
  Time limit() const { return limit_; }
  bool limit_reached() const { return limit_reached_; }
  /// Ends the run after the events of the present time.
  void stop() { stop_requested_ = true; }
  bool stopped() const { return stopped_; }
  /// Throws what an entry threw, which ended the run.
  void rethrow_failure() const;

 private:
  struct Item {
    /// In place: a copy would wait until both members have left the processor's store buffer.
    Item(CalendarEntry* made_entry, std::uint32_t made_order) : entry(made_entry), order(made_order) {}

    CalendarEntry* entry;  ///< null where it was moved or cancelled
    std::uint32_t order;
  };
  /// Side by side, so that entries are sorted, and those that come next are known, without a look at them.
  struct List {
    std::vector<Item> items;
    std::size_t live = 0;  ///< entries that are not null
    bool sorted = true;    ///< by order

    void append(CalendarEntry& entry) {
      sorted = sorted && (items.empty() || items.back().order <= entry.order_);
      entry.place_ = static_cast<std::uint32_t>(items.size());
      items.emplace_back(&entry, entry.order_);
      ++live;
    }
    void clear() {
      items.clear();
      live = 0;
      sorted = true;
    }
  };
  /// All that happens at one time.
  struct alignas(64) Bucket {
    std::array<List, kStages> lists;
    Time time = kNever;
    std::uint64_t serial = 0;  ///< in order of making
  };
  struct HeapItem {
    Time time;
    std::uint32_t bucket;
  };
  static constexpr std::uint32_t kNone = 0xffffffffu;
  static constexpr std::uint32_t kFollows = 0xfffffffeu;
  static constexpr std::size_t kCacheSlots = 4096;

  static bool occupied(const Bucket& bucket);

  void drain();
  void drain_until(Time bound);
  void run_bucket(std::uint32_t index);
  void run_batch(Stage stage);
  void run(CalendarEntry& entry, Stage stage, std::uint32_t order);
  void run_follower();
  void look_ahead(std::size_t place) const;
  void join_buckets(const HeapItem& top);
  void release(std::uint32_t index);
  void fire(CalendarEntry& entry) {
    ++executed_;
    entry.fire(now_);
  }
  void sort_batch();
  void find_bucket(Time when);
  void unlink(CalendarEntry& entry);
  void heap_push(HeapItem item);
  void heap_pop();
  void rearm();

  // In the order of use by an entry that is scheduled and run.
  Time now_ = 0;
  Time recent_ = kNever;  ///< time of the bucket that was used last
  std::uint32_t recent_bucket_ = kNone;
  std::uint32_t arriving_order_ = kNone;  ///< of the arrival that is being run
  bool last_of_order_ = true;
  std::vector<Bucket> buckets_;
  CalendarEntry* follower_ = nullptr;
  List batch_;  ///< entries of one stage that are being run
  std::uint64_t executed_ = 0;
  std::vector<HeapItem> heap_;
  std::vector<std::uint32_t> free_buckets_;
  struct CacheSlot {
    Time time = kNever;
    std::uint32_t bucket = kNone;
  };
  std::vector<CacheSlot> cache_;
  sc_core::sc_event wake_;
  Time armed_ = kNever;
  Time limit_ = kTimeEnd;
  std::uint64_t next_serial_ = 0;
  std::uint64_t next_watch_ = ~std::uint64_t{0};
  std::uint32_t watch_interval_ = 0;
  Watch watch_ = nullptr;
  void* watch_context_ = nullptr;
  std::uint32_t running_ = kNone;  ///< bucket of the time that is being run
  std::exception_ptr failure_;
  bool draining_ = false;
  bool limit_reached_ = false;
  bool stopped_ = false;
  bool stop_requested_ = false;
};

}  // namespace wafervp
