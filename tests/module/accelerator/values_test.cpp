// SPDX-License-Identifier: Apache-2.0
// Runs with values: what is sent, stored and summed, and the bounds of memory.
#include <cstring>

#include "bench.h"

namespace wafervp::test {
namespace {

AcceleratorConfig with_memory(std::uint64_t bytes) {
  AcceleratorConfig config = Bench::basic();
  config.memory_bytes = bytes;
  return config;
}

using Words = std::vector<std::int32_t>;

TEST(Values, ASendTakesASnapshot) {
  Bench bench(with_memory(64));
  bench.at(1, [&] {
    const Words values = {1, 2, 3, 4};
    std::memcpy(bench.dut.memory() + 8, values.data(), 16);
    wvp_descriptor descriptor = send(1, 2, 0, 12);
    descriptor.send_addr = 8;
    bench.post(descriptor, 1);
    std::memset(bench.dut.memory(), 0, 64);
  });
  bench.run();
  ASSERT_EQ(bench.fabric.handed.size(), 1u);
  ASSERT_TRUE(bench.fabric.handed[0].data);
  EXPECT_EQ(bench.fabric.handed[0].data->size(), 12u);
  EXPECT_EQ(words(bench.fabric.handed[0].data->data(), 3), (Words{1, 2, 3}));
}

TEST(Values, WaitingMessagesKeepTheirSnapshot) {
  Bench bench(with_memory(64));
  bench.at(1, [&] {
    for (std::int32_t i = 0; i < 4; ++i) {
      std::memcpy(bench.dut.memory(), &i, 4);
      wvp_descriptor descriptor = send(1, 2, 0, 4);
      descriptor.flags |= WVP_D_WINDOW;
      bench.post(descriptor, 1);
    }
  });
  bench.fabric.on_handed = [&](const Handed& handed) {
    wafervp::Run run = handed.run;
    run.origin = bench.calendar.now() + 100;
    bench.fabric.credit(run);
  };
  bench.run();
  ASSERT_EQ(bench.fabric.handed.size(), 4u);
  for (std::int32_t i = 0; i < 4; ++i) EXPECT_EQ(words(bench.fabric.handed[i].data->data(), 1), Words{i});
}

/// A message of {10, 20, 30} is combined into {1, 2, 3, 4} at address 16.
Words combined(std::uint32_t flag) {
  Bench bench(with_memory(64));
  const Words values = {1, 2, 3, 4};
  std::memcpy(bench.dut.memory() + 16, values.data(), 16);
  bench.post_at(1, expect(1, 1, 1, 12));
  bench.message_at(10, 1, 1, 12, bytes_of({10, 20, 30}));
  bench.on_completion = [&](const wvp_completion& completion, Time now) {
    wvp_descriptor descriptor = combine(2, flag, completion.staged, 16);
    descriptor.dtype = WVP_INT32;
    bench.post(descriptor, now);
  };
  bench.run();
  EXPECT_TRUE(bench.dut.idle());
  return words(bench.dut.memory() + 16, 4);
}

TEST(Values, CombineBySum) { EXPECT_EQ(combined(WVP_D_COMBINE_REDUCE), (Words{11, 22, 33, 4})); }
TEST(Values, CombineByCopy) { EXPECT_EQ(combined(WVP_D_COMBINE_COPY), (Words{10, 20, 30, 4})); }
TEST(Values, Drop) { EXPECT_EQ(combined(WVP_D_COMBINE_DROP), (Words{1, 2, 3, 4})); }

TEST(Values, TheSendOfADescriptorCarriesItsSum) {
  Bench bench(with_memory(64));
  const Words values = {1, 2};
  std::memcpy(bench.dut.memory(), values.data(), 8);
  bench.post_at(1, expect(1, 1, 1, 8));
  bench.message_at(10, 1, 1, 8, bytes_of({10, 20}));
  bench.on_completion = [&](const wvp_completion& completion, Time now) {
    wvp_descriptor descriptor = send(2, 2, 0, 8);
    descriptor.flags |= WVP_D_COMBINE_REDUCE;
    descriptor.staged = completion.staged;
    descriptor.dtype = WVP_INT32;
    bench.post(descriptor, now);
  };
  bench.run();
  ASSERT_EQ(bench.fabric.handed.size(), 1u);
  EXPECT_EQ(words(bench.fabric.handed[0].data->data(), 2), (Words{11, 22}));
}

TEST(Values, CopyInsideMemory) {
  Bench bench(with_memory(64));
  const Words values = {1, 2, 3, 4};
  std::memcpy(bench.dut.memory(), values.data(), 16);
  wvp_descriptor descriptor{};
  descriptor.flags = WVP_D_COPY;
  descriptor.cookie = 6;
  descriptor.send_addr = 0;
  descriptor.combine_addr = 4;
  descriptor.send_bytes = 16;
  bench.post_at(10, descriptor);
  bench.run();
  EXPECT_EQ(words(bench.dut.memory(), 5), (Words{1, 1, 2, 3, 4}));
  ASSERT_EQ(bench.seen.size(), 1u);
  EXPECT_EQ(bench.seen[0].completion.kind, WVP_C_COPIED);
  EXPECT_EQ(bench.seen[0].when, 10u);
}

TEST(Values, EmptyMessagesNeedNoMemory) {
  Bench bench(with_memory(64));
  wvp_descriptor descriptor = send(1, 2, 0, 0);
  descriptor.send_addr = ~std::uint64_t{0};
  bench.post_at(1, descriptor);
  bench.run();
  EXPECT_EQ(bench.fabric.handed.size(), 1u);
}

TEST(Values, SizesOnlyTakeAnyAddress) {
  Bench bench;
  EXPECT_EQ(bench.dut.memory(), nullptr);
  wvp_descriptor descriptor = send(1, 2, 0, 1u << 30);
  descriptor.send_addr = ~std::uint64_t{0};
  bench.post_at(1, descriptor);
  bench.run();
  ASSERT_EQ(bench.fabric.handed.size(), 1u);
  EXPECT_FALSE(bench.fabric.handed[0].data);
}

std::string refused(wvp_descriptor descriptor, Bytes data, std::uint64_t bytes) {
  Bench bench(with_memory(64));
  bench.post_at(1, expect(1, 1, 1, bytes));
  bench.message_at(10, 1, 1, bytes, std::move(data));
  bench.on_completion = [&](const wvp_completion& completion, Time now) {
    descriptor.staged = completion.staged;
    bench.post(descriptor, now);
  };
  return bench.run_to_error();
}

TEST(Values, ASendOutsideOfMemory) {
  wvp_descriptor descriptor = send(31, 2, 0, 8);
  descriptor.send_addr = 60;
  EXPECT_THAT(
      refused(descriptor, bytes_of({1}), 4),
      testing::HasSubstr("NPU 0: send of descriptor cookie 31: address 60 with 8 bytes is outside the memory "
                         "of 64 bytes"));
}
TEST(Values, AnAddressThatWrapsAround) {
  wvp_descriptor descriptor = send(31, 2, 0, 8);
  descriptor.send_addr = ~std::uint64_t{0} - 3;
  EXPECT_THAT(refused(descriptor, bytes_of({1}), 4), testing::HasSubstr("is outside the memory"));
}
TEST(Values, ASumOutsideOfMemory) {
  EXPECT_THAT(refused(combine(31, WVP_D_COMBINE_REDUCE, 0, 61), bytes_of({1}), 4),
              testing::HasSubstr("combine by sum of descriptor cookie 31: address 61 with 4 bytes"));
}
TEST(Values, APartOfAnElement) {
  wvp_descriptor descriptor = combine(31, WVP_D_COMBINE_REDUCE, 0, 0);
  descriptor.dtype = WVP_FP64;
  EXPECT_THAT(refused(descriptor, bytes_of({1, 2, 3}), 12),
              testing::HasSubstr(
                  "combine by sum of descriptor cookie 31: a sum over 12 bytes ends inside an element"));
}
TEST(Values, NoSuchElementType) {
  wvp_descriptor descriptor = combine(31, WVP_D_COMBINE_REDUCE, 0, 0);
  descriptor.dtype = 9;
  EXPECT_THAT(refused(descriptor, bytes_of({1}), 4), testing::HasSubstr("element type 9"));
}
TEST(Values, AMessageWithoutValues) {
  EXPECT_THAT(refused(combine(31, WVP_D_COMBINE_COPY, 0, 0), {}, 4),
              testing::HasSubstr("the message of 4 bytes came with 0 bytes of values"));
}

}  // namespace
}  // namespace wafervp::test
