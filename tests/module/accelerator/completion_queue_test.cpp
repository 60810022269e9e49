// SPDX-License-Identifier: Apache-2.0
// The completion ring by itself: whatever is raised is delivered, in the documented order, also where one
// time has more than the ring holds.
#include "accelerator/completion_queue.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <random>
#include <tuple>
#include <vector>

namespace wafervp::test {
namespace {

constexpr NpuId kNpu{5};

/// What was raised: a completion that becomes visible at `when`.
struct Raised {
  Time when;
  std::uint32_t cookie;
  std::uint32_t number;  ///< in order of raising
  friend bool operator==(const Raised& a, const Raised& b) {
    return std::tie(a.when, a.cookie, a.number) == std::tie(b.when, b.cookie, b.number);
  }
  friend std::ostream& operator<<(std::ostream& out, const Raised& a) {
    return out << "cookie " << a.cookie << " number " << a.number << " @" << a.when;
  }
};

/// A ring whose processor takes all there is at each call, by the phase bits, and then acts.
class Ring final : public ControlProcessor {
 public:
  explicit Ring(std::uint32_t entries) : queue(kNpu, entries, calendar, arena) { queue.attach(*this); }

  void raise(std::uint32_t cookie, Time when) {
    wvp_completion& completion = queue.raise(when);
    completion.cookie = cookie;
    completion.bytes = raised.size();
    raised.push_back({when, cookie, static_cast<std::uint32_t>(raised.size())});
  }
  void at(Time when, std::function<void()> action, Stage stage = Stage::kArrival) {
    actions_.emplace_back(stage, std::move(action));
    calendar.schedule(actions_.back(), when);
  }
  void run() {
    sc_core::sc_start();
    calendar.rethrow_failure();
    EXPECT_TRUE(queue.empty());
    EXPECT_EQ(queue.written(), raised.size());
  }
  void on_completions(Time now) override {
    ++calls;
    std::uint32_t taken = queue.head();
    const std::uint32_t before = taken;
    for (;; ++taken) {
      const wvp_completion& completion = queue.ring()[taken & (queue.size() - 1)];
      if (completion.phase != ((taken & queue.size()) == 0 ? 1 : 0)) break;
      delivered.push_back({now, completion.cookie, static_cast<std::uint32_t>(completion.bytes)});
      if (on_completion) on_completion(completion.cookie, now);
    }
    EXPECT_NE(taken, before) << "called for nothing";
    EXPECT_EQ(taken, queue.tail());
    queue.set_head(taken);
  }

  Arena arena;
  Calendar calendar{"calendar"};
  CompletionQueue queue;
  std::vector<Raised> raised, delivered;
  std::function<void(std::uint32_t cookie, Time now)> on_completion;
  int calls = 0;

 private:
  class Action final : public CalendarEntry {
   public:
    Action(Stage stage, std::function<void()> what)
        : CalendarEntry(stage, kNpu.value), what_(std::move(what)) {}

   private:
    void fire(Time) override { what_(); }
    std::function<void()> what_;
  };
  std::deque<Action> actions_;
};

/// By time, then cookie, then as it was raised.
std::vector<Raised> in_order(std::vector<Raised> raised) {
  std::sort(raised.begin(), raised.end(), [](const Raised& a, const Raised& b) {
    return std::tie(a.when, a.cookie, a.number) < std::tie(b.when, b.cookie, b.number);
  });
  return raised;
}

class CompletionQueueOf : public testing::TestWithParam<std::uint32_t> {};

// At the time itself, before it, and both; up to four times as many at one time as the ring holds.
TEST_P(CompletionQueueOf, DeliversAllByTimeCookieAndRaising) {
  Ring ring(GetParam());
  std::mt19937 random(GetParam());
  for (Time now = 10; now < 4'000; now += 10) {
    const int count = static_cast<int>(random() % (4 * GetParam()));
    for (int i = 0; i < count; ++i) {
      const Time ahead = random() % 2 == 0 ? 0 : random() % 4 * 10;
      const auto cookie = static_cast<std::uint32_t>(random() % 50);
      ring.at(now, [&ring, now, ahead, cookie] { ring.raise(cookie, now + ahead); });
    }
  }
  ring.run();
  EXPECT_THAT(ring.delivered, testing::ElementsAreArray(in_order(ring.raised)));
}

INSTANTIATE_TEST_SUITE_P(Entries, CompletionQueueOf, testing::Values(2u, 4u, 8u, 64u));

TEST(CompletionQueue, CallsTheProcessorForEachFullRing) {
  Ring ring(8);
  for (std::uint32_t i = 0; i < 27; ++i) ring.at(10, [&ring, i] { ring.raise(99 - i, 10); });
  ring.run();
  EXPECT_THAT(ring.delivered, testing::ElementsAreArray(in_order(ring.raised)));
  EXPECT_EQ(ring.calls, 4);
}

TEST(CompletionQueue, CallsTheProcessorOnceForWhatTheRingHolds) {
  Ring ring(8);
  for (std::uint32_t i = 0; i < 8; ++i) ring.at(10, [&ring, i] { ring.raise(i * 5 % 8, 10); });
  ring.run();
  EXPECT_THAT(ring.delivered, testing::ElementsAreArray(in_order(ring.raised)));
  EXPECT_EQ(ring.calls, 1);
}

// What the processor raises is not mixed into the rest of what it is being called for.
TEST(CompletionQueue, WhatTheProcessorRaisesComesBehindAllOfThatTime) {
  Ring ring(2);
  for (std::uint32_t i = 0; i < 6; ++i) ring.at(10, [&ring, i] { ring.raise(10 + i, 10); });
  ring.on_completion = [&](std::uint32_t cookie, Time now) {
    if (cookie == 10) ring.raise(1, now + 5);
    if (cookie >= 13) ring.raise(cookie - 13, now);
  };
  ring.run();
  std::vector<std::uint32_t> cookies;
  for (const Raised& raised : ring.delivered) cookies.push_back(raised.cookie);
  EXPECT_THAT(cookies, testing::ElementsAre(10, 11, 12, 13, 14, 15, 0, 1, 2, 1));
  EXPECT_EQ(ring.delivered.back().when, 15u);
}

// Also where the ring has room: the processor does not find it while it is at work.
TEST(CompletionQueue, WhatTheProcessorRaisesComesWithACallOfItsOwn) {
  Ring ring(8);
  ring.at(10, [&ring] { ring.raise(7, 10); });
  ring.on_completion = [&](std::uint32_t cookie, Time now) {
    if (cookie == 7) ring.raise(3, now);
    EXPECT_EQ(ring.calls, cookie == 7 ? 1 : 2);
  };
  ring.run();
  EXPECT_THAT(ring.delivered, testing::ElementsAre(Raised{10, 7, 0}, Raised{10, 3, 1}));
}

// Behind the firmware stage: a delivery of its own at the same time.
TEST(CompletionQueue, WhatIsRaisedBehindTheFirmwareStageIsDeliveredAtThatTime) {
  Ring ring(4);
  ring.at(10, [&ring] { ring.raise(7, 10); });
  ring.at(
      10, [&ring] { ring.raise(3, 10); }, Stage::kArbitration);
  ring.run();
  EXPECT_THAT(ring.delivered, testing::ElementsAre(Raised{10, 7, 0}, Raised{10, 3, 1}));
  EXPECT_EQ(ring.calls, 2);
}

}  // namespace
}  // namespace wafervp::test
