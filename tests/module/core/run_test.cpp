// SPDX-License-Identifier: Apache-2.0
// Messages, their pool and the arithmetic of runs.
#include <gmock/gmock.h>

#include <cstdint>
#include <set>

#include "core/flow.h"

namespace wafervp {
namespace {

Message& make(MessagePool& pool, Flow& flow, std::uint64_t bytes, std::uint64_t first = 0) {
  Message& message = *pool.acquire();
  message.flow = &flow;
  message.bytes = bytes;
  message.packets = packets_of(bytes);
  message.first_packet = first;
  return message;
}

TEST(MessagePool, GivesDistinctMessagesAndCountsThem) {
  MessagePool pool;
  std::set<Message*> out;
  for (int i = 0; i < 1000; ++i) out.insert(pool.acquire());
  EXPECT_EQ(out.size(), 1000u);
  EXPECT_EQ(pool.outstanding(), 1000u);
  for (Message* message : out) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(message) % alignof(Message), 0u);
    pool.release(message);
  }
  EXPECT_EQ(pool.outstanding(), 0u);
}

TEST(MessagePool, ReusesMessagesAndDropsWhatTheyHeld) {
  MessagePool pool;
  Message* first = pool.acquire();
  const Bytes data = std::make_shared<std::vector<std::byte>>(16);
  first->data = data;
  first->windowed = true;
  pool.release(first);
  EXPECT_EQ(data.use_count(), 1);
  Message* again = pool.acquire();
  EXPECT_EQ(again, first);
  EXPECT_EQ(again->data, nullptr);
  EXPECT_FALSE(again->windowed);
  pool.release(again);
}

TEST(Message, CountsThePacketsOfItsBytes) {
  EXPECT_EQ(packets_of(0), 1u);
  EXPECT_EQ(packets_of(1), 1u);
  EXPECT_EQ(packets_of(4096), 1u);
  EXPECT_EQ(packets_of(4097), 2u);

  MessagePool pool;
  Flow flow;
  Message& message = make(pool, flow, 3 * 4096 + 5, 10);
  EXPECT_EQ(message.end_packet(), 14u);
  EXPECT_EQ(message.bytes_of(10, 4), 3u * 4096 + 5);
  EXPECT_EQ(message.bytes_of(11, 2), 2u * 4096);
  EXPECT_EQ(message.bytes_of(13, 1), 5u);
  pool.release(&message);
}

TEST(RunOfPackets, FromASourceIsThereAllAtOnce) {
  MessagePool pool;
  Flow flow;
  Message& message = make(pool, flow, 2 * 4096 + 7, 5);
  const wafervp::Run run = wafervp::Run::from_source(message, 123);
  EXPECT_EQ(run.first, 5u);
  EXPECT_EQ(run.end(), 8u);
  EXPECT_TRUE(run.complete());
  EXPECT_EQ(run.head(0), 123u);
  EXPECT_EQ(run.tail(2), 123u);
  EXPECT_EQ(run.bytes(3), 2u * 4096 + 7);
  pool.release(&message);
}

TEST(RunOfPackets, PassesAtItsRateFromTheStartOfTheBusyPeriod) {
  const Rate rate(3'000'000'000'000);
  wafervp::Run run;
  run.rate = &rate;
  run.origin = 1000;
  run.offset = 2 * 4096;
  run.count = 3;
  run.tail_bytes = 100;
  run.last = true;
  EXPECT_EQ(run.head(0), 1000 + rate.ps(2 * 4096));
  EXPECT_EQ(run.tail(0), 1000 + rate.ps(3 * 4096));
  EXPECT_EQ(run.tail(0), run.head(1));
  EXPECT_EQ(run.tail(2), 1000 + rate.ps(4 * 4096 + 100));

  run.shorten(5);  // longer than it is: nothing changes
  EXPECT_EQ(run.count, 3u);
  EXPECT_TRUE(run.complete());
  run.shorten(2);
  EXPECT_EQ(run.count, 2u);
  EXPECT_FALSE(run.complete());
  EXPECT_EQ(run.bytes(2), 2u * 4096);
  EXPECT_EQ(run.tail(1), 1000 + rate.ps(4 * 4096));
}

// 375 GB/s on a link of 3 TB/s: 10923 ps from packet to packet, 1366 ps long, tails where 375 GB/s has them.
TEST(RunOfPackets, PacedHasTheSpacingOfTheSlowAndTheLengthOfTheFastLink) {
  const Rate slow(375'000'000'000), fast(3'000'000'000'000);
  wafervp::Run run;
  run.rate = &slow;
  run.origin = 500;
  run.late = slow.ps(4096) - fast.ps(4096);
  run.count = 4;
  run.tail_bytes = kPacketBytes;
  for (std::uint64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(run.tail(i), 500 + slow.ps((i + 1) * 4096));
    EXPECT_NEAR(static_cast<double>(run.tail(i) - run.head(i)), static_cast<double>(fast.ps(4096)), 2.0);
  }
  // A short last packet must not begin after its own end.
  run.tail_bytes = 8;
  run.last = true;
  EXPECT_LE(run.head(3), run.tail(3));
}

}  // namespace
}  // namespace wafervp
