// SPDX-License-Identifier: Apache-2.0
// Each outcome has the exit status that is documented.
#include <gmock/gmock.h>

#include "run/run.h"

namespace wafervp {
namespace {

TEST(ExitStatus, FollowsTheOutcome) {
  const std::pair<const char*, int> expected[] = {{"ok", 0},         {"check_failed", 1},  {"deadlock", 3},
                                                  {"time_limit", 3}, {"interrupted", 130}, {"error", 4}};
  for (const auto& [status, code] : expected) {
    Results results;
    results.status = status;
    EXPECT_EQ(exit_status(results), code) << status;
  }
}

}  // namespace
}  // namespace wafervp

int sc_main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
