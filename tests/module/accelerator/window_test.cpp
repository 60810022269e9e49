// SPDX-License-Identifier: Apache-2.0
// WVP_D_WINDOW and WVP_D_NOTIFY_SENT: two messages in flight a flow, notices at the time of leaving.
#include "bench.h"

namespace wafervp::test {
namespace {

const Rate kRate(4096'000'000'000ull);  // a packet each ns

wvp_descriptor windowed(std::uint32_t cookie, std::uint32_t to, std::uint64_t bytes,
                        std::uint32_t priority = 0) {
  wvp_descriptor descriptor = send(cookie, to, cookie, bytes);
  descriptor.flags |= WVP_D_WINDOW;
  descriptor.priority = priority;
  return descriptor;
}

/// The credits of a first link: `run` leaves its queue from `start` on at one packet a ns.
wafervp::Run leaving(wafervp::Run run, Time start) {
  run.rate = &kRate;
  run.origin = start;
  return run;
}

/// A first link that sends what it is handed, one message behind the other.
void serve(Bench& bench) {
  auto free_at = std::make_shared<Time>(0);
  bench.fabric.on_handed = [&bench, free_at](const Handed& handed) {
    const Time start = std::max(*free_at, handed.run.origin);
    const wafervp::Run run = leaving(handed.run, start);
    *free_at = run.tail(run.count - 1);
    bench.fabric.credit(run);
  };
}

std::vector<std::uint64_t> tags(const Bench& bench) {
  std::vector<std::uint64_t> tags;
  for (const Handed& handed : bench.fabric.handed) tags.push_back(handed.tag);
  return tags;
}

TEST(Window, TwoMessagesOfAFlowAreInFlight) {
  Bench bench;
  serve(bench);
  bench.at(0, [&] {
    for (std::uint32_t i = 0; i < 5; ++i) bench.post(windowed(i, 2, 4 * 4096), 0);
    for (std::uint32_t i = 10; i < 13; ++i) bench.post(send(i, 3, i, 4 * 4096), 0);  // not windowed
  });
  bench.run();
  ASSERT_EQ(tags(bench), (std::vector<std::uint64_t>{0, 1, 10, 11, 12, 2, 3, 4}));
  const std::vector<Handed>& handed = bench.fabric.handed;
  EXPECT_EQ(handed[1].when, 0u);
  // Message 2 goes in when message 0 has left, and so on. Messages of the other flow stand between on the
  // link.
  EXPECT_EQ(handed[5].when, 4000u);
  EXPECT_EQ(handed[6].when, 8000u);
  EXPECT_EQ(handed[5].run.origin, 4000u);
  EXPECT_TRUE(bench.seen.empty());
  EXPECT_TRUE(bench.dut.idle());
}

TEST(Window, EachFlowHasItsOwn) {
  Bench bench;
  bench.at(0, [&] {
    for (std::uint32_t i = 0; i < 3; ++i) {
      bench.post(windowed(10 + i, 1, 8), 0);
      bench.post(windowed(20 + i, 2, 8), 0);
      wvp_descriptor group = windowed(30 + i, 2, 8);
      group.flags |= WVP_D_SEND_FLOW;
      bench.post(group, 0);
    }
  });
  bench.run();
  EXPECT_EQ(tags(bench), (std::vector<std::uint64_t>{10, 20, 30, 11, 21, 31}));
  EXPECT_FALSE(bench.dut.idle());
}

TEST(Window, TheOthersWaitByPriorityThenByPosting) {
  Bench bench;
  serve(bench);
  bench.at(0, [&] {
    bench.post(windowed(0, 2, 8, 9), 0);
    bench.post(windowed(1, 2, 8, 9), 0);
    bench.post(windowed(2, 2, 8, 5), 0);
    bench.post(windowed(3, 2, 8, 3), 0);
    bench.post(windowed(4, 2, 8, 5), 0);
    bench.post(windowed(5, 2, 8, 3), 0);
    bench.post(windowed(6, 2, 8, 4), 0);
  });
  bench.run();
  EXPECT_EQ(tags(bench), (std::vector<std::uint64_t>{0, 1, 3, 5, 6, 2, 4}));
}

TEST(Window, AMessageWhoseReductionRunsDoesNotHoldAReadyOneBack) {
  AcceleratorConfig config = Bench::basic();
  config.reduce_bytes_per_s = 3'000'000'000'000ull;  // a byte a ps
  Bench bench(config);
  serve(bench);
  bench.post_at(1, expect(1, 1, 1, 50'000));
  bench.message_at(100, 1, 1, 50'000);
  bench.on_completion = [&](const wvp_completion& completion, Time now) {
    wvp_descriptor reduced = windowed(5, 2, 4096, 0);
    reduced.flags |= WVP_D_COMBINE_REDUCE;
    reduced.staged = completion.staged;
    bench.post(reduced, now);  // ready at 50.1 ns
    for (std::uint32_t i = 6; i < 10; ++i) bench.post(windowed(i, 2, 4096, 1), now);
  };
  bench.run();
  EXPECT_EQ(tags(bench), (std::vector<std::uint64_t>{6, 7, 8, 9, 5}));
  EXPECT_EQ(bench.fabric.handed[4].when, 50'100u);
  EXPECT_EQ(bench.fabric.handed[4].run.origin, 50'100u);
}

TEST(Window, NotifySentComesWhenTheLastByteHasLeft) {
  Bench bench;
  serve(bench);
  bench.at(0, [&] {
    wvp_descriptor descriptor = send(3, 2, 0, 2 * 4096);
    descriptor.flags |= WVP_D_NOTIFY_SENT;
    bench.post(descriptor, 500);
    descriptor.cookie = 4;
    descriptor.send_bytes = 1;
    bench.post(descriptor, 500);
    bench.post(send(5, 2, 0, 8), 500);
  });
  bench.run();
  ASSERT_EQ(bench.seen.size(), 2u);
  EXPECT_EQ(bench.seen[0].completion.cookie, 3u);
  EXPECT_EQ(bench.seen[0].completion.kind, WVP_C_SENT);
  EXPECT_EQ(bench.seen[0].when, 2500u);
  EXPECT_EQ(bench.seen[1].completion.cookie, 4u);
  EXPECT_EQ(bench.seen[1].when, 2501u);  // 1 byte at 4.096 TB/s, rounded up
}

TEST(Window, AShortenedCreditMovesTheNotice) {
  Bench bench;
  wafervp::Run handed;
  bench.fabric.on_handed = [&](const Handed& what) {
    handed = what.run;
    bench.fabric.credit(leaving(handed, 1000));  // all ten by 11 ns
  };
  bench.at(0, [&] {
    wvp_descriptor descriptor = send(3, 2, 0, 10 * 4096);
    descriptor.flags |= WVP_D_NOTIFY_SENT;
    bench.post(descriptor, 0);
  });
  bench.at(4000, [&] {
    wafervp::Run run = leaving(handed, 1000);
    run.shorten(6);
    bench.fabric.credit(run);
    bench.fabric.credit(run, FabricPhase::kStall);  // means nothing to a source
  });
  bench.at(20'000, [&] {
    wafervp::Run rest = leaving(handed, 25'000);
    rest.first += 6;
    rest.count -= 6;
    bench.fabric.credit(rest);
  });
  bench.run();
  ASSERT_EQ(bench.seen.size(), 1u);
  EXPECT_EQ(bench.seen[0].when, 29'000u);
}

TEST(Window, AShortenedCreditHoldsTheNextMessageBack) {
  Bench bench;
  bench.at(0, [&] {
    for (std::uint32_t i = 0; i < 3; ++i) bench.post(windowed(i, 2, 4 * 4096), 0);
    bench.fabric.credit(leaving(bench.fabric.handed[0].run, 0));
  });
  bench.at(1500, [&] {
    wafervp::Run run = leaving(bench.fabric.handed[0].run, 0);
    run.shorten(2);
    bench.fabric.credit(run);
  });
  bench.at(9000, [&] {
    EXPECT_EQ(bench.fabric.handed.size(), 2u);
    wafervp::Run rest = leaving(bench.fabric.handed[0].run, 9000);
    rest.first += 2;
    rest.count -= 2;
    bench.fabric.credit(rest);
  });
  bench.run();
  ASSERT_EQ(bench.fabric.handed.size(), 3u);
  EXPECT_EQ(bench.fabric.handed[2].when, 11'000u);
}

TEST(Window, CreditsOfOtherMessagesAreIgnored) {
  Bench bench;
  serve(bench);
  bench.at(0, [&] {
    bench.post(send(1, 2, 0, 4096), 0);
    bench.post(windowed(2, 2, 4096), 0);
    bench.post(send(3, 2, 0, 4096), 0);
  });
  bench.run();
  EXPECT_EQ(bench.fabric.handed.size(), 3u);
  EXPECT_TRUE(bench.seen.empty());
  EXPECT_TRUE(bench.dut.idle());
}

}  // namespace
}  // namespace wafervp::test
