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

  CalendarEntry* prev_ = nullptr;
  CalendarEntry* next_ = nullptr;
  Time time_ = kNever;
  std::uint32_t bucket_ = 0;
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
  void schedule(CalendarEntry& entry, Time when);
  void cancel(CalendarEntry& entry);
  Time now() const { return now_; }
  std::uint64_t executed() const { return executed_; }
  bool empty() const { return pending_ == 0; }

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
  struct List {
    CalendarEntry* head = nullptr;
    CalendarEntry* tail = nullptr;
  };
  struct Bucket {
    Time time = kNever;
    std::uint64_t serial = 0;  ///< in order of making
    std::uint32_t count = 0;
    std::array<List, kStages> lists;
  };
  struct HeapItem {
    Time time;
    std::uint32_t bucket;
  };
  static constexpr std::uint32_t kNone = 0xffffffffu;
  static constexpr std::size_t kCacheSlots = 4096;

  void drain();
  void drain_until(Time bound);
  void run_bucket(std::uint32_t index);
  void join_buckets(const HeapItem& top);
  void fire(CalendarEntry& entry);
  void fire_follower(std::uint32_t index, std::uint32_t order);
  static void sort_batch(std::vector<CalendarEntry*>& batch);
  std::uint32_t bucket_at(Time when);
  void unlink(CalendarEntry& entry);
  void heap_push(HeapItem item);
  void heap_pop();
  void rearm();

  std::vector<HeapItem> heap_;
  std::vector<Bucket> buckets_;
  std::vector<std::uint32_t> free_buckets_;
  std::vector<CalendarEntry*> batch_;
  struct CacheSlot {
    Time time = kNever;
    std::uint32_t bucket = kNone;
  };
  std::vector<CacheSlot> cache_;
  sc_core::sc_event wake_;
  Time now_ = 0;
  Time armed_ = kNever;
  Time limit_ = kTimeEnd;
  std::uint64_t next_serial_ = 0;
  std::uint64_t pending_ = 0;
  std::uint64_t executed_ = 0;
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
