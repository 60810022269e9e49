// SPDX-License-Identifier: Apache-2.0
// The calendar beside other processes: it runs ahead of the kernel, but never past what the kernel has to do.
#include <gmock/gmock.h>

#include <algorithm>
#include <utility>

#include "core/calendar.h"
#include "notes.h"

namespace wafervp::test {
namespace {

/// A process that wakes up at given distances, as a control processor with a quantum would.
class Beside : public sc_core::sc_module {
 public:
  Beside(sc_core::sc_module_name name, std::vector<Time> distances, std::function<void(Time)> action)
      : sc_module(name), distances_(std::move(distances)), action_(std::move(action)) {
    SC_HAS_PROCESS(Beside);
    SC_THREAD(work);
  }

 private:
  void work() {
    for (Time distance : distances_) {
      wait(sc_core::sc_time::from_value(distance));
      action_(sc_core::sc_time_stamp().value());
    }
  }
  std::vector<Time> distances_;
  std::function<void(Time)> action_;
};

TEST(CalendarBesideAProcess, NeverRunsPastAPendingActivity) {
  Calendar calendar("calendar");
  Notes notes;
  std::vector<Time> wakes, distances;
  for (Time i = 0; i < 400; ++i) distances.push_back(1 + i * i * 37 % 9001);
  Beside beside("beside", distances, [&](Time now) {
    wakes.push_back(now);
    // All that is before this time has been done and nothing that is after it; of the same time the
    // kernel may run either first.
    ASSERT_TRUE(notes.seen.empty() || notes.seen.back().when <= now);
    const std::size_t before = std::min<std::size_t>((now + 99) / 100, 20'000);
    ASSERT_GE(notes.seen.size(), before) << "at " << now;
  });
  for (Time i = 0; i < 20'000; ++i) calendar.schedule(notes.add(), i * 100);
  sc_core::sc_start();
  calendar.rethrow_failure();
  EXPECT_EQ(wakes.size(), 400u);
  EXPECT_EQ(notes.seen.size(), 20'000u);
}

TEST(CalendarBesideAProcess, TakesWorkAtTheProcessesTime) {
  Calendar calendar("calendar");
  Notes notes;
  for (Time when = 0; when < 5'000'000; when += 700) calendar.schedule(notes.add(), when);
  Notes posts;
  Beside beside("beside", {1, 699, 700, 1'000'000, 3'000'001}, [&](Time now) {
    calendar.schedule(posts.add(), now);
    calendar.schedule(posts.add(), now + 1);
  });
  sc_core::sc_start();
  calendar.rethrow_failure();
  const std::vector<Time> expected = {1, 2, 700, 701, 1400, 1401, 1'001'400, 1'001'401, 4'001'401, 4'001'402};
  ASSERT_EQ(posts.seen.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(posts.seen[i].when, expected[i]);
}

TEST(CalendarBesideAProcess, RunsAheadWhereNobodyElseWaits) {
  Calendar calendar("calendar");
  Notes notes;
  Time most = 0;
  for (Time i = 0; i < 10'000; ++i) {
    auto& entry = notes.add();
    entry.action = [&](Time now) { most = std::max<Time>(most, now - sc_core::sc_time_stamp().value()); };
    calendar.schedule(entry, i * 1000);
  }
  sc_core::sc_start();
  // 10 us of events in steps of the look-ahead, not of the events; the kernel's clock lags by 1 us at most.
  EXPECT_LE(sc_core::sc_delta_count(), 15u);
  EXPECT_GT(most, 0u);
  EXPECT_LE(most, 1'000'000u);
  EXPECT_EQ(notes.seen.size(), 10'000u);
}

TEST(CalendarBesideAProcess, TwoCalendarsStandSideBySide) {
  Calendar one("one"), other("other");
  Notes notes;
  std::vector<Time> order;
  for (Time i = 0; i < 1000; ++i) {
    auto& entry = notes.add();
    entry.action = [&](Time now) { order.push_back(now); };
    ((i * 7 % 3 == 0) ? one : other).schedule(entry, i * 10);
  }
  sc_core::sc_start();
  one.rethrow_failure();
  other.rethrow_failure();
  EXPECT_EQ(one.executed() + other.executed(), 1000u);
  // Each heeds the other's next event as the kernel's.
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

}  // namespace
}  // namespace wafervp::test
