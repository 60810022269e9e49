// SPDX-License-Identifier: Apache-2.0
// The compute engine: durations, order, observer.
#include "bench.h"

namespace wafervp::test {
namespace {

wvp_descriptor compute(std::uint32_t cookie, std::uint64_t flops, std::uint64_t bytes, std::uint64_t ps) {
  wvp_descriptor descriptor{};
  descriptor.flags = WVP_D_COMPUTE;
  descriptor.cookie = cookie;
  descriptor.compute_flops = flops;
  descriptor.compute_bytes = bytes;
  descriptor.compute_ps = ps;
  return descriptor;
}

/// When the completion of one compute descriptor that is posted at 0 is seen.
Time duration(double peak, std::uint64_t hbm, const wvp_descriptor& descriptor) {
  AcceleratorConfig config = Bench::basic();
  config.peak_flops_per_s = peak;
  config.hbm_bytes_per_s = hbm;
  Bench bench(config);
  bench.post_at(0, descriptor);
  bench.run();
  EXPECT_EQ(bench.seen.size(), 1u);
  EXPECT_EQ(bench.seen.at(0).completion.kind, WVP_C_COMPUTED);
  EXPECT_EQ(bench.dut.statistics().compute_ps, bench.seen[0].when);
  return bench.seen[0].when;
}

TEST(Compute, ArithmeticBound) {
  // 10^15 FLOP at 494.5 TFLOP/s: 2.022244691607684... s
  EXPECT_EQ(duration(989e12 * 0.5, 0, compute(1, 1'000'000'000'000'000ull, 1u << 30, 0)),
            2'022'244'691'608ull);
}
TEST(Compute, MemoryBound) {
  // 2^30 bytes at 1 TB/s: 1073741824 ps * 1000 / 1000
  EXPECT_EQ(duration(989e12, 1'000'000'000'000ull, compute(1, 1000, 1u << 30, 0)), 1'073'741'824ull);
}
TEST(Compute, RoundsUpToWholePicoseconds) { EXPECT_EQ(duration(3e12, 0, compute(1, 7, 0, 0)), 3u); }
TEST(Compute, FixedTimeGoesFirst) {
  EXPECT_EQ(duration(1e12, 1, compute(1, 1ull << 60, 1ull << 60, 77)), 77u);
}
TEST(Compute, NothingToDoTakesNoTime) { EXPECT_EQ(duration(1e12, 1, compute(1, 0, 0, 0)), 0u); }
TEST(Compute, ManyFlopsAreExact) {
  // 2^63 FLOP at 1 PFLOP/s = 9223372036854775808 / 1000 ps, rounded up
  EXPECT_EQ(duration(1e15, 0, compute(1, 1ull << 63, 0, 0)), 9'223'372'036'854'776ull);
}

TEST(Compute, WorkIsDoneOnePieceAtATimeInOrder) {
  Bench bench;
  bench.at(0, [&] {
    bench.post(compute(9, 0, 0, 1000), 100);
    bench.post(compute(3, 0, 0, 500), 200);
    bench.post(compute(5, 0, 0, 10), 5000);
  });
  bench.run();
  ASSERT_EQ(bench.seen.size(), 3u);
  EXPECT_EQ(bench.seen[0].completion.cookie, 9u);
  EXPECT_EQ(bench.seen[0].when, 1100u);
  EXPECT_EQ(bench.seen[1].completion.cookie, 3u);
  EXPECT_EQ(bench.seen[1].when, 1600u);
  EXPECT_EQ(bench.seen[2].when, 5010u);
  EXPECT_EQ(bench.observed,
            (std::vector<std::string>{"compute 0 100-1100", "compute 0 1100-1600", "compute 0 5000-5010"}));
  EXPECT_EQ(bench.dut.statistics().compute_ps, 1510u);
  EXPECT_TRUE(bench.dut.idle());
}

TEST(Compute, TooLongATimeIsRefused) {
  AcceleratorConfig config = Bench::basic();
  config.peak_flops_per_s = 1;
  Bench bench(config);
  bench.post_at(0, compute(12, 1ull << 62, 0, 0));
  EXPECT_THAT(bench.run_to_error(),
              testing::HasSubstr("NPU 0: compute of descriptor cookie 12 takes more than 2^63 ps"));
}

TEST(Compute, AnEngineWithoutPeakIsRefused) {
  AcceleratorConfig config = Bench::basic();
  config.peak_flops_per_s = 0;
  EXPECT_THROW(Bench bench(config), std::invalid_argument);
}

}  // namespace
}  // namespace wafervp::test
