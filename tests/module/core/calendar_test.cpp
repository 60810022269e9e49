// SPDX-License-Identifier: Apache-2.0
// Order of work on the calendar, and how a run ends.
#include "core/calendar.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <tuple>

#include "notes.h"

namespace wafervp::test {
namespace {

using testing::ElementsAre;

/// Schedules `count` entries at random and expects them by (time, stage, order number, posting).
void expect_order(std::uint64_t times, int count, std::uint32_t orders) {
  Calendar calendar("calendar");
  Notes notes;
  std::mt19937_64 random(orders);
  std::vector<std::tuple<Time, Stage, std::uint32_t, int>> expected;
  for (int i = 0; i < count; ++i) {
    const Time when = 1 + random() % times;
    const auto stage = static_cast<Stage>(random() % kStages);
    // Firmware with a number of its own, so that none follows right behind arrivals.
    const auto order =
        static_cast<std::uint32_t>(random() % orders) + (stage == Stage::kFirmware ? orders : 0);
    calendar.schedule(notes.add(stage, order), when);
    expected.emplace_back(when, stage, order, i);
  }
  run(calendar);
  std::sort(expected.begin(), expected.end());
  ASSERT_EQ(notes.seen.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(notes.seen[i], (Noted{std::get<3>(expected[i]), std::get<0>(expected[i])})) << "entry " << i;
  }
  EXPECT_EQ(calendar.executed(), static_cast<std::uint64_t>(count));
  EXPECT_TRUE(calendar.empty());
}

TEST(Calendar, OrdersByTimeStageNumberAndPosting) { expect_order(20, 20'000, 3); }

// More times than the calendar's cache of buckets has places, so that one time may have several buckets.
TEST(Calendar, OrdersByNumberOverManyTimes) { expect_order(20'000, 60'000, 1u << 31); }

TEST(Calendar, KeepsTheOrderOfPostingOverManyTimes) { expect_order(20'000, 60'000, 1); }

TEST(Calendar, StartsAtTimeZero) {
  Calendar calendar("calendar");
  Notes notes;
  calendar.schedule(notes.add(), 0);
  run(calendar);
  EXPECT_THAT(notes.seen, ElementsAre(Noted{0, 0}));
}

TEST(Calendar, MovesAndCancels) {
  Calendar calendar("calendar");
  Notes notes;
  for (int i = 0; i < 4; ++i) calendar.schedule(notes.add(), 10 + static_cast<Time>(i));
  calendar.schedule(notes.entries[0], 50);  // later
  calendar.schedule(notes.entries[3], 5);   // earlier
  calendar.cancel(notes.entries[1]);
  calendar.cancel(notes.entries[1]);  // not there any more: nothing
  EXPECT_FALSE(notes.entries[1].scheduled());
  EXPECT_EQ(notes.entries[0].time(), 50u);
  run(calendar);
  EXPECT_THAT(notes.seen, ElementsAre(Noted{3, 5}, Noted{2, 12}, Noted{0, 50}));
}

TEST(Calendar, MovesAndCancelsInsideABatch) {
  Calendar calendar("calendar");
  Notes notes;
  for (int i = 0; i < 5; ++i) calendar.schedule(notes.add(), 10);
  notes.entries[0].action = [&](Time now) {
    if (now != 10) return;
    calendar.cancel(notes.entries[1]);
    calendar.schedule(notes.entries[2], 20);
    calendar.schedule(notes.entries[3], 10);  // anew at the same time: behind the rest of the batch
  };
  run(calendar);
  EXPECT_THAT(notes.seen, ElementsAre(Noted{0, 10}, Noted{4, 10}, Noted{3, 10}, Noted{2, 20}));
}

TEST(Calendar, AnEntryMayPostItselfAgain) {
  Calendar calendar("calendar");
  Notes notes;
  auto& entry = notes.add();
  int left = 3;
  entry.action = [&](Time now) {
    EXPECT_FALSE(entry.scheduled());
    if (--left > 0) calendar.schedule(entry, now);
  };
  calendar.schedule(entry, 7);
  run(calendar);
  EXPECT_THAT(notes.seen, ElementsAre(Noted{0, 7}, Noted{0, 7}, Noted{0, 7}));
}

// What is posted for the present time runs in its stage: an earlier stage before a later one goes on.
TEST(Calendar, WorkPostedForThePresentTimeJoinsItsStage) {
  Calendar calendar("calendar");
  Notes notes;
  auto& arbitration = notes.add(Stage::kArbitration);  // 0
  auto& answer = notes.add(Stage::kAnswer);            // 1
  auto& late_arrival = notes.add(Stage::kArrival);     // 2
  auto& firmware = notes.add(Stage::kFirmware);        // 3
  auto& again = notes.add(Stage::kArbitration);        // 4
  calendar.schedule(arbitration, 10);
  calendar.schedule(answer, 10);
  arbitration.action = [&](Time now) {
    calendar.schedule(again, now);
    calendar.schedule(firmware, now);
    calendar.schedule(late_arrival, now);
  };
  run(calendar);
  EXPECT_THAT(notes.numbers(), ElementsAre(0, 2, 3, 4, 1));
}

// A module's firmware may run before the arrivals of others, but only when all of its own are there.
TEST(Calendar, RunsFirmwareBehindTheArrivalsOfItsNumberAndBeforeArbitration) {
  constexpr int kModules = 50;
  Calendar calendar("calendar");
  Notes notes;
  std::vector<int> arrived(kModules, 0), done(kModules, 0);
  int arbitrated = 0;
  for (int i = 0; i < 3 * kModules; ++i) {
    const auto module = static_cast<std::uint32_t>(i * 7 % kModules);
    auto& arrival = notes.add(Stage::kArrival, module);
    arrival.action = [&, module](Time) {
      EXPECT_EQ(done[module], 0);
      ++arrived[module];
    };
    calendar.schedule(arrival, 10);
    if (i >= kModules) continue;
    auto& firmware = notes.add(Stage::kFirmware, module);
    firmware.action = [&, module](Time) {
      EXPECT_EQ(arrived[module], 3);
      EXPECT_EQ(arbitrated, 0);
      ++done[module];
    };
    calendar.schedule(firmware, 10);
    auto& arbitration = notes.add(Stage::kArbitration, module);
    arbitration.action = [&](Time) {
      EXPECT_THAT(done, testing::Each(1));
      ++arbitrated;
    };
    calendar.schedule(arbitration, 10);
  }
  run(calendar);
  EXPECT_EQ(arbitrated, kModules);
}

TEST(Calendar, RefusesThePast) {
  Calendar calendar("calendar");
  Notes notes;
  auto& entry = notes.add();
  auto& other = notes.add();
  entry.action = [&](Time now) { EXPECT_THROW(calendar.schedule(other, now - 1), std::logic_error); };
  calendar.schedule(entry, 10);
  run(calendar);
  EXPECT_EQ(notes.seen.size(), 1u);
}

TEST(Calendar, ExecutesNothingBehindItsLimit) {
  Calendar calendar("calendar");
  Notes notes;
  for (Time when : {10, 20, 21, 30}) calendar.schedule(notes.add(), when);
  calendar.set_limit(20);
  run(calendar);
  EXPECT_THAT(notes.numbers(), ElementsAre(0, 1));
  EXPECT_TRUE(calendar.limit_reached());
  EXPECT_EQ(calendar.now(), 20u);
  EXPECT_EQ(calendar.now(), 20u);
  EXPECT_FALSE(calendar.empty());
}

TEST(Calendar, DoesNotReachALimitThatNothingIsBehind) {
  Calendar calendar("calendar");
  Notes notes;
  auto& cancelled = notes.add();
  calendar.schedule(cancelled, 30);
  calendar.schedule(notes.add(), 10);
  calendar.cancel(cancelled);
  calendar.set_limit(20);
  run(calendar);
  EXPECT_FALSE(calendar.limit_reached());
}

// The calendar forgets where it keeps a time when so many others come between that it has two places for it.
TEST(Calendar, ExecutesNothingBehindItsLimitWhereATimeIsKeptTwice) {
  Calendar calendar("calendar");
  Notes notes;
  auto& cancelled = notes.add();
  calendar.schedule(cancelled, 100'000);
  for (Time when = 1; when < 50'000; ++when) calendar.schedule(notes.add(), when);
  auto& last = notes.add();
  calendar.schedule(last, 100'000);
  calendar.cancel(cancelled);
  calendar.set_limit(60'000);
  run(calendar);
  EXPECT_EQ(notes.seen.size(), 49'999u);
  EXPECT_TRUE(calendar.limit_reached());
  EXPECT_TRUE(last.scheduled());
}

TEST(Calendar, StopsBehindThePresentTime) {
  Calendar calendar("calendar");
  Notes notes;
  for (Time when : {10, 10, 11}) calendar.schedule(notes.add(), when);
  notes.entries[0].action = [&](Time) { calendar.stop(); };
  run(calendar);
  EXPECT_THAT(notes.numbers(), ElementsAre(0, 1));
  EXPECT_TRUE(calendar.stopped());
}

TEST(Calendar, AsksItsWatchNowAndThen) {
  struct Watch {
    int calls = 0;
    static bool call(void* self, Time now) {
      EXPECT_GT(now, 0u);
      return ++static_cast<Watch*>(self)->calls < 3;
    }
  } watch;
  Calendar calendar("calendar");
  Notes notes;
  for (Time when = 1; when <= 1000; ++when) calendar.schedule(notes.add(), when);
  calendar.set_watch(&Watch::call, &watch, 100);
  run(calendar);
  EXPECT_EQ(watch.calls, 3);
  EXPECT_TRUE(calendar.stopped());
  EXPECT_EQ(notes.seen.size(), 300u);
}

TEST(Calendar, HandsOnWhatAnEntryThrows) {
  struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  Calendar calendar("calendar");
  Notes notes;
  for (Time when : {10, 10, 20}) calendar.schedule(notes.add(), when);
  notes.entries[0].action = [](Time) { throw Failure("the reason"); };
  sc_core::sc_start();
  EXPECT_TRUE(calendar.stopped());
  EXPECT_EQ(notes.seen.size(), 1u);
  try {
    calendar.rethrow_failure();
    FAIL() << "the failure is lost";
  } catch (const Failure& failure) {
    EXPECT_STREQ(failure.what(), "the reason");
  }
}

}  // namespace
}  // namespace wafervp::test
