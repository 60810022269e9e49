// SPDX-License-Identifier: Apache-2.0
// Is packet j promised for when the last of its copies is there, and is the promise kept up to date?
#include "router/promise_merger.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <deque>
#include <random>

namespace wafervp::test {
namespace {

const Rate kSlow(375'000'000'000), kFast(3'000'000'000'000);

Run run_of(std::uint64_t first, std::uint32_t count, const Rate& rate, Time origin) {
  Run run;
  run.first = first;
  run.count = count;
  run.rate = &rate;
  run.origin = origin;
  run.tail_bytes = kPacketBytes;
  return run;
}

/// The receiver of merged runs, by the fabric protocol: the tail of each packet as promised.
class Receiver {
 public:
  PromiseMerger::Emit emit() {
    return [this](const Run& run) {
      ++calls;
      if (!firsts_.empty() && run.first <= firsts_.back()) {
        EXPECT_EQ(run.first, firsts_.back()) << "only the last run may be shortened";
        EXPECT_LT(run.first + run.count, tails.size());
        tails.resize(run.first);
        firsts_.pop_back();
      }
      EXPECT_EQ(run.first, tails.size()) << "a gap between merged runs";
      if (run.count > 0) firsts_.push_back(run.first);
      for (std::uint32_t i = 0; i < run.count; ++i) tails.push_back(run.tail(i));
      if (on_emit) on_emit(run);
    };
  }
  std::vector<Time> tails;
  int calls = 0;
  std::function<void(const Run&)> on_emit;

 private:
  std::vector<std::uint64_t> firsts_;
};

TEST(PromiseMerger, WaitsForAllStreamsAndTakesTheLatest) {
  Receiver receiver;
  PromiseMerger merger(2, receiver.emit());
  merger.promise(0, run_of(0, 10, kFast, 1000), 0);
  EXPECT_EQ(receiver.calls, 0);
  merger.promise(1, run_of(0, 6, kFast, 5000), 0);
  ASSERT_EQ(receiver.tails.size(), 6u);
  for (std::uint64_t j = 0; j < 6; ++j) EXPECT_EQ(receiver.tails[j], 5000 + kFast.ps((j + 1) * kPacketBytes));
  EXPECT_EQ(receiver.calls, 1);
}

TEST(PromiseMerger, ChangesOverWhereTheSlowStreamFallsBehind) {
  Receiver receiver;
  PromiseMerger merger(2, receiver.emit());
  const wafervp::Run slow = run_of(0, 20, kSlow, 0), fast = run_of(0, 20, kFast, 50'000);
  merger.promise(0, slow, 0);
  merger.promise(1, fast, 0);
  ASSERT_EQ(receiver.tails.size(), 20u);
  for (std::uint64_t j = 0; j < 20; ++j) EXPECT_EQ(receiver.tails[j], std::max(slow.tail(j), fast.tail(j)));
  EXPECT_EQ(receiver.calls, 2);
}

TEST(PromiseMerger, TakesBackAndPromisesAnew) {
  Receiver receiver;
  PromiseMerger merger(3, receiver.emit());
  for (std::size_t s = 0; s < 3; ++s) merger.promise(s, run_of(0, 10, kFast, 1000 * s), 0);
  EXPECT_EQ(receiver.tails.size(), 10u);
  merger.promise(0, run_of(0, 4, kFast, 0), 0);  // the earliest one
  EXPECT_EQ(receiver.tails.size(), 4u);
  merger.promise(0, run_of(4, 6, kFast, 900'000), 0);
  ASSERT_EQ(receiver.tails.size(), 10u);
  EXPECT_EQ(receiver.tails[3], 2000 + kFast.ps(4 * kPacketBytes));
  EXPECT_EQ(receiver.tails[4], 900'000 + kFast.ps(kPacketBytes));
  merger.promise(2, run_of(0, 0, kFast, 2000), 0);  // all of it
  EXPECT_TRUE(receiver.tails.empty());
  merger.promise(2, run_of(0, 3, kFast, 5000), 0);
  EXPECT_EQ(receiver.tails.size(), 3u);
}

TEST(PromiseMerger, OneStreamPassesAsItIs) {
  Receiver receiver;
  PromiseMerger merger(1, receiver.emit());
  merger.promise(0, run_of(0, 5, kSlow, 10), 0);
  merger.promise(0, run_of(5, 5, kFast, 100'000), 0);
  ASSERT_EQ(receiver.tails.size(), 10u);
  EXPECT_EQ(receiver.tails[4], 10 + kSlow.ps(5 * kPacketBytes));
  EXPECT_EQ(receiver.tails[9], 100'000 + kFast.ps(5 * kPacketBytes));
}

// The receiver's answer may shorten another stream before the emission is over.
TEST(PromiseMerger, CarriesOutCallsFromWithinAfterwards) {
  Receiver receiver;
  PromiseMerger merger(2, receiver.emit());
  bool answered = false;
  receiver.on_emit = [&](const wafervp::Run&) {
    if (answered) return;
    answered = true;
    merger.promise(1, run_of(0, 3, kFast, 0), 0);
    EXPECT_EQ(receiver.tails.size(), 8u) << "it is carried out later";
  };
  merger.promise(1, run_of(0, 8, kFast, 0), 0);
  merger.promise(0, run_of(0, 8, kFast, 0), 0);
  EXPECT_TRUE(answered);
  EXPECT_EQ(receiver.tails.size(), 3u);
}

/// Streams of random runs that are shortened at random, as links do it, beside a table by packets.
class RandomStreams {
 public:
  explicit RandomStreams(std::uint64_t seed)
      : random_(seed), streams_(2 + random_() % 4), merger_(streams_.size(), receiver_.emit()) {}

  void step() {
    now_ += random_() % 20'000;
    const std::size_t s = random_() % streams_.size();
    Stream& stream = streams_[s];
    if (!stream.runs.empty() && random_() % 3 == 0) {
      shorten(s);
    } else if (stream.tails.size() < kPackets) {
      extend(s);
    }
    check();
  }
  void finish() {
    for (std::size_t s = 0; s < streams_.size(); ++s) {
      while (streams_[s].tails.size() < kPackets) extend(s);
    }
    check();
    EXPECT_EQ(receiver_.tails.size(), kPackets);
  }

 private:
  static constexpr std::size_t kPackets = 400;
  struct Stream {
    std::vector<Run> runs;
    std::vector<Time> tails;
  };

  void extend(std::size_t s) {
    static const Rate kRates[] = {kSlow, Rate(750'000'000'000), Rate(1'100'000'000'000), kFast};
    Stream& stream = streams_[s];
    const auto count = static_cast<std::uint32_t>(
        1 + random_() % std::min<std::uint64_t>(60, kPackets - stream.tails.size()));
    const Time begin = std::max(now_, stream.tails.empty() ? 0 : stream.tails.back()) + random_() % 3 * 5000;
    const Run run = run_of(stream.tails.size(), count, kRates[random_() % 4], begin);
    stream.runs.push_back(run);
    for (std::uint32_t i = 0; i < count; ++i) stream.tails.push_back(run.tail(i));
    merger_.promise(s, run, now_);
  }
  void shorten(std::size_t s) {
    Stream& stream = streams_[s];
    Run& run = stream.runs.back();
    std::uint32_t begun = 0;
    while (begun < run.count && run.head(begun) < now_) ++begun;
    if (begun == run.count) return;
    run.shorten(begun + static_cast<std::uint32_t>(random_() % (run.count - begun)));
    stream.tails.resize(run.first + run.count);
    merger_.promise(s, run, now_);
    if (run.count == 0) stream.runs.pop_back();
  }
  void check() {
    std::size_t merged = kPackets;
    for (const Stream& stream : streams_) merged = std::min(merged, stream.tails.size());
    ASSERT_EQ(receiver_.tails.size(), merged);
    for (std::size_t j = 0; j < merged; ++j) {
      Time last = 0;
      for (const Stream& stream : streams_) last = std::max(last, stream.tails[j]);
      // Two streams of nearly equal pace may swap within a picosecond of rounding.
      ASSERT_LE(receiver_.tails[j], last) << "packet " << j;
      ASSERT_GE(receiver_.tails[j] + 1, last) << "packet " << j;
    }
  }

  std::mt19937_64 random_;
  Receiver receiver_;
  std::vector<Stream> streams_;
  PromiseMerger merger_;
  Time now_ = 0;
};

TEST(PromiseMerger, IsTheMaximumPacketByPacket) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    RandomStreams streams(seed);
    for (int i = 0; i < 100; ++i) {
      streams.step();
      if (testing::Test::HasFailure()) return;
    }
    streams.finish();
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace wafervp::test
