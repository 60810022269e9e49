// SPDX-License-Identifier: Apache-2.0
// Is the end of the n-th byte exactly ceil(n * 10^12 / rate), whatever the sizes?
#include "core/rate.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace wafervp {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr Wide kSecond = kPsPerSecond;

std::vector<std::uint64_t> rates() {
  std::vector<std::uint64_t> all = {1,
                                    3,
                                    7,
                                    1000,
                                    4096,
                                    375'000'000'000,
                                    750'000'000'000,
                                    805'306'368'000,
                                    3'000'000'000'000,
                                    12'000'000'000'000,
                                    999'999'999'989,
                                    kPsPerSecond,
                                    kPsPerSecond + 1};
  std::mt19937_64 random(1);
  for (int i = 0; i < 200; ++i) all.push_back(1 + random() % (std::uint64_t{1} << (10 + i % 40)));
  return all;
}

std::vector<std::uint64_t> sizes(std::uint64_t rate) {
  std::vector<std::uint64_t> all = {
      0, 1, 4095, 4096, 4097, 1u << 20, std::uint64_t{1} << 30, std::uint64_t{1} << 42};
  std::mt19937_64 random(rate);
  for (int i = 0; i < 200; ++i) all.push_back(random() >> (20 + i % 40));
  // Around the place where 64 bits no longer hold the product.
  for (std::uint64_t k = 0; k < 8; ++k) all.push_back(~std::uint64_t{0} / kPsPerSecond - 4 + k);
  return all;
}

TEST(Rate, RoundsUpExactly) {
  for (std::uint64_t bytes_per_s : rates()) {
    const Rate rate(bytes_per_s);
    for (std::uint64_t bytes : sizes(bytes_per_s)) {
      const Wide expected = (bytes * kSecond + bytes_per_s - 1) / bytes_per_s;
      const Wide longest = kTimeEnd / 2;  // longer than a run can be
      ASSERT_EQ(rate.ps(bytes), static_cast<Time>(std::min(expected, longest)))
          << bytes << " bytes at " << bytes_per_s;
    }
  }
}

TEST(Rate, IsNeverFasterThanTheRealOneAndLessThanAPicosecondSlower) {
  for (std::uint64_t bytes_per_s : rates()) {
    const Rate rate(bytes_per_s);
    for (std::uint64_t bytes : sizes(bytes_per_s)) {
      if (bytes * kSecond / bytes_per_s >= kTimeEnd / 2 - 1) continue;
      const Wide ps = rate.ps(bytes);
      ASSERT_GE(ps * bytes_per_s, bytes * kSecond);
      ASSERT_TRUE(ps == 0 || (ps - 1) * bytes_per_s < bytes * kSecond);
    }
  }
}

TEST(Rate, TellsTheBytesThatHaveEnded) {
  for (std::uint64_t bytes_per_s : rates()) {
    const Rate rate(bytes_per_s);
    for (std::uint64_t bytes : sizes(bytes_per_s)) {
      if (bytes * kSecond / bytes_per_s >= kTimeEnd / 2 - 1) continue;
      const Time end = rate.ps(bytes);
      ASSERT_GE(rate.bytes(end), bytes);
      ASSERT_TRUE(bytes == 0 || rate.bytes(end - 1) < bytes);
      ASSERT_EQ(rate.bytes(end), static_cast<std::uint64_t>(Wide{end} * bytes_per_s / kSecond));
    }
  }
}

// Packets of a busy period that end where the whole would end, wherever the period is cut.
TEST(Rate, SplittingABusyPeriodNeverChangesItsEnd) {
  const Rate rate(3'000'000'000'000);
  std::mt19937_64 random(2);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t total = 1 + random() % (std::uint64_t{1} << 34);
    std::uint64_t sent = 0;
    Time end = 0, busy = 0;
    while (sent < total) {
      const std::uint64_t part = std::min<std::uint64_t>(total - sent, 1 + random() % (total / 3 + 1));
      const Time next = rate.ps(sent + part);
      busy += next - end;
      end = next;
      sent += part;
    }
    ASSERT_EQ(end, rate.ps(total));
    ASSERT_EQ(busy, rate.ps(total));
  }
  // 4 KiB at 3 TB/s is 1365.33 ps: three of them are 4096, not 4098 and not 4095.
  EXPECT_EQ(rate.ps(4096), 1366u);
  EXPECT_EQ(rate.ps(3 * 4096), 4096u);
}

}  // namespace
}  // namespace wafervp
