// SPDX-License-Identifier: Apache-2.0
// Budget: all phases of the 151 parallelisms of 2 to 20 ranks are routed in less than a second, on each model
// of the fabric.
#include <gmock/gmock.h>

#include <ctime>

#include "topology/fred_routes.h"

namespace wafervp::test {
namespace {

class RoutingTimeOf : public testing::TestWithParam<FredWafer> {};

TEST_P(RoutingTimeOf, AllParallelismsIsBelowASecond) {
  const std::clock_t start = std::clock();
  const RouteSurvey result = survey(GetParam(), parallelisms(2, 20));
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  RecordProperty("milliseconds", static_cast<int>(1000 * seconds));
  EXPECT_EQ(result.phases, 344u);
  EXPECT_LT(seconds, 1.0);
}
INSTANTIATE_TEST_SUITE_P(Wafers, RoutingTimeOf,
                         testing::Values(flat_fred(20, 2), flat_fred(20, 3), paper_fred(2, 1),
                                         paper_fred(3, 1), paper_fred(2, 2), paper_fred(3, 2)));

TEST(RoutingTime, OfTheProofThatNoUpPortsHelp) {
  // The slowest of all: 23 phases with two middle networks, each with all up ports that the chips can tell
  // apart.
  FredRouteOptions options;
  options.up_ports = "searched_apart";
  const std::clock_t start = std::clock();
  const RouteSurvey result = survey(paper_fred(2, 1), parallelisms(2, 20), options);
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 10.0);
  EXPECT_EQ(result.conflicts.size(), 23u);
  for (const PhaseConflict& conflict : result.conflicts) EXPECT_TRUE(conflict.routes.no_up_ports_help);
}

}  // namespace
}  // namespace wafervp::test
