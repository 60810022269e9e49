// SPDX-License-Identifier: Apache-2.0
// Prints what a step of a ring all_reduce costs on the host: firmware alone, on an accelerator that does
// nothing but answer each receive. Not a test: times depend on the machine.
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <vector>

#include "wafervp/hal.h"

namespace {

constexpr std::uint32_t kDescriptors = 64, kCompletions = 256, kRanks = 1024, kChunks = 4, kRepeats = 200;

struct NullAccelerator {
  std::vector<wvp_descriptor> descriptors = std::vector<wvp_descriptor>(kDescriptors);
  std::vector<wvp_completion> completions = std::vector<wvp_completion>(kCompletions);
  std::vector<wvp_completion> due;
  std::uint32_t head = 0, tail = 0, steps = 0;
  bool done = false;

  static std::uint32_t read(void* bus, std::uint32_t offset) {
    const auto* self = static_cast<NullAccelerator*>(bus);
    return offset == WVP_REG_DQ_SIZE ? kDescriptors : offset == WVP_REG_CQ_SIZE ? kCompletions : self->head;
  }
  static void write(void* bus, std::uint32_t offset, std::uint32_t value) {
    auto* self = static_cast<NullAccelerator*>(bus);
    if (offset == WVP_REG_EXIT) self->done = true;
    if (offset != WVP_REG_DQ_DOORBELL) return;
    for (; self->head != value; self->head++) {
      const wvp_descriptor& d = self->descriptors[self->head % kDescriptors];
      wvp_completion completion{};
      completion.cookie = d.cookie;
      const auto add = [&](std::uint8_t kind) {
        completion.kind = kind;
        self->due.push_back(completion);
      };
      if (d.flags & WVP_D_NOTIFY_COMBINED) add(WVP_C_COPIED);
      if (d.flags & WVP_D_NOTIFY_SENT) add(WVP_C_SENT);
      if (d.flags & WVP_D_EXPECT) {
        completion.tag = d.expect_tag;
        completion.bytes = d.expect_bytes;
        completion.from = d.expect_from;
        self->steps++;
        add(WVP_C_RECEIVED);
      }
    }
  }
  static void charge(void*) {}

  void deliver(wvp_completion completion) {
    completion.phase = !(tail / kCompletions & 1);
    completions[tail++ % kCompletions] = completion;
  }
};

}  // namespace

int main() {
  std::vector<std::uint32_t> members(kRanks);
  for (std::uint32_t i = 0; i < kRanks; i++) members[i] = i;
  wvp_comm comm{};
  comm.size = kRanks;
  comm.members = members.data();
  wvp_command program[3] = {};
  program[0].kind = WVP_CMD_START;
  program[0].op = WVP_OP_ALL_REDUCE;
  program[0].algorithm = WVP_ALG_RING;
  program[0].bytes = 1u << 30;
  program[0].chunks = kChunks;
  program[0].active_chunks = 1;
  program[1].kind = WVP_CMD_WAIT;

  std::uint64_t steps = 0;
  const std::clock_t begin = std::clock();  // processor time, so that a busy machine does not spoil it
  for (std::uint32_t repeat = 0; repeat < kRepeats; repeat++) {
    NullAccelerator accelerator;
    accelerator.due.reserve(16);
    std::vector<std::uint64_t> memory((wvp_context_bytes() + 7) / 8);
    auto* context = reinterpret_cast<wvp_context*>(memory.data());
    const wvp_hal hal{&accelerator,
                      NullAccelerator::read,
                      NullAccelerator::write,
                      accelerator.descriptors.data(),
                      accelerator.completions.data(),
                      NullAccelerator::charge};
    wvp_boot(context, &hal, program, &comm, 1);
    while (!accelerator.due.empty()) {
      const wvp_completion completion = accelerator.due.back();
      accelerator.due.pop_back();
      accelerator.deliver(completion);
      wvp_progress(context);
    }
    if (!accelerator.done) return 1;
    steps += accelerator.steps;
  }
  const double time_ns = 1e9 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  std::printf("%.1f ns per step of a ring all_reduce (%llu steps, %u ranks), context %zu bytes\n",
              time_ns / static_cast<double>(steps), static_cast<unsigned long long>(steps), kRanks,
              wvp_context_bytes());
  return 0;
}
