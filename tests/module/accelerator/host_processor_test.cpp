// SPDX-License-Identifier: Apache-2.0
// The host's control processor with a firmware of a few lines: boot, time, completions, waiting list.
#include "wafer/host_processor.h"

#include "bench.h"

/// At boot: expects `program[0].bytes` bytes from NPU 1, twice. At each completion: three steps, a send.
struct wvp_context {
  const wvp_hal* hal;
  const wvp_command* program;
  uint32_t comm_count;
  uint32_t produced, consumed;
};

namespace {

void post(wvp_context* context, const wvp_descriptor& descriptor) {
  const wvp_hal& hal = *context->hal;
  const uint32_t size = hal.read32(hal.bus, WVP_REG_DQ_SIZE);
  hal.descriptors[context->produced++ % size] = descriptor;
  hal.write32(hal.bus, WVP_REG_DQ_DOORBELL, context->produced);
}

}  // namespace

extern "C" {

size_t wvp_context_bytes() { return sizeof(wvp_context); }

void wvp_boot(wvp_context* context, const wvp_hal* hal, const wvp_command* program, const wvp_comm*,
              uint32_t comm_count) {
  EXPECT_EQ(context->produced, 0u);
  context->hal = hal;
  context->program = program;
  context->comm_count = comm_count;
  for (uint32_t tag = 0; tag < 2; ++tag) {
    hal->charge_step(hal->bus);
    post(context, wafervp::test::expect(tag, 1, tag, program[0].bytes));
  }
}

void wvp_prepare(const wvp_context*, std::uint32_t) {}

void wvp_progress(wvp_context* context) {
  const wvp_hal& hal = *context->hal;
  while (context->consumed != hal.read32(hal.bus, WVP_REG_CQ_TAIL)) {
    hal.write32(hal.bus, WVP_REG_CQ_HEAD, ++context->consumed);
    for (int i = 0; i < 3; ++i) hal.charge_step(hal.bus);
    post(context, wafervp::test::send(9, 2, 0, 8));
  }
}

uint32_t wvp_waiting(const wvp_context* context, struct wvp_waiting* entries, uint32_t capacity) {
  const uint32_t missing = 2 - context->consumed;
  for (uint32_t i = 0; i < missing && i < capacity; ++i) {
    entries[i] = {};
    entries[i].peer = 1;
    entries[i].step = i;
  }
  return missing;
}
}

namespace wafervp::test {
namespace {

struct Host {
  explicit Host(Bench& bench, Time step_ps, Time start)
      : processor(config(step_ps, start), bench.dut, bench.calendar, bench.arena) {}
  HostProcessor::Config config(Time step_ps, Time start) {
    program.bytes = 64;
    HostProcessor::Config result;
    result.npu = NpuId(0);
    result.program = &program;
    result.comm_count = 3;
    result.step_ps = step_ps;
    result.start = start;
    return result;
  }
  wvp_command program{};
  HostProcessor processor;
};

TEST(HostProcessor, BootsAtItsStartAndTellsWhatItWaitsFor) {
  Bench bench;
  Host host(bench, 0, 700);
  EXPECT_TRUE(host.processor.waiting().empty());
  bench.at(699, [&] { EXPECT_EQ(bench.dut.unmatched_messages(), 0u); });
  bench.at(701, [&] { EXPECT_EQ(bench.dut.unmatched_messages(), 2u); });
  bench.run();
  ASSERT_EQ(host.processor.waiting().size(), 2u);
  EXPECT_EQ(host.processor.waiting()[1].step, 1u);
  EXPECT_EQ(host.processor.waiting()[1].peer, 1u);
}

TEST(HostProcessor, StepsCostTimeAndTheProcessorIsSerial) {
  Bench bench;
  Host host(bench, 100, 0);
  bench.message_at(1000, 1, 0, 64);
  bench.message_at(1050, 1, 1, 64);
  bench.run();
  ASSERT_EQ(bench.fabric.handed.size(), 2u);
  EXPECT_EQ(bench.fabric.handed[0].run.origin, 1300u);
  EXPECT_EQ(bench.fabric.handed[1].run.origin, 1600u);  // begins when the first three steps are done
  EXPECT_EQ(host.processor.busy_until(), 1600u);
  EXPECT_TRUE(host.processor.waiting().empty());
}

TEST(HostProcessor, AnIdleProcessorBeginsAtTheCompletion) {
  Bench bench;
  Host host(bench, 100, 0);
  bench.message_at(1000, 1, 0, 64);
  bench.message_at(5000, 1, 1, 64);
  bench.run();
  ASSERT_EQ(bench.fabric.handed.size(), 2u);
  EXPECT_EQ(bench.fabric.handed[0].run.origin, 1300u);
  EXPECT_EQ(bench.fabric.handed[1].run.origin, 5300u);
}

TEST(HostProcessor, AMessageBeforeTheExpectationWaitsForTheProcessor) {
  Bench bench;
  Host host(bench, 100, 0);  // the second EXPECT is written at 200 ps
  bench.message_at(0, 1, 1, 64);
  bench.run();
  ASSERT_EQ(bench.fabric.handed.size(), 1u);
  EXPECT_EQ(bench.fabric.handed[0].run.origin, 500u);
}

}  // namespace
}  // namespace wafervp::test
