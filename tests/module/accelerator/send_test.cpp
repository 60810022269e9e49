// SPDX-License-Identifier: Apache-2.0
// What a SEND hands to the fabric and when; the reduction ALU; refused descriptors.
#include "bench.h"

namespace wafervp::test {
namespace {

/// ceil(3 n * 10^12 / rate), by long division in decimal-free integers.
Time reduce_time(std::uint64_t bytes, std::uint64_t rate) {
  __extension__ using Wide = unsigned __int128;
  const Wide work = static_cast<Wide>(3) * bytes * 1'000'000'000'000ull;
  return static_cast<Time>(work / rate + (work % rate != 0 ? 1 : 0));
}

TEST(Send, HandsTheWholeMessageToTheFabricAtTheProcessorsTime) {
  Bench bench;
  bench.at(100, [&] { bench.post(send(1, 3, 77, 10'000), 250); });
  bench.at(400, [&] { bench.post(send(2, 3, 78, 0), 400); });
  bench.at(500, [&] { bench.post(send(3, 4, 79, 4096), 500); });
  bench.run();
  ASSERT_EQ(bench.fabric.handed.size(), 3u);
  const Handed& first = bench.fabric.handed[0];
  EXPECT_EQ(first.when, 100u);
  EXPECT_EQ(first.run.origin, 250u);
  EXPECT_EQ(first.run.rate, nullptr);
  EXPECT_EQ(first.run.first, 0u);
  EXPECT_EQ(first.run.count, 3u);
  EXPECT_EQ(first.run.hop, 0u);
  EXPECT_TRUE(first.run.complete());
  EXPECT_EQ(first.run.bytes(3), 10'000u);
  EXPECT_EQ(first.tag, 77u);
  EXPECT_EQ(first.run.flow->source, NpuId(0));
  EXPECT_EQ(first.run.flow->destination, NpuId(3));
  EXPECT_EQ(first.run.flow->traffic_class, WVP_CLASS_DP);
  const Handed& empty = bench.fabric.handed[1];
  EXPECT_EQ(empty.run.flow, first.run.flow);
  EXPECT_EQ(empty.run.first, 3u);
  EXPECT_EQ(empty.run.count, 1u);
  EXPECT_EQ(empty.run.bytes(1), 0u);
  EXPECT_NE(bench.fabric.handed[2].run.flow, first.run.flow);
  EXPECT_EQ(bench.dut.statistics().sent_bytes, 14'096u);
  EXPECT_EQ(bench.dut.statistics().sent_messages, 3u);
  EXPECT_TRUE(bench.seen.empty());
}

TEST(Send, ClassesAndInNetworkFlowsAreFlowsOfTheirOwn) {
  Bench bench;
  bench.at(1, [&] {
    for (std::uint8_t traffic_class = 0; traffic_class < 4; ++traffic_class) {
      for (std::uint32_t to = 1; to < 8; ++to) {
        wvp_descriptor descriptor = send(1, to, 0, 8);
        descriptor.traffic_class = traffic_class;
        bench.post(descriptor, 1);
        descriptor.flags |= WVP_D_SEND_FLOW;
        bench.post(descriptor, 1);
        bench.post(descriptor, 1);
      }
    }
  });
  bench.run();
  ASSERT_EQ(bench.fabric.handed.size(), 84u);
  for (std::size_t i = 0; i < 84; i += 3) {
    const Flow& unicast = *bench.fabric.handed[i].run.flow;
    const Flow& group = *bench.fabric.handed[i + 1].run.flow;
    EXPECT_EQ(unicast.group, 0u);
    EXPECT_EQ(unicast.destination.value, 1 + (i / 3) % 7);
    EXPECT_EQ(group.group, unicast.destination.value);
    EXPECT_EQ(group.traffic_class, i / 21);
    EXPECT_EQ(bench.fabric.handed[i + 2].run.flow, &group);
    EXPECT_EQ(bench.fabric.handed[i + 2].run.first, 1u);
  }
  EXPECT_EQ(bench.flows.size(), 56u);
}

TEST(Send, FollowsTheReductionOfItsDescriptor) {
  AcceleratorConfig config = Bench::basic();
  config.reduce_bytes_per_s = 1'555'000'000'000ull;
  Bench bench(config);
  bench.post_at(1, expect(1, 1, 1, 12'345));
  bench.message_at(1000, 1, 1, 12'345);
  bench.on_completion = [&](const wvp_completion& completion, Time now) {
    wvp_descriptor descriptor = send(2, 2, 9, 12'345);
    descriptor.flags |= WVP_D_COMBINE_REDUCE | WVP_D_EXPECT;
    descriptor.staged = completion.staged;
    descriptor.expect_from = 1;
    descriptor.expect_tag = 2;
    bench.post(descriptor, now + 500);
  };
  bench.run();
  ASSERT_EQ(bench.fabric.handed.size(), 1u);
  const Time busy = reduce_time(12'345, 1'555'000'000'000ull);
  EXPECT_EQ(busy, 23'817u);  // 37035 bytes / 1.555 TB/s = 23816.7 ps
  EXPECT_EQ(bench.fabric.handed[0].run.origin, 1500 + busy);
  EXPECT_EQ(bench.dut.statistics().reduce_ps, busy);
  EXPECT_EQ(bench.dut.unmatched_messages(), 1u);  // its EXPECT part
}

TEST(Send, TheReductionAluIsSerial) {
  AcceleratorConfig config = Bench::basic();
  config.reduce_bytes_per_s = 3'000'000'000'000ull;  // a byte a ps
  Bench bench(config);
  for (std::uint32_t i = 0; i < 3; ++i) {
    bench.post_at(1, expect(i, 1, i, 1000));
    bench.message_at(100, 1, i, 1000);
  }
  bench.on_completion = [&](const wvp_completion& completion, Time now) {
    wvp_descriptor descriptor = send(7, 2 + completion.cookie, 0, 8);
    descriptor.flags |= completion.cookie == 1 ? WVP_D_COMBINE_COPY : WVP_D_COMBINE_REDUCE;
    descriptor.staged = completion.staged;
    bench.post(descriptor, now);
  };
  bench.run();
  ASSERT_EQ(bench.fabric.handed.size(), 3u);
  EXPECT_EQ(bench.fabric.handed[0].run.origin, 1100u);
  EXPECT_EQ(bench.fabric.handed[1].run.origin, 100u);  // a copy takes no time and no ALU
  EXPECT_EQ(bench.fabric.handed[2].run.origin, 2100u);
  EXPECT_EQ(bench.dut.statistics().reduce_ps, 2000u);
}

TEST(Send, AReductionWithoutARateIsFree) {
  Bench bench;
  bench.post_at(1, expect(1, 1, 1, 1000));
  bench.message_at(100, 1, 1, 1000);
  bench.on_completion = [&](const wvp_completion& completion, Time now) {
    if (completion.kind != WVP_C_RECEIVED) return;
    bench.post(combine(8, WVP_D_COMBINE_REDUCE | WVP_D_NOTIFY_COMBINED, completion.staged), now + 5);
  };
  bench.run();
  ASSERT_EQ(bench.seen.size(), 2u);
  EXPECT_EQ(bench.seen[1].completion.kind, WVP_C_COPIED);
  EXPECT_EQ(bench.seen[1].when, 105u);
}

TEST(Send, NotifyCombinedTellsTheEndOfTheReduction) {
  AcceleratorConfig config = Bench::basic();
  config.reduce_bytes_per_s = 3'000'000'000'000ull;
  Bench bench(config);
  bench.post_at(1, expect(1, 1, 1, 1000));
  bench.message_at(100, 1, 1, 1000);
  bench.on_completion = [&](const wvp_completion& completion, Time now) {
    if (completion.kind != WVP_C_RECEIVED) return;
    bench.post(combine(8, WVP_D_COMBINE_REDUCE | WVP_D_NOTIFY_COMBINED, completion.staged), now);
    EXPECT_FALSE(bench.dut.idle());
  };
  bench.run();
  ASSERT_EQ(bench.seen.size(), 2u);
  EXPECT_EQ(bench.seen[1].completion.cookie, 8u);
  EXPECT_EQ(bench.seen[1].completion.kind, WVP_C_COPIED);
  EXPECT_EQ(bench.seen[1].completion.bytes, 1000u);
  EXPECT_EQ(bench.seen[1].when, 1100u);
  EXPECT_TRUE(bench.dut.idle());
}

TEST(Send, MessagesOfAFlowDoNotOvertake) {
  AcceleratorConfig config = Bench::basic();
  config.reduce_bytes_per_s = 3'000'000'000'000ull;
  Bench bench(config);
  bench.post_at(1, expect(1, 1, 1, 5000));
  bench.message_at(100, 1, 1, 5000);
  bench.on_completion = [&](const wvp_completion& completion, Time now) {
    wvp_descriptor reduced = send(2, 2, 0, 8);
    reduced.flags |= WVP_D_COMBINE_REDUCE;
    reduced.staged = completion.staged;
    bench.post(reduced, now);
    bench.post(send(3, 2, 1, 8), now);
    bench.post(send(4, 3, 2, 8), now);
  };
  bench.run();
  ASSERT_EQ(bench.fabric.handed.size(), 3u);
  EXPECT_EQ(bench.fabric.handed[0].run.origin, 5100u);
  EXPECT_EQ(bench.fabric.handed[1].run.origin, 5100u);
  EXPECT_EQ(bench.fabric.handed[2].run.origin, 100u);
}

std::string refused(const wvp_descriptor& descriptor) {
  Bench bench;
  bench.post_at(1, descriptor);
  return bench.run_to_error();
}

TEST(Refused, ToOneself) {
  EXPECT_THAT(refused(send(31, 0, 0, 8)),
              testing::HasSubstr("NPU 0: descriptor cookie 31 sends to its own NPU"));
}
TEST(Refused, ToAnNpuThatIsNotThere) {
  EXPECT_THAT(refused(send(31, 8, 0, 8)),
              testing::HasSubstr("NPU 0: descriptor cookie 31 sends to NPU 8, but the wafer has 8 NPUs"));
}
TEST(Refused, NoTrafficClass) {
  wvp_descriptor descriptor = send(31, 1, 0, 8);
  descriptor.traffic_class = 4;
  EXPECT_THAT(refused(descriptor), testing::HasSubstr("no such traffic class"));
}
TEST(Refused, TooLong) {
  EXPECT_THAT(refused(send(31, 1, 0, 1ull << 60)), testing::HasSubstr("the longest message has"));
}
TEST(Refused, CombineOfNothing) {
  EXPECT_THAT(refused(combine(31, WVP_D_COMBINE_DROP, 5)),
              testing::HasSubstr(
                  "NPU 0: descriptor cookie 31 with flags 4 is refused: COMBINE names no staged message"));
}
TEST(Refused, TwoKindsOfCombine) {
  EXPECT_THAT(refused(combine(31, WVP_D_COMBINE_DROP | WVP_D_COMBINE_COPY, 5)),
              testing::HasSubstr("more than one kind of COMBINE"));
}
TEST(Refused, NoParts) { EXPECT_THAT(refused(wvp_descriptor{}), testing::HasSubstr("no part")); }
TEST(Refused, ComputeBesideOtherParts) {
  wvp_descriptor descriptor = send(31, 1, 0, 8);
  descriptor.flags |= WVP_D_COMPUTE;
  EXPECT_THAT(refused(descriptor), testing::HasSubstr("COMPUTE or COPY beside other parts"));
}
TEST(Refused, UnknownFlags) {
  wvp_descriptor descriptor = send(31, 1, 0, 8);
  descriptor.flags |= 1u << 20;
  EXPECT_THAT(refused(descriptor), testing::HasSubstr("unknown flags"));
}
TEST(Refused, SendModifiersWithoutSend) {
  wvp_descriptor descriptor = expect(31, 1, 0, 8);
  descriptor.flags |= WVP_D_WINDOW;
  EXPECT_THAT(refused(descriptor), testing::HasSubstr("without SEND"));
}
TEST(Refused, NotifyCombinedWithoutCombine) {
  wvp_descriptor descriptor = expect(31, 1, 0, 8);
  descriptor.flags |= WVP_D_NOTIFY_COMBINED;
  EXPECT_THAT(refused(descriptor), testing::HasSubstr("NOTIFY_COMBINED without COMBINE"));
}
TEST(Refused, MoreDescriptorsThanTheRingHolds) {
  Bench bench;
  bench.at(1, [&] { bench.dut.write32(WVP_REG_DQ_DOORBELL, AcceleratorConfig{}.descriptor_entries + 1, 1); });
  EXPECT_THAT(bench.run_to_error(),
              testing::HasSubstr("NPU 0: doorbell announces 5 descriptors, the ring has 4 entries"));
}

TEST(Route, StartsAndEndsAtTheAccelerator) {
  Bench bench;
  Flow flow;
  flow.source = NpuId(0);
  flow.destination = NpuId(3);
  EXPECT_EQ(bench.dut.route(flow, 0), 0u);
  flow.source = NpuId(3);
  flow.destination = NpuId(0);
  EXPECT_EQ(bench.dut.route(flow, 0), FabricNode::kEndsHere);
  flow.destination = NpuId(2);
  EXPECT_THROW(bench.dut.route(flow, 0), std::runtime_error);
  Flow into;
  into.source = NpuId(0);
  into.group = 5;
  EXPECT_EQ(bench.dut.route(into, 0), 0u);
  Flow result;
  result.group = 5;
  EXPECT_EQ(bench.dut.route(result, 0), FabricNode::kEndsHere);
  EXPECT_THROW(bench.dut.output_link(0), std::logic_error);
}

}  // namespace
}  // namespace wafervp::test
