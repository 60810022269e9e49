// SPDX-License-Identifier: Apache-2.0
// WVP_D_WALK: steps that the message engine takes by itself.
#include <cstring>

#include "bench.h"

namespace wafervp::test {
namespace {

constexpr std::uint64_t kTag = 0x7'0000'0100;

/// Walk `number` of 4 shares of a vector of int32 at address 16: 3, 3, 2, 2 elements; begins with share 1.
wvp_walk& set_walk(Bench& bench, std::uint32_t number, std::uint32_t steps) {
  wvp_walk& walk = bench.dut.walk_table()[number];
  walk = {};
  walk.address = 16;
  walk.stride = walk.bytes = 8;
  walk.longer = 2;
  walk.shares = 4;
  walk.share = 1;
  walk.tag = kTag;
  walk.from = 1;
  walk.send_to = 2;
  walk.left = steps;
  walk.dtype = WVP_INT32;
  walk.flags = WVP_W_MORE_IN;
  return walk;
}

wvp_descriptor start(std::uint32_t number) {
  wvp_descriptor descriptor{};
  descriptor.flags = WVP_D_EXPECT | WVP_D_WALK;
  descriptor.cookie = number;
  return descriptor;
}

/// "tag offset bytes time" of each message that was handed over.
std::vector<std::string> handed(const Bench& bench) {
  std::vector<std::string> texts;
  for (const Handed& one : bench.fabric.handed) {
    texts.push_back(std::to_string(one.tag - kTag) + " " + std::to_string(one.bytes) + " at " +
                    std::to_string(one.run.origin));
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(Walk, CombinesSendsOnAndHandsTheMessageBehindItToFirmware) {
  AcceleratorConfig config = Bench::basic();
  config.memory_bytes = 64;
  Bench bench(config);
  std::int32_t memory[16];
  for (int i = 0; i < 16; ++i) memory[i] = 100 * i;
  std::memcpy(bench.dut.memory(), memory, 64);
  set_walk(bench, 3, 2).flags |= WVP_W_REDUCE;
  bench.post_at(0, start(3));
  bench.message_at(10, 1, kTag, 12, bytes_of({1, 2, 3}));
  bench.message_at(20, 1, kTag + 1, 12, bytes_of({4, 5, 6}));
  bench.message_at(30, 1, kTag + 2, 8, bytes_of({7, 8}));
  bench.at(15, [&] {
    EXPECT_FALSE(bench.dut.idle());
    EXPECT_EQ(bench.dut.unmatched_messages(), 1u);
    EXPECT_EQ(bench.dut.walk_table()[3].left, 1u);
  });
  bench.run();
  // Share 1 lies behind share 0 at 16 + 12 bytes, share 0 comes next, then share 3.
  EXPECT_EQ(words(bench.dut.memory(), 10),
            (std::vector<std::int32_t>{0, 100, 200, 300, 404, 505, 606, 701, 802, 903}));
  EXPECT_EQ(handed(bench), (Texts{"1 12 at 10", "2 12 at 20"}));
  EXPECT_EQ(words(bench.fabric.handed[0].data->data(), 3), (std::vector<std::int32_t>{701, 802, 903}));
  EXPECT_EQ(words(bench.fabric.handed[1].data->data(), 3), (std::vector<std::int32_t>{404, 505, 606}));
  ASSERT_EQ(bench.seen.size(), 1u);
  const wvp_completion& last = bench.seen[0].completion;
  EXPECT_EQ(bench.seen[0].when, 30u);
  EXPECT_EQ(last.cookie, 3u);
  EXPECT_EQ(last.kind, WVP_C_RECEIVED);
  EXPECT_EQ(last.status, WVP_S_OK);
  EXPECT_EQ(last.tag, kTag + 2);
  EXPECT_EQ(last.bytes, 8u);
  const wvp_walk& walk = bench.dut.walk_table()[3];
  EXPECT_EQ(walk.left, 0u);
  EXPECT_EQ(walk.under_way, 0u);
  EXPECT_EQ(walk.share, 3u);
  EXPECT_EQ(bench.dut.statistics().walked_steps, 2u);
  EXPECT_EQ(bench.dut.statistics().received_messages, 3u);
  EXPECT_EQ(bench.dut.statistics().staged_bytes_peak, 12u);
}

TEST(Walk, CopiesSharesOfBytesThatLieFurtherApart) {
  AcceleratorConfig config = Bench::basic();
  config.memory_bytes = 64;
  Bench bench(config);
  wvp_walk& walk = set_walk(bench, 0, 1);
  walk.flags = WVP_W_BYTES | WVP_W_MORE_AT | WVP_W_MORE_IN;
  walk.stride = 10;
  walk.bytes = 2;
  bench.post_at(0, start(0));
  auto data = std::make_shared<std::vector<std::byte>>(3, std::byte{9});
  bench.message_at(10, 1, kTag, 3, data);
  bench.run();
  // 16 + 1 * 10 + 1 longer share before + 1 because its part begins later.
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(bench.dut.memory()[i], i >= 28 && i < 31 ? std::byte{9} : std::byte{0}) << i;
  }
}

TEST(Walk, StepsTakeTheirTimeOneAfterTheOtherAndWaitForTheSum) {
  AcceleratorConfig config = Bench::basic();
  config.reduce_bytes_per_s = 3'000'000'000'000;  // a byte each ps, read, read, written
  Bench bench(config);
  bench.step_ps = 7;
  set_walk(bench, 0, 1).flags |= WVP_W_REDUCE;
  wvp_walk& other = set_walk(bench, 1, 1);
  other.from = 5;
  other.send_to = 6;
  bench.post_at(0, start(0));
  bench.post_at(0, start(1));
  bench.message_at(100, 1, kTag, 12);
  bench.message_at(103, 5, kTag, 12);
  bench.run();
  EXPECT_EQ(handed(bench), (Texts{"1 12 at 119", "1 12 at 114"}));
}

TEST(Walk, TakesWhatIsHereAlready) {
  Bench bench;
  bench.step_ps = 7;
  set_walk(bench, 0, 2);
  for (std::uint64_t i = 0; i < 3; ++i) bench.message_at(10 + i, 1, kTag + i, i < 2 ? 12 : 8);
  bench.at(50, [&] { bench.post(start(0), 60); });
  bench.run();
  EXPECT_EQ(handed(bench), (Texts{"1 12 at 67", "2 12 at 74"}));
  ASSERT_EQ(bench.seen.size(), 1u);
  EXPECT_EQ(bench.seen[0].when, 74u);
  EXPECT_EQ(bench.dut.statistics().staged_bytes_peak, 32u);
}

TEST(Walk, AWalkWithoutStepsIsAnExpectation) {
  Bench bench;
  set_walk(bench, 0, 0);
  bench.post_at(0, start(0));
  bench.message_at(10, 1, kTag, 12);
  bench.run();
  EXPECT_TRUE(bench.fabric.handed.empty());
  ASSERT_EQ(bench.seen.size(), 1u);
  EXPECT_EQ(bench.seen[0].completion.bytes, 12u);
}

class SameTime : public testing::TestWithParam<bool> {};

// Both walks send into one flow, and each step takes time.
TEST_P(SameTime, MessagesTakeTheirStepsInTheOrderOfTheirTags) {
  Bench bench;
  bench.step_ps = 5;
  set_walk(bench, 0, 1).tag = kTag + 50;
  set_walk(bench, 1, 1).from = 3;
  bench.at(0, [&] {
    bench.post(expect(2, 4, kTag, 8), 0);
    bench.post(start(0), 0);
    bench.post(start(1), 0);
  });
  std::vector<std::pair<std::uint32_t, std::uint64_t>> messages = {{1, kTag + 50}, {3, kTag}, {4, kTag}};
  if (GetParam()) std::reverse(messages.begin(), messages.end());
  for (const auto& [from, tag] : messages) bench.message_at(10, from, tag, from == 4 ? 8 : 12);
  std::size_t before_firmware = 0;
  bench.on_completion = [&](const wvp_completion& completion, Time) {
    if (completion.cookie == 2) before_firmware = bench.fabric.handed.size();
  };
  bench.run();
  EXPECT_EQ(handed(bench), (Texts{"1 12 at 15", "51 12 at 20"}));
  EXPECT_EQ(before_firmware, 2u);
}

INSTANTIATE_TEST_SUITE_P(Walk, SameTime, testing::Bool());

TEST(Walk, FindsAMessageWhoseSenderHasAnotherNumberForIt) {
  Bench bench;
  for (const std::uint32_t number : {1u, 40u, 79u}) {
    set_walk(bench, number, 1).tag = kTag + 10 * number;
    bench.post_at(0, start(number));
  }
  for (const std::uint32_t number : {79u, 1u, 40u}) {
    bench.at(
        100 + number,
        [&bench, number] {
          Message& message = bench.make_message(1, kTag + 10 * number, 12);
          message.cookie = number == 79 ? 1 : 0xffffffffu;
          wafervp::Run run = wafervp::Run::from_source(message, bench.calendar.now());
          run.hop = 1;
          bench.fabric.head(run);
        },
        Stage::kArrival);
  }
  bench.run();
  EXPECT_EQ(handed(bench), (Texts{"11 12 at 101", "401 12 at 140", "791 12 at 179"}));
}

TEST(Walk, AMessageOfAnotherSizeEndsIt) {
  Bench bench;
  set_walk(bench, 0, 2);
  bench.post_at(0, start(0));
  bench.message_at(10, 1, kTag, 12);
  bench.message_at(20, 1, kTag + 1, 8);
  bench.run();
  EXPECT_EQ(handed(bench), (Texts{"1 12 at 10"}));
  ASSERT_EQ(bench.seen.size(), 1u);
  EXPECT_EQ(bench.seen[0].completion.status, WVP_S_SIZE_MISMATCH);
  EXPECT_EQ(bench.seen[0].completion.bytes, 8u);
  EXPECT_EQ(bench.dut.walk_table()[0].left, 1u);
  EXPECT_EQ(bench.dut.walk_table()[0].share, 0u);
  EXPECT_EQ(bench.dut.walk_table()[0].under_way, 0u);
  EXPECT_FALSE(bench.dut.idle());  // the message is staged
}

TEST(Walk, AMessageOfAnotherSizeThatIsHereAlreadyEndsIt) {
  Bench bench;
  set_walk(bench, 0, 2);
  bench.message_at(10, 1, kTag, 13);
  bench.at(20, [&] { bench.post(start(0), 25); });
  bench.run();
  EXPECT_TRUE(bench.fabric.handed.empty());
  ASSERT_EQ(bench.seen.size(), 1u);
  EXPECT_EQ(bench.seen[0].when, 25u);
  EXPECT_EQ(bench.seen[0].completion.status, WVP_S_SIZE_MISMATCH);
  EXPECT_EQ(bench.dut.walk_table()[0].left, 2u);
}

TEST(Walk, ItsSendsMayWaitForAWindow) {
  Bench bench;
  bench.at(0, [&] {
    for (std::uint32_t number = 0; number < 4; ++number) {
      wvp_walk& walk = set_walk(bench, number, 1);
      walk.tag = kTag + 10 * number;
      walk.flags |= WVP_W_WINDOW;
      walk.priority = 9 - number;
      bench.post(start(number), 0);
    }
  });
  for (std::uint32_t number = 0; number < 4; ++number) bench.message_at(10, 1, kTag + 10 * number, 12);
  const Rate rate(1'000'000'000'000);
  bench.at(20, [&] {
    ASSERT_EQ(handed(bench), (Texts{"1 12 at 10", "11 12 at 10"}));
    for (int i = 0; i < 2; ++i) {
      wafervp::Run run = bench.fabric.handed[static_cast<std::size_t>(i)].run;
      run.rate = &rate;
      run.origin = 30;
      bench.fabric.credit(run);
    }
  });
  bench.run();
  EXPECT_EQ(handed(bench), (Texts{"1 12 at 10", "11 12 at 10", "31 12 at 42", "21 12 at 42"}));
}

TEST(Walk, WhatCameThroughAWindowGoesOnWithoutOne) {
  Bench bench;
  set_walk(bench, 0, 1);
  bench.post_at(0, start(0));
  bench.at(
      10,
      [&bench] {
        Message& message = bench.make_message(1, kTag, 12);
        message.windowed = true;
        wafervp::Run run = wafervp::Run::from_source(message, 10);
        run.hop = 1;
        bench.fabric.head(run);
      },
      Stage::kArrival);
  bench.fabric.on_handed = [](const Handed& handed) { EXPECT_FALSE(handed.run.message->windowed); };
  bench.run();
  EXPECT_EQ(handed(bench), (Texts{"1 12 at 10"}));
}

struct Refusal {
  std::function<void(Bench&)> post;
  const char* why;
};
class Refused : public testing::TestWithParam<Refusal> {};

TEST_P(Refused, SaysWhy) {
  Bench bench;
  set_walk(bench, 0, 1);
  bench.at(0, [&] { GetParam().post(bench); });
  EXPECT_THAT(bench.run_to_error(), testing::HasSubstr(GetParam().why));
}

INSTANTIATE_TEST_SUITE_P(Walk, Refused,
                         testing::Values(Refusal{[](Bench& bench) {
                                                   wvp_descriptor descriptor = send(0, 1, 0, 4);
                                                   descriptor.flags |= WVP_D_WALK;
                                                   bench.post(descriptor, 0);
                                                 },
                                                 "WALK without EXPECT"},
                                         Refusal{[](Bench& bench) { bench.post(start(80), 0); },
                                                 "no such walk"},
                                         Refusal{[](Bench& bench) {
                                                   bench.post(start(0), 0);
                                                   bench.post(start(0), 0);
                                                 },
                                                 "the walk is under way"},
                                         Refusal{[](Bench& bench) {
                                                   bench.dut.walk_table()[0].share = 4;
                                                   bench.post(start(0), 0);
                                                 },
                                                 "the walk's share is not one of its shares"},
                                         Refusal{[](Bench& bench) {
                                                   bench.dut.walk_table()[0].traffic_class = 4;
                                                   bench.post(start(0), 0);
                                                 },
                                                 "no such traffic class"}));

TEST(Walk, TheTableHasAtLeastOneEntry) {
  AcceleratorConfig config = Bench::basic();
  config.walk_entries = 0;
  EXPECT_THROW(Bench{config}, std::invalid_argument);
}

}  // namespace
}  // namespace wafervp::test
