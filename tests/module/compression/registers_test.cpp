// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "bench.h"
#include "compression/unit_registers.h"

namespace wafervp::test {
namespace {

constexpr std::uint32_t kPpForward = 4 * 1 + 1;

compression::CodecConfig subspace() {
  compression::SubspaceConfig config;
  config.dimension = 64;
  config.k = 8;
  return config;
}

TEST(Registers, StandInTheReadmeAsTheyAre) {
  std::ifstream file(WAFERVP_COMPRESSION_README);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find(compression_unit_registers().markdown()), std::string::npos)
      << compression_unit_registers().markdown();
}

TEST(Registers, SayWhatTheUnitIs) {
  Bench bench(config_of(subspace(), 64, Element::kFp32, {}));
  CompressionUnit& unit = bench.dut;
  EXPECT_EQ(unit.read32(WVP_CU_ID), 0x57564355u);
  unit.write32(WVP_CU_SELECT, kPpForward);
  EXPECT_EQ(unit.read32(WVP_CU_SELECT), kPpForward);
  EXPECT_EQ(unit.read32(WVP_CU_CODEC), 1 + static_cast<std::uint32_t>(compression::CodecId::kSubspace));
  EXPECT_EQ(unit.read32(WVP_CU_K), 8u);
  unit.write32(WVP_CU_U_VERSION, 3);
  unit.write32(WVP_CU_TABLE_LO, 0x10);
  unit.write32(WVP_CU_TABLE_HI, 0x20);
  EXPECT_EQ(unit.read32(WVP_CU_U_VERSION), 3u);
  EXPECT_EQ(unit.read32(WVP_CU_TABLE_LO), 0x10u);
  EXPECT_EQ(unit.read32(WVP_CU_TABLE_HI), 0x20u);
  unit.write32(WVP_CU_SELECT, 0);
  EXPECT_EQ(unit.read32(WVP_CU_U_VERSION), 0u);
}

TEST(Registers, TurnACodecOffAndOn) {
  Bench bench(config_of(compression::CastConfig{}, 0, Element::kFp32, {}));
  CompressionUnit& unit = bench.dut;
  unit.write32(WVP_CU_SELECT, kPpForward);
  const std::uint32_t codec = unit.read32(WVP_CU_CODEC);
  unit.write32(WVP_CU_CODEC, 0);
  EXPECT_FALSE(unit.compresses(1, 1));
  EXPECT_TRUE(unit.compresses(1, 0));
  unit.write32(WVP_CU_CODEC, codec);
  EXPECT_TRUE(unit.compresses(1, 1));
  EXPECT_THROW(unit.write32(WVP_CU_CODEC, codec + 1), BusError);
}

TEST(Registers, CountWhatWentThrough) {
  CompressionRates rates;
  rates.dense_bytes_per_s = 1'000'000'000;
  Bench bench(config_of(compression::CastConfig{}, 0, Element::kFp32, rates));
  CompressionUnit& unit = bench.dut;
  const auto one = unit.compress(dense(4000), 0);
  unit.compress(dense(400), 0);
  bench.arrive(one, 100);
  bench.run();
  EXPECT_EQ(unit.read32(WVP_CU_EGRESS_MESSAGES), 2u);
  EXPECT_EQ(unit.read32(WVP_CU_EGRESS_DENSE), 4400u);
  EXPECT_EQ(unit.read32(WVP_CU_EGRESS_WIRE), 2200u);
  EXPECT_EQ(unit.read32(WVP_CU_EGRESS_BUSY), 4'400'000u);
  EXPECT_EQ(unit.read32(WVP_CU_EGRESS_BUSY_HI), 0u);
  EXPECT_EQ(unit.read32(WVP_CU_INGRESS_MESSAGES), 1u);
  EXPECT_EQ(unit.read32(WVP_CU_INGRESS_DENSE), 4000u);
  EXPECT_EQ(unit.read32(WVP_CU_INGRESS_WIRE), 2000u);
  EXPECT_EQ(unit.read32(WVP_CU_INGRESS_BUSY), 4'000'000u);
}

TEST(Registers, RefuseWhatTheMapForbids) {
  Bench bench(config_of(compression::CastConfig{}, 0, Element::kFp32, {}));
  CompressionUnit& unit = bench.dut;
  EXPECT_THROW(unit.read32(0x012), BusError);
  EXPECT_THROW(unit.read32(0x100), BusError);
  EXPECT_THROW(unit.write32(WVP_CU_K, 1), BusError);
  EXPECT_THROW(unit.write32(WVP_CU_EGRESS_WIRE, 1), BusError);
  EXPECT_THROW(unit.write32(WVP_CU_SELECT, 16), BusError);
}

}  // namespace
}  // namespace wafervp::test
