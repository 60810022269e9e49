// SPDX-License-Identifier: Apache-2.0
// The register map: values, forbidden accesses, and the table of the README.
#include <fstream>
#include <sstream>

#include "accelerator/registers.h"
#include "bench.h"
#include "core/register_block.h"

namespace wafervp::test {
namespace {

std::string text_of(const std::function<void()>& access) {
  try {
    access();
  } catch (const BusError& error) {
    return error.what();
  }
  return "no BusError";
}

TEST(Registers, SayWhoTheNpuIs) {
  AcceleratorConfig config = Bench::basic();
  config.npu = NpuId(5);
  config.descriptor_entries = 32;
  config.completion_entries = 128;
  Bench bench(config);
  Accelerator& dut = bench.dut;
  EXPECT_EQ(dut.read32(WVP_REG_ID, 0), 0x57565031u);
  EXPECT_EQ(dut.read32(WVP_REG_NPU, 0), 5u);
  EXPECT_EQ(dut.read32(WVP_REG_NPUS, 0), 8u);
  EXPECT_EQ(dut.read32(WVP_REG_DQ_SIZE, 0), 32u);
  EXPECT_EQ(dut.read32(WVP_REG_CQ_SIZE, 0), 128u);
  EXPECT_EQ(dut.statistics().register_reads, 5u);
}

TEST(Registers, TimeLowLatchesTimeHigh) {
  Bench bench;
  const Time local = (Time{7} << 32) + 9;
  EXPECT_EQ(bench.dut.read32(WVP_REG_TIME_LO, local), 9u);
  EXPECT_EQ(bench.dut.read32(WVP_REG_TIME_HI, local + (Time{1} << 32)), 7u);
}

TEST(Registers, ErrorRegistersKeepWhatIsWritten) {
  Bench bench;
  for (std::uint32_t offset = WVP_REG_ERROR_OP; offset <= WVP_REG_ERROR_FOUND_HI; offset += 4) {
    EXPECT_EQ(bench.dut.read32(offset, 0), 0u);
    bench.dut.write32(offset, 1000 + offset, 0);
  }
  for (std::uint32_t offset = WVP_REG_ERROR_OP; offset <= WVP_REG_ERROR_FOUND_HI; offset += 4) {
    EXPECT_EQ(bench.dut.read32(offset, 0), 1000 + offset);
  }
}

TEST(Registers, PhaseAndExitReachTheObserver) {
  Bench bench;
  bench.dut.write32(WVP_REG_PHASE, (WVP_PHASE_WAIT << 24) | 0x123, 40);
  bench.dut.write32(WVP_REG_PHASE, (WVP_CLASS_DP << 28) | (WVP_PHASE_OP_END << 24) | 0x124, 45);
  bench.dut.write32(WVP_REG_EXIT, WVP_EXIT_SIZE_MISMATCH, 50);
  EXPECT_EQ(bench.observed,
            (std::vector<std::string>{"phase 0 3 291 @40", "phase 0 2 292 @45", "exit 0 1 @50"}));
}

TEST(Registers, RingIndicesFollowTheWork) {
  Bench bench;
  bench.take_completions = false;
  wvp_descriptor copy{};
  copy.flags = WVP_D_COPY;
  bench.post_at(10, copy);
  bench.post_at(20, copy);
  bench.at(30, [&] {
    EXPECT_EQ(bench.dut.read32(WVP_REG_DQ_HEAD, 30), 2u);
    EXPECT_EQ(bench.dut.read32(WVP_REG_CQ_TAIL, 30), 2u);
    EXPECT_EQ(bench.dut.read32(WVP_REG_CQ_HEAD, 30), 0u);
    bench.dut.write32(WVP_REG_CQ_HEAD, 1, 30);
    EXPECT_EQ(bench.dut.read32(WVP_REG_CQ_HEAD, 30), 1u);
    bench.dut.write32(WVP_REG_CQ_HEAD, 3, 30);
  });
  EXPECT_THAT(bench.run_to_error(), testing::HasSubstr("NPU 0: CQ_HEAD set to 3, which is not between"));
}

TEST(Registers, EachForbiddenAccessIsABusError) {
  Bench bench;
  for (std::uint32_t offset = 0; offset < 0x80; ++offset) {
    const RegisterInfo* info = accelerator_registers().find(offset);
    if (info == nullptr || info->access == RegisterInfo::Access::WO) {
      EXPECT_THROW(bench.dut.read32(offset, 0), BusError) << offset;
    } else {
      EXPECT_NO_THROW(bench.dut.read32(offset, 0)) << offset;
    }
    if (info == nullptr || info->access == RegisterInfo::Access::RO) {
      EXPECT_THROW(bench.dut.write32(offset, 0, 0), BusError) << offset;
    } else {
      EXPECT_NO_THROW(bench.dut.write32(offset, 0, 0)) << offset;
    }
  }
}

TEST(Registers, BusErrorsNameNpuOffsetAndNearestRegister) {
  Bench bench;
  EXPECT_EQ(text_of([&] { bench.dut.read32(0x1000, 0); }),
            "NPU 0: bus error, read of offset 0x1000: no register there; nearest is PHASE at 0x060");
  EXPECT_EQ(
      text_of([&] { bench.dut.write32(0x036, 5, 0); }),
      "NPU 0: bus error, write of 0x00000005 to offset 0x036: the address is not a multiple of 4; nearest is "
      "CQ_HEAD at 0x034");
  EXPECT_EQ(text_of([&] { bench.dut.read32(WVP_REG_EXIT, 0); }),
            "NPU 0: bus error, read of offset 0x040: EXIT is write-only");
  EXPECT_EQ(text_of([&] { bench.dut.write32(WVP_REG_ID, 5, 0); }),
            "NPU 0: bus error, write of 0x00000005 to offset 0x000: ID is read-only");
}

TEST(Registers, ReadBackTheirResetValues) {
  Bench bench;
  for (const RegisterInfo& info : accelerator_registers()) {
    if (info.access == RegisterInfo::Access::WO || info.reset == 0) continue;
    EXPECT_EQ(bench.dut.read32(info.offset, 0), info.reset) << info.name;
  }
}

TEST(Registers, RingSizesArePowersOfTwo) {
  for (std::uint32_t entries : {0u, 1u, 3u, 48u, 1u << 21}) {
    AcceleratorConfig config = Bench::basic();
    config.descriptor_entries = entries;
    EXPECT_THROW(Bench bench(config), std::invalid_argument) << entries;
    config = Bench::basic();
    config.completion_entries = entries;
    EXPECT_THROW(Bench bench(config), std::invalid_argument) << entries;
  }
}

TEST(Registers, TheReadmeHoldsTheTableOfTheMap) {
  std::ifstream file(WAFERVP_ACCELERATOR_README);
  ASSERT_TRUE(file) << WAFERVP_ACCELERATOR_README;
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_NE(text.str().find(accelerator_registers().markdown()), std::string::npos)
      << "the table should read:\n"
      << accelerator_registers().markdown();
}

}  // namespace
}  // namespace wafervp::test
