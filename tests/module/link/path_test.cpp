// SPDX-License-Identifier: Apache-2.0
// A flow that has a path of several links for itself is booked on all of them at once; a flow that joins it
// later finds everything as if nothing had been booked.
#include "path_bench.h"

#include <algorithm>
#include <random>

namespace wafervp::test {
namespace {

constexpr std::uint64_t kRate = 750 * kGB;
constexpr Time kLatency = 20 * kNs;

Time time_of(std::uint64_t bytes) { return serialisation(bytes, kRate); }
std::vector<LinkConfig> equal_links(std::size_t count, std::uint32_t buffer = 0) {
  std::vector<LinkConfig> configs;
  for (std::size_t k = 0; k < count; ++k) {
    configs.push_back(link_config(kRate, kLatency));
    if (buffer != 0) configs.back().buffer_packets = buffer;
  }
  return configs;
}

TEST(BookedPath, TakesOneEventAMessage) {
  PathBench bench("bench", equal_links(5));
  constexpr std::uint64_t kCount = 300, kBytes = 20 * 4096;
  for (std::uint64_t m = 0; m < kCount; ++m) bench.send_at(0, bytes_between(0, 5, kBytes, m));
  simulate({&bench.shared});
  for (std::uint64_t m = 0; m < kCount; ++m) {
    ASSERT_EQ(bench.arrival(0, m), 5 * kLatency + time_of(kBytes * (m + 1)));
    ASSERT_EQ(bench.left(0, 5, 20 * m + 19), time_of(kBytes * (m + 1)));
  }
  EXPECT_EQ(bench.shared.calendar.executed(), 2 * kCount);  // deliveries, and the calls that send
  for (const Link& link : bench.links) {
    EXPECT_EQ(link.statistics().bytes, kCount * kBytes);
    EXPECT_EQ(link.statistics().packets, kCount * 20);
    EXPECT_EQ(link.statistics().runs, kCount);
    EXPECT_EQ(link.statistics().busy_ps, time_of(kCount * kBytes));
  }
}

// A short packet takes a credit as a long one does: eleven in a row would run out of ten credits. By rule 4
// packet k leaves when packet k - 10 has left the next link and its credit is back, 40 ns after it began.
TEST(BookedPath, ShortPacketsWaitForTheirCredits) {
  PathBench bench("bench", equal_links(3));
  const std::uint32_t buffer = bench.links[0].config().buffer_packets;
  for (std::uint64_t m = 0; m < 3 * buffer; ++m) bench.send_at(0, bytes_between(0, 3, 0, m));
  simulate({&bench.shared});
  for (std::uint64_t m = 0; m < 3 * buffer; ++m) {
    EXPECT_EQ(bench.arrival(0, m), 3 * kLatency + m / buffer * 2 * kLatency) << "message " << m;
  }
}

// Where their credits come in time: behind gaps as long as what they lack, or a few of them among full ones.
TEST(BookedPath, HasRoomForSomeShortPackets) {
  PathBench spaced("spaced", equal_links(3)), few("few", equal_links(3));
  constexpr std::uint64_t kCount = 100, kLong = 5 * 4096 - 96;
  for (std::uint64_t m = 0; m < kCount; ++m) {
    spaced.send_at(m * time_of(4096), bytes_between(0, 3, 100, m));
    few.send_at(0, bytes_between(0, 3, kLong, m));
  }
  simulate({&spaced.shared, &few.shared});
  for (std::uint64_t m = 0; m < kCount; ++m) {
    EXPECT_EQ(spaced.arrival(0, m), m * time_of(4096) + time_of(100) + 3 * kLatency);
    EXPECT_EQ(few.arrival(0, m), time_of((m + 1) * kLong) + 3 * kLatency);
  }
  EXPECT_EQ(spaced.shared.calendar.executed(), 2 * kCount);
  EXPECT_EQ(few.shared.calendar.executed(), 2 * kCount);
}

TEST(BookedPath, StatisticsCountWhatHasBegun) {
  PathBench bench("bench", equal_links(3));
  for (std::uint64_t m = 0; m < 2; ++m) bench.send_at(0, bytes_between(0, 3, 10 * 4096, m));
  struct Seen {
    Time when;
    std::array<std::uint64_t, 3> packets;
    std::uint64_t queued;
  };
  const Time second = time_of(10 * 4096);
  const std::vector<Seen> expected = {{1, {10, 0, 0}, 10},
                                      {kLatency - 1, {10, 0, 0}, 10},
                                      {kLatency + 1, {10, 10, 0}, 10},
                                      {second + 1, {20, 10, 10}, 0},
                                      {second + kLatency + 1, {20, 20, 10}, 0},
                                      {second + 2 * kLatency + 1, {20, 20, 20}, 0}};
  for (const Seen& seen : expected) {
    bench.shared.at(
        seen.when,
        [&bench, seen] {
          for (std::size_t k = 0; k < 3; ++k) {
            EXPECT_EQ(bench.links[k].statistics().packets, seen.packets[k])
                << "link " << k << " at " << seen.when;
            EXPECT_EQ(bench.links[k].statistics().bytes, seen.packets[k] * 4096);
            EXPECT_EQ(bench.links[k].queued_packets(seen.when), k == 0 ? seen.queued : 0) << seen.when;
          }
        },
        Stage::kAnswer);
  }
  simulate({&bench.shared});
}

TEST(BookedPath, TellsTheSourceWhatDoesNotLeaveYet) {
  PathBench bench("bench", equal_links(3));
  for (std::uint64_t m = 0; m < 3; ++m) bench.send_at(0, bytes_between(0, 3, 10 * 4096, m));
  const Time join = time_of(10 * 4096) + 1;  // the second message has begun
  bench.send_at(join, bytes_between(1, 3, 10 * 4096, 3));
  bench.shared.at(
      join - 1,
      [&bench] {
        EXPECT_EQ(bench.left(0, 3, 9), time_of(10 * 4096));
        EXPECT_EQ(bench.left(0, 3, 29), time_of(30 * 4096));
      },
      Stage::kAnswer);
  bench.shared.at(
      join,
      [&bench] {
        EXPECT_EQ(bench.left(0, 3, 9), time_of(10 * 4096));
        EXPECT_EQ(bench.left(0, 3, 29), kNever);
      },
      Stage::kAnswer);
  simulate({&bench.shared});
}

// Credits are on their way back when a run has ended on all links. Here 17 of them, and then packets that
// take no time: by rule 4 packet 17 + k leaves when packet k has left the second link and its credit is here.
TEST(BookedPath, GivesNoCreditBackTooSoon) {
  std::vector<LinkConfig> configs = {link_config(kRate, 40 * kNs), link_config(kRate, 0)};
  ASSERT_EQ(configs[0].buffer_packets, 17u);
  PathBench bench("bench", configs);
  const Time then = time_of(17 * 4096) + 41 * kNs;
  bench.send_at(0, bytes_between(0, 2, 17 * 4096, 0));
  bench.send_at(then, bytes_between(0, 2, 4096, 1));
  bench.send_at(then, bytes_between(1, 2, 4096, 2));
  for (std::uint64_t m = 0; m < 15; ++m) bench.send_at(then, bytes_between(0, 2, 0, 3 + m));
  simulate({&bench.shared});
  EXPECT_EQ(bench.arrival(0, 1), then + time_of(4096) + 40 * kNs);
  for (std::uint64_t m = 0; m < 15; ++m) {
    const Time credit = time_of((2 + m) * 4096) + 80 * kNs;
    EXPECT_EQ(bench.arrival(0, 3 + m), std::max(then + time_of(4096), credit) + 40 * kNs) << "message " << m;
  }
}

// All in one picosecond: what has been delivered is not sent again.
TEST(BookedPath, IsGivenUpBehindADelivery) {
  PathBench bench("bench", {link_config(kRate, 0), link_config(kRate, 0)});
  bench.send_at(1000, bytes_between(0, 2, 0, 0));
  bench.send_at(1000, bytes_between(1, 2, 4096, 1), Stage::kAnswer);
  bench.send_at(1000, bytes_between(0, 2, 4096, 2), Stage::kAnswer);
  simulate({&bench.shared});
  EXPECT_EQ(bench.sinks[2].deliveries.size(), 3u);
  EXPECT_EQ(bench.arrival(0, 0), 1000u);
  EXPECT_EQ(std::max(bench.arrival(0, 2), bench.arrival(1, 1)), 1000 + time_of(2 * 4096));
}

/// Sendings over a row of links, by several flows.
struct RandomRow {
  explicit RandomRow(std::uint64_t seed) : random(seed) {
    static constexpr std::uint64_t kRates[] = {375, 750, 999, 3000};
    const std::uint64_t rate = kRates[random() % 4] * kGB + (random() % 2 == 0 ? random() % 1000 : 0);
    const auto nodes = static_cast<std::uint32_t>(3 + random() % 4);
    for (std::uint32_t k = 0; k + 1 < nodes; ++k) {
      LinkConfig config = link_config(rate, random() % 4 == 0 ? random() % 3 : random() % 40'000);
      if (random() % 4 == 0) config.buffer_packets += static_cast<std::uint32_t>(random() % 8);
      if (random() % 8 == 0) config.buffer_packets = 1 + static_cast<std::uint32_t>(random() % 12);
      config.train_packets = 1 + static_cast<std::uint32_t>(random() % 8);
      if (random() % 32 == 0) config.rate = Rate(kRates[random() % 4] * kGB);
      configs.push_back(config);
    }
    add_flow(0, nodes - 1, 0, 2 + random() % 12, rate);
    for (int n = 0; n < 4; ++n) looks.push_back(random() % (sendings.back().when + 200'000));
    joins_from = sendings.size();
    std::vector<Time> joins;
    for (std::uint64_t n = 1 + random() % 3; n > 0; --n) joins.push_back(join_time(rate));
    std::sort(joins.begin(), joins.end());
    for (const Time when : joins) {
      const auto from = static_cast<std::uint32_t>(random() % (nodes - 1));
      const auto to = static_cast<std::uint32_t>(from + 1 + random() % (nodes - 1 - from));
      add_flow(from, to, when, 1 + random() % 4, rate);
    }
  }

  void add_flow(std::uint32_t from, std::uint32_t to, Time when, std::uint64_t count, std::uint64_t rate) {
    const std::uint64_t kind = random() % 4;
    for (std::uint64_t m = 0; m < count; ++m) {
      std::uint64_t bytes = random() % 64 * 4096;
      if (kind == 0 || random() % 8 == 0) bytes = random() % 200'000;
      if (kind == 1 && random() % 2 == 0) bytes = random() % 3 * 2000;
      sendings.push_back({when, bytes_between(from, to, bytes, sendings.size())});
      if (random() % 3 != 0) when += random() % (2 * serialisation(bytes, rate) + 50'000);
    }
  }

  /// Often exactly when a message of the first flow begins or ends on a link, if none waits before.
  Time join_time(std::uint64_t rate) {
    const Sent& near = sendings[random() % joins_from];
    Time when = near.when + random() % (serialisation(near.what.bytes, rate) + 100'000);
    if (random() % 2 == 0) {
      when = near.when + (random() % 2 == 0 ? serialisation(near.what.bytes, rate) : 0);
      for (std::uint64_t k = random() % configs.size(); k > 0; --k) when += configs[k - 1].latency;
      when += random() % 3;
      when -= std::min<Time>(when, 1);
    }
    // Behind the first flow, which is opened first.
    return std::max<Time>(when, 1);
  }

  struct Sent {
    Time when;
    Sending what;
  };
  std::mt19937_64 random;
  std::vector<LinkConfig> configs;
  std::vector<Sent> sendings;  ///< in order of flows
  std::size_t joins_from = 0;
  std::vector<Time> looks;  ///< when statistics are compared
};

/// Counts of all links at one time.
std::vector<std::uint64_t> counts(const PathBench& bench, Time now) {
  std::vector<std::uint64_t> all;
  for (const Link& link : bench.links) {
    const LinkStatistics of = link.statistics();
    all.insert(all.end(),
               {of.bytes, of.packets, of.runs, of.busy_ps, of.stalled_ps, link.queued_packets(now)});
  }
  return all;
}

/// The same traffic twice: as it comes, and on links that arbitrate from the start, because all flows are
/// open (or one that never sends, where only the first flow is sent).
struct Twins {
  Twins(std::uint64_t seed, bool alone, Stage stage)
      : row(seed),
        sent(alone ? row.joins_from : row.sendings.size()),
        booked("b" + std::to_string(seed), row.configs),
        arbitrated("a" + std::to_string(seed), row.configs) {
    for (std::size_t i = 0; i < sent; ++i) {
      const Sending& what = row.sendings[i].what;
      arbitrated.open(what.from.value, what.to.value);
    }
    if (alone) arbitrated.open(0, 1);
    for (PathBench* bench : {&booked, &arbitrated}) {
      for (std::size_t i = 0; i < sent; ++i) {
        bench->send_at(row.sendings[i].when, row.sendings[i].what,
                       i < row.joins_from ? Stage::kFirmware : stage);
      }
      for (const Time when : row.looks) {
        bench->shared.at(
            when, [this, bench, when] { seen[bench].push_back(counts(*bench, when)); }, Stage::kAnswer);
      }
    }
  }

  void expect_equal() {
    SCOPED_TRACE(booked.links[0].name());
    booked.shared.calendar.rethrow_failure();
    arbitrated.shared.calendar.rethrow_failure();
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> packets;
    for (std::size_t i = 0; i < sent; ++i) {
      const Sending& what = row.sendings[i].what;
      const std::uint32_t from = what.from.value, to = what.to.value;
      ASSERT_NE(booked.arrival(from, what.tag), kNever);
      ASSERT_EQ(booked.arrival(from, what.tag), arbitrated.arrival(from, what.tag)) << "message " << i;
      std::uint64_t& end = packets[{from, to}];
      end += packets_of(what.bytes);
      ASSERT_EQ(booked.left(from, to, end - 1), arbitrated.left(from, to, end - 1)) << "message " << i;
    }
    ASSERT_EQ(seen[&booked], seen[&arbitrated]);
    ASSERT_EQ(counts(booked, kNever - 1), counts(arbitrated, kNever - 1));
  }

  RandomRow row;
  std::size_t sent;
  PathBench booked, arbitrated;
  std::map<PathBench*, std::vector<std::vector<std::uint64_t>>> seen;
};

void expect_equal(std::uint64_t first_seed, bool alone, Stage stage) {
  std::deque<Twins> all;
  for (std::uint64_t k = 0; k < 150; ++k) all.emplace_back(first_seed + k, alone, stage);
  sc_core::sc_start();
  std::uint64_t booked = 0, arbitrated = 0;
  for (Twins& twins : all) {
    twins.expect_equal();
    if (testing::Test::HasFatalFailure()) return;
    booked += twins.booked.shared.calendar.executed();
    arbitrated += twins.arbitrated.shared.calendar.executed();
  }
  EXPECT_LT(booked, arbitrated);
}

class Joined : public testing::TestWithParam<Stage> {};
TEST_P(Joined, IsAsIfNothingHadBeenBooked) { expect_equal(0, false, GetParam()); }
INSTANTIATE_TEST_SUITE_P(Stages, Joined,
                         testing::Values(Stage::kArrival, Stage::kFirmware, Stage::kArbitration));

TEST(BookedPath, IsAsIfItHadBeenArbitrated) { expect_equal(1000, true, Stage::kFirmware); }

}  // namespace
}  // namespace wafervp::test
