// SPDX-License-Identifier: Apache-2.0
// Matching of messages with expectations, and the order and times of completions.
#include <algorithm>
#include <random>

#include "bench.h"

namespace wafervp::test {
namespace {

TEST(Receive, AMessageForAnArmedExpectationCompletesWhenItsLastByteArrives) {
  Bench bench;
  bench.post_at(10, expect(7, 3, 42, 5000));
  bench.message_at(1000, 3, 42, 5000);
  bench.run();
  ASSERT_EQ(bench.seen.size(), 1u);
  const wvp_completion& completion = bench.seen[0].completion;
  EXPECT_EQ(bench.seen[0].when, 1000u);
  EXPECT_EQ(completion.cookie, 7u);
  EXPECT_EQ(completion.kind, WVP_C_RECEIVED);
  EXPECT_EQ(completion.status, WVP_S_OK);
  EXPECT_EQ(completion.from, 3u);
  EXPECT_EQ(completion.tag, 42u);
  EXPECT_EQ(completion.bytes, 5000u);
  EXPECT_EQ(bench.messages.outstanding(), 0u);
  EXPECT_EQ(bench.dut.statistics().received_bytes, 5000u);
  EXPECT_EQ(bench.dut.statistics().received_messages, 1u);
}

TEST(Receive, AnExpectationOfAnEarlyMessageCompletesAtTheProcessorsTime) {
  Bench bench;
  bench.message_at(1000, 3, 42, 5000);
  bench.at(2000, [&] {
    EXPECT_EQ(bench.dut.unmatched_messages(), 1u);
    bench.post(expect(7, 3, 42, 5000), 2600);  // the processor is ahead of the calendar
  });
  bench.run();
  ASSERT_EQ(bench.seen.size(), 1u);
  EXPECT_EQ(bench.seen[0].when, 2600u);
  EXPECT_EQ(bench.dut.unmatched_messages(), 0u);
}

TEST(Receive, ALaterCompletionDoesNotHoldBackAnEarlierOne) {
  Bench bench;
  bench.message_at(100, 1, 1, 8);
  bench.at(200, [&] { bench.post(expect(1, 1, 1, 8), 900); });
  bench.post_at(200, expect(2, 2, 2, 8));
  bench.message_at(300, 2, 2, 8);
  bench.run();
  ASSERT_EQ(bench.seen.size(), 2u);
  EXPECT_EQ(bench.seen[0].completion.cookie, 2u);
  EXPECT_EQ(bench.seen[0].when, 300u);
  EXPECT_EQ(bench.seen[1].completion.cookie, 1u);
  EXPECT_EQ(bench.seen[1].when, 900u);
}

TEST(Receive, CompletionsOfOneTimeAreSortedByCookie) {
  Bench bench;
  const std::vector<std::uint32_t> cookies = {9, 2, 7, 0xffffffffu, 4};
  for (std::uint32_t i = 0; i < cookies.size(); ++i) {
    bench.post_at(1, expect(cookies[i], 1 + i, 5, 8));
    bench.message_at(500, 1 + i, 5, 8);
  }
  bench.run();
  std::vector<std::uint32_t> order;
  for (const Seen& seen : bench.seen) order.push_back(seen.completion.cookie);
  EXPECT_EQ(order, (std::vector<std::uint32_t>{2, 4, 7, 9, 0xffffffffu}));
}

TEST(Receive, OneSizeMoreOrLessIsReportedWithTheSizeFound) {
  Bench bench;
  bench.post_at(1, expect(1, 1, 1, 100));
  bench.message_at(10, 1, 1, 99);
  bench.message_at(20, 2, 2, 101);
  bench.post_at(30, expect(2, 2, 2, 100));
  bench.post_at(30, expect(3, 3, 3, 0));
  bench.message_at(40, 3, 3, 0);
  bench.run();
  ASSERT_EQ(bench.seen.size(), 3u);
  EXPECT_EQ(bench.seen[0].completion.status, WVP_S_SIZE_MISMATCH);
  EXPECT_EQ(bench.seen[0].completion.bytes, 99u);
  EXPECT_EQ(bench.seen[1].completion.status, WVP_S_SIZE_MISMATCH);
  EXPECT_EQ(bench.seen[1].completion.bytes, 101u);
  EXPECT_EQ(bench.seen[2].completion.status, WVP_S_OK);
}

TEST(Receive, SenderAndTagBothCount) {
  Bench bench;
  bench.post_at(1, expect(1, 1, 5, 8));
  bench.message_at(10, 2, 5, 8);
  bench.message_at(20, 1, 6, 8);
  bench.at(30, [&] { EXPECT_EQ(bench.dut.unmatched_messages(), 3u); });
  bench.run();
  EXPECT_TRUE(bench.seen.empty());
  EXPECT_FALSE(bench.dut.idle());
}

TEST(Receive, EqualPairsMatchInOrder) {
  Bench bench;
  for (std::uint32_t i = 0; i < 3; ++i) bench.post_at(1, expect(10 + i, 1, 5, 100 + i));
  for (std::uint32_t i = 0; i < 5; ++i) bench.message_at(10 + i, 1, 5, 100 + i);
  for (std::uint32_t i = 3; i < 5; ++i) bench.post_at(50 + i, expect(10 + i, 1, 5, 100 + i));
  bench.run();
  ASSERT_EQ(bench.seen.size(), 5u);
  for (std::uint32_t i = 0; i < 5; ++i) {
    EXPECT_EQ(bench.seen[i].completion.cookie, 10 + i);
    EXPECT_EQ(bench.seen[i].completion.status, WVP_S_OK) << i;
  }
}

TEST(Receive, ManyOutstandingPairsMatchInAnyOrder) {
  Bench bench;
  constexpr std::uint32_t kPairs = 3000;
  std::mt19937 random(1);
  std::vector<std::uint32_t> order(kPairs);
  for (std::uint32_t i = 0; i < kPairs; ++i) order[i] = i;
  // Half of them are expected before, half after the message.
  bench.at(1, [&] {
    for (std::uint32_t i = 0; i < kPairs; i += 2) bench.post(expect(i, 1 + i % 7, i / 7, i), 1);
  });
  std::shuffle(order.begin(), order.end(), random);
  for (std::uint32_t i = 0; i < kPairs; ++i)
    bench.message_at(1000 + i, 1 + order[i] % 7, order[i] / 7, order[i]);
  bench.at(10'000, [&] {
    for (std::uint32_t i = 1; i < kPairs; i += 2) bench.post(expect(i, 1 + i % 7, i / 7, i), 10'000);
  });
  bench.on_completion = [&](const wvp_completion& completion, Time now) {
    EXPECT_EQ(completion.status, WVP_S_OK);
    EXPECT_EQ(completion.bytes, completion.cookie);
    bench.post(combine(completion.cookie, WVP_D_COMBINE_DROP, completion.staged), now);
  };
  bench.run();
  EXPECT_EQ(bench.seen.size(), kPairs);
  EXPECT_EQ(bench.dut.unmatched_messages(), 0u);
  EXPECT_TRUE(bench.dut.idle());
  EXPECT_EQ(bench.messages.outstanding(), 0u);
}

TEST(Receive, ARunThatIsShortenedIsWaitedForAnew) {
  static const Rate rate(4096'000'000'000ull);  // a packet each ns
  Bench bench;
  bench.post_at(1, expect(1, 1, 1, 10 * 4096));
  bench.at(100, [&] {
    Message& message = bench.make_message(1, 1, 10 * 4096);
    wafervp::Run run = wafervp::Run::from_source(message, 1000);
    run.rate = &rate;
    bench.fabric.head(run);  // all by 11 ns
    bench.at(5000, [&bench, run]() mutable {
      run.shorten(6);
      bench.fabric.head(run);  // only six of them
      wafervp::Run rest = wafervp::Run::from_source(*run.message, 20'000);
      rest.rate = &rate;
      rest.first += 6;
      rest.count -= 6;
      bench.at(
          18'000, [&bench, rest] { bench.fabric.head(rest); }, Stage::kArbitration);
    });
  });
  bench.run();
  ASSERT_EQ(bench.seen.size(), 1u);
  EXPECT_EQ(bench.seen[0].when, 24'000u);
}

TEST(Receive, ARunThatIsTakenBackDoesNotArrive) {
  Bench bench;
  bench.post_at(1, expect(1, 1, 1, 8));
  bench.at(100, [&] {
    Message& message = bench.announce(1, 1, 8, 1000);
    wafervp::Run run = wafervp::Run::from_source(message, 1000);
    run.shorten(0);
    bench.at(500, [&bench, run] { bench.fabric.head(run); });
  });
  bench.run();
  EXPECT_TRUE(bench.seen.empty());
  EXPECT_EQ(bench.messages.outstanding(), 1u);
}

TEST(Receive, AResultOfAnInNetworkFlowHasTheFlowAsSender) {
  Bench bench;
  bench.post_at(1, expect(1, WVP_FROM_FLOW | 12, 1, 8));
  bench.at(10, [&] {
    Message& message = bench.make_message(5, 1, 8);
    message.flow = &bench.flows.into_group(NpuId(5), 12, WVP_CLASS_DP);
    bench.fabric.head(wafervp::Run::from_source(message, 900));
  });
  bench.run();
  ASSERT_EQ(bench.seen.size(), 1u);
  EXPECT_EQ(bench.seen[0].completion.from, WVP_FROM_FLOW | 12);
}

TEST(Receive, StagedBytesPeakCountsUntilTheCombine) {
  Bench bench;
  for (std::uint32_t i = 0; i < 3; ++i) bench.post_at(1, expect(i, 1, i, 1000));
  bench.message_at(10, 1, 0, 1000);
  bench.message_at(20, 1, 1, 1000);
  bench.message_at(40, 1, 2, 1000);
  bench.at(30, [&] {
    for (const Seen& seen : bench.seen)
      bench.post(combine(9, WVP_D_COMBINE_DROP, seen.completion.staged), 30);
  });
  bench.run();
  EXPECT_EQ(bench.dut.statistics().staged_bytes_peak, 2000u);
  EXPECT_FALSE(bench.dut.idle());  // the third one is still staged
}

TEST(CompletionRing, TakesMoreAtOneTimeThanItHoldsWhenFirmwareKeepsUp) {
  AcceleratorConfig config = Bench::basic();
  config.completion_entries = 4;
  Bench bench(config);
  for (std::uint32_t i = 0; i < 20; ++i) bench.post_at(1, expect(i, 1, i, 8));
  for (std::uint32_t i = 0; i < 20; ++i) bench.message_at(10, 1, 19 - i, 8);
  bench.run();
  ASSERT_EQ(bench.seen.size(), 20u);
  for (std::uint32_t i = 0; i < 20; ++i) EXPECT_EQ(bench.seen[i].completion.cookie, i);
  EXPECT_EQ(bench.dut.statistics().completions, 20u);
}

TEST(CompletionRing, OverrunNamesTheNpu) {
  AcceleratorConfig config = Bench::basic();
  config.npu = NpuId(6);
  config.completion_entries = 4;
  Bench bench(config);
  bench.take_completions = false;
  for (std::uint32_t i = 0; i < 5; ++i) {
    wvp_descriptor copy{};
    copy.flags = WVP_D_COPY;
    bench.post_at(1 + i, copy);
  }
  EXPECT_THAT(bench.run_to_error(), testing::HasSubstr("NPU 6: the completion ring of 4 entries is overrun"));
}

// Others may go on sending to a rank that has given up.
TEST(CompletionRing, DropsWhatFindsItFullAfterExit) {
  AcceleratorConfig config = Bench::basic();
  config.completion_entries = 4;
  Bench bench(config);
  bench.take_completions = false;
  bench.at(1, [&] {
    for (std::uint32_t i = 0; i < 20; ++i) bench.post(expect(i, 1, i, 8), 1);
    bench.dut.write32(WVP_REG_EXIT, WVP_EXIT_SIZE_MISMATCH, 1);
  });
  for (std::uint32_t i = 0; i < 20; ++i) bench.message_at(10 + i / 7, 1, i, 8);
  bench.run();
  EXPECT_EQ(bench.dut.read32(WVP_REG_CQ_TAIL, 100), 4u);
  EXPECT_EQ(bench.dut.statistics().received_messages, 20u);
}

}  // namespace
}  // namespace wafervp::test
