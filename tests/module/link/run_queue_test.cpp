// SPDX-License-Identifier: Apache-2.0
// The list of promises of one flow, and that of booked runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>

#include "link/booked_runs.h"
#include "link/lane.h"

namespace wafervp::test {
namespace {

using Kept = wafervp::Run;  // a test has a Run of its own

Kept run_of(std::uint64_t first, std::uint32_t count) {
  Kept run;
  run.first = first;
  run.count = count;
  return run;
}

TEST(RunQueue, AppendsAndShortensTheLast) {
  RunQueue queue;
  EXPECT_TRUE(queue.promise(run_of(0, 10)));
  EXPECT_TRUE(queue.promise(run_of(10, 5)));
  EXPECT_EQ(queue.size(), 2u);
  EXPECT_FALSE(queue.promise(run_of(10, 3)));
  EXPECT_EQ(queue.back().end(), 13u);
  EXPECT_FALSE(queue.promise(run_of(10, 0)));  // taken back
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_TRUE(queue.promise(run_of(10, 2)));
  EXPECT_EQ(queue.back().end(), 12u);
}

TEST(RunQueue, ForgetsWhatIsWhollyBefore) {
  RunQueue queue;
  for (std::uint64_t k = 0; k < 200; ++k) {
    queue.promise(run_of(10 * k, 10));
    queue.forget_before(10 * k - (k > 0 ? 5 : 0));
    EXPECT_LE(queue.size(), 2u);
    EXPECT_EQ(queue.back().first, 10 * k);
    EXPECT_EQ(queue.front().first, k > 0 ? 10 * (k - 1) : 0);
  }
  queue.forget_before(2000);
  EXPECT_TRUE(queue.empty());
}

/// Against a list that does the same in the plainest way, through growth and many turns of the ring.
TEST(RunQueue, KeepsWhatAPlainListKeeps) {
  std::mt19937 random(7);
  RunQueue queue;
  std::deque<Kept> list;
  std::uint64_t end = 0, forgotten = 0;
  for (int step = 0; step < 20'000; ++step) {
    // Phases in which the queue grows and in which it drains.
    const bool grows = (step / 100) % 2 == 0;
    const unsigned what = random() % 10;
    if (what < (grows ? 6u : 3u)) {
      const Kept run = run_of(end, 1 + random() % 8);
      EXPECT_TRUE(queue.promise(run));
      list.push_back(run);
    } else if (what < 7 && !list.empty()) {
      Kept run = list.back();
      run.shorten(random() % run.count);
      EXPECT_FALSE(queue.promise(run));
      list.pop_back();
      if (run.count > 0) list.push_back(run);
    } else if (!list.empty()) {
      forgotten = list.front().first + random() % 12;
      queue.forget_before(forgotten);
      while (!list.empty() && list.front().end() <= forgotten) list.pop_front();
    }
    end = list.empty() ? std::max(end, forgotten) : list.back().end();
    ASSERT_EQ(queue.size(), list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
      ASSERT_EQ(queue[i].first, list[i].first);
      ASSERT_EQ(queue[i].count, list[i].count);
    }
    const std::uint64_t packet = end - std::min<std::uint64_t>(end, random() % 20);
    const auto holds =
        std::find_if(list.begin(), list.end(), [&](const Kept& run) { return packet < run.end(); });
    const Kept* found = queue.with(packet);
    ASSERT_EQ(found == nullptr, holds == list.end());
    if (found != nullptr) {
      ASSERT_EQ(found->first, holds->first);
    }
  }
}

/// Messages of one packet, each a nanosecond long on the link, in batches that are handed over at once.
TEST(BookedRuns, KeepsWhatIsNotOverAndCountsAll) {
  constexpr Time kLong = 1000;
  for (const Time keep : {Time{0}, 7 * kLong}) {
    BookedRuns booked;
    std::deque<Time> ends;  // of what may not be forgotten
    Time end = 0, last_end = 0, now = 0;
    std::uint64_t pushed = 0;
    for (const std::uint32_t count : {1u, 1u, 5u, 40u, 3u, 1u, 200u, 2u}) {
      now = end + 1;  // all before have ended
      end = now;
      while (!ends.empty() && ends.front() + keep < now) ends.pop_front();
      for (std::uint32_t i = 0; i < count; ++i) {
        end += kLong;
        booked.append(++pushed, std::exchange(last_end, end), now, keep) = {
            nullptr, now, now, i * std::uint64_t{kPacketBytes}, end, 1, 0};
        ends.push_back(end);
      }
      EXPECT_EQ(booked.runs(), pushed);
      EXPECT_EQ(booked.end_packet(), pushed);
      ASSERT_GE(booked.size(), ends.size());
      for (std::size_t i = 0; i < ends.size(); ++i) {
        ASSERT_EQ(booked[booked.size() - ends.size() + i].end, ends[i]);
      }
    }
  }
}

TEST(BookedRuns, KnowsWhatHasBegunAndWhatWaits) {
  const Rate rate(1000 * kPacketBytes);  // a packet takes 10^9 ps
  BookedRuns booked;
  for (std::uint64_t i = 0; i < 4; ++i) {
    const Time last_end = i == 0 ? 0 : 10 + 2 * i * 1'000'000'000;
    booked.append(2 * i + 2, last_end, i, 0) = {
        nullptr, i, 10, 2 * i * kPacketBytes, 10 + 2 * (i + 1) * 1'000'000'000, 2, 4096};
  }
  EXPECT_EQ(booked.begun(rate, 0), 0u);
  EXPECT_EQ(booked.begun(rate, 10), 0u);
  EXPECT_EQ(booked.begun(rate, 11), 1u);
  EXPECT_EQ(booked.begun(rate, 2'000'000'010), 1u);
  EXPECT_EQ(booked.begun(rate, 2'000'000'011), 2u);
  EXPECT_EQ(booked.begun(rate, 9'000'000'000), 4u);
  EXPECT_EQ(booked.waiting(rate, 1), 4u);
  EXPECT_EQ(booked.waiting(rate, 10), 6u);
  EXPECT_EQ(booked.waiting(rate, 4'000'000'010), 2u);
}

}  // namespace
}  // namespace wafervp::test
