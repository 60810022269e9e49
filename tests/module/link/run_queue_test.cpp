// SPDX-License-Identifier: Apache-2.0
// The list of promises of one flow.
#include <gtest/gtest.h>

#include "link/lane.h"

namespace wafervp::test {
namespace {

Run run_of(std::uint64_t first, std::uint32_t count) {
  Run run;
  run.first = first;
  run.count = count;
  return run;
}

TEST(RunQueue, AppendsAndShortensTheLast) {
  RunQueue queue;
  EXPECT_TRUE(queue.promise(run_of(0, 10)));
  EXPECT_TRUE(queue.promise(run_of(10, 5)));
  EXPECT_EQ(queue.size(), 2u);
  EXPECT_FALSE(queue.promise(run_of(10, 3)));
  EXPECT_EQ(queue.back().end(), 13u);
  EXPECT_FALSE(queue.promise(run_of(10, 0)));  // taken back
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_TRUE(queue.promise(run_of(10, 2)));
  EXPECT_EQ(queue.back().end(), 12u);
}

TEST(RunQueue, ForgetsWhatIsWhollyBefore) {
  RunQueue queue;
  for (std::uint64_t k = 0; k < 200; ++k) {
    queue.promise(run_of(10 * k, 10));
    queue.forget_before(10 * k - (k > 0 ? 5 : 0));
    EXPECT_LE(queue.size(), 2u);
    EXPECT_EQ(queue.back().first, 10 * k);
    EXPECT_EQ(queue.front().first, k > 0 ? 10 * (k - 1) : 0);
  }
  queue.forget_before(2000);
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace wafervp::test
