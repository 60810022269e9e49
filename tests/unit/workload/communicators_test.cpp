// SPDX-License-Identifier: Apache-2.0
// Do the numbers that `auto` decides by follow from the routes and from who shares them?
#include "workload/communicators.h"

#include <gmock/gmock.h>

#include "scenarios.h"

namespace wafervp::test {
namespace {

constexpr const char* kFredA =
    R"({"kind":"fred","fred":{"uplink_bytes_per_s":1500000000000,"in_network":false}})";
constexpr const char* kFredB =
    R"({"kind":"fred","fred":{"uplink_bytes_per_s":1500000000000,"in_network":true}})";

std::vector<NpuId> npus(std::initializer_list<std::uint32_t> numbers) {
  std::vector<NpuId> result;
  for (const std::uint32_t n : numbers) result.push_back(NpuId{n});
  return result;
}

/// A collective's groups on a fabric, placed in order.
std::vector<Communicator> communicators(const std::string& groups, const std::string& parallelism,
                                        const std::string& fabric = R"({"kind":"mesh2d"})") {
  return build(scenario_of(R"({"kind":"collective","placement":{"kind":"mp_pp_dp"},"parallelism":)" +
                               parallelism + R"(,"collective":{"groups":")" + groups + R"("}})",
                           fabric))
      .workload.communicators;
}

TEST(Grid, IsARectangleInRankOrder) {
  const Topology t = build_topology(scenario_of(R"({"kind":"resnet152"})").wafer);
  const auto grid = [&](const std::vector<NpuId>& members) {
    const Grid found = grid_of(t, members);
    return std::pair(found.columns, found.rows);
  };
  EXPECT_EQ(grid(npus({0, 1, 2, 3, 4, 5, 6, 7, 8, 9})), std::pair(5u, 2u));
  EXPECT_EQ(grid(npus({6, 7, 11, 12, 16, 17})), std::pair(2u, 3u));
  EXPECT_EQ(grid(npus({0, 2, 10, 12})), std::pair(2u, 2u));    // every other row and column
  EXPECT_EQ(grid(npus({0, 1, 2, 3, 4})), std::pair(0u, 0u));   // a line
  EXPECT_EQ(grid(npus({0, 5, 10})), std::pair(0u, 0u));        // a line
  EXPECT_EQ(grid(npus({0, 1, 5, 7})), std::pair(0u, 0u));      // columns differ
  EXPECT_EQ(grid(npus({0, 5, 1, 6})), std::pair(0u, 0u));      // column order
  EXPECT_EQ(grid(npus({1, 0, 6, 5})), std::pair(0u, 0u));      // backwards
  EXPECT_EQ(grid(npus({0, 1, 5, 6, 10})), std::pair(0u, 0u));  // not full
}

TEST(Grid, OfFredIsMembersOfEachL1) {
  const Topology t = build_topology(scenario_of(R"({"kind":"resnet152"})", kFredA).wafer);
  const Grid half = grid_of(t, npus({0, 1, 5, 7, 18, 19}));
  EXPECT_EQ(half.columns, 2u);
  EXPECT_EQ(half.rows, 3u);
  EXPECT_EQ(grid_of(t, npus({0, 1, 4})).columns, 0u);
  EXPECT_EQ(grid_of(t, npus({0, 4, 8})).columns, 0u);
}

TEST(Share, BalancesTheLinksOfTheMesh) {
  // 5x4: X = (0.4 + 1.2 f) S, Y = (1.5 - 1.2 f) S, so f = 11/24.
  EXPECT_EQ(balanced_x_first_share({5, 4}, 750, 750), 30037u);  // 65536 * 11 / 24 = 30037.3
  EXPECT_EQ(balanced_x_first_share({8, 8}, 1, 1), 32768u);
  // A y link twice as fast as an x link takes more of the load: X = Y / 2 gives f = 7/36.
  EXPECT_EQ(balanced_x_first_share({5, 4}, 1, 2), 12743u);  // (0.75 - 0.4) / (1.2 + 0.6) = 7/36
  // One so slow that all goes the other way first.
  EXPECT_EQ(balanced_x_first_share({5, 4}, 1, 1000), 0u);
  EXPECT_EQ(balanced_x_first_share({5, 4}, 1000, 1), 65536u);
}

TEST(Rates, WholeMeshHasLinesWithoutSharing) {
  const Communicator c = communicators("all", R"({"dp":20})").front();
  EXPECT_EQ(c.members.size(), 20u);
  EXPECT_EQ(c.dim_x, 5u);
  EXPECT_EQ(c.dim_y, 4u);
  EXPECT_EQ(c.x_first_share, 30037u);
  EXPECT_EQ(c.x_rate, 750'000u);  // bytes a microsecond
  EXPECT_EQ(c.y_rate, 750'000u);
  // The flat ring in row order turns back at each row's end: edges 4->5 and so on go over x links to the
  // left, and 19->0 does too, in row 3, where no other edge goes left; then up column 0.
  EXPECT_EQ(c.ring_rate, 750'000u);
  EXPECT_EQ(c.hop_latency_ps, 7u * 20'000);
}

TEST(Rates, RowMajorGroupsShareLinks) {
  // (2,5,2) in row order: NPUs 4 and 5 are a pair, so 4->5 takes the row's links to the left and 5->4 the
  // next row's to the right, each of which another pair uses too.
  const auto groups = communicators("mp", R"({"mp":2,"dp":5,"pp":2})");
  ASSERT_EQ(groups.size(), 10u);
  for (const Communicator& c : groups) EXPECT_EQ(c.ring_rate, 375'000u) << c.name;
}

TEST(Rates, FredUplinksAreSharedByTheGroupsThatCrossThem) {
  // MP(20) on A: rings between switches share 1500 GB/s by four; the flat ring crosses once.
  const Communicator all = communicators("all", R"({"mp":20,"dp":1})", kFredA).front();
  EXPECT_EQ(all.dim_x, 4u);
  EXPECT_EQ(all.dim_y, 5u);
  EXPECT_EQ(all.x_first_share, 65536u);
  EXPECT_EQ(all.x_rate, 3'000'000u);
  EXPECT_EQ(all.y_rate, 375'000u);
  EXPECT_EQ(all.ring_rate, 1'500'000u);
  EXPECT_EQ(all.hop_latency_ps, 4u * 20'000);
  EXPECT_EQ(all.flow_rate, 0u);
  // DP(5) with four NPUs of each switch in different groups.
  for (const Communicator& c : communicators("dp", R"({"mp":2,"dp":5,"pp":2})", kFredA)) {
    EXPECT_EQ(c.ring_rate, 375'000u);
  }
}

TEST(Rates, InNetworkFlowsShareUplinksByGroup) {
  EXPECT_EQ(communicators("all", R"({"mp":20,"dp":1})", kFredB).front().flow_rate, 1'500'000u);
  for (const Communicator& c : communicators("dp", R"({"mp":2,"dp":5,"pp":2})", kFredB)) {
    EXPECT_EQ(c.flow_rate, 375'000u);
  }
  for (const Communicator& c : communicators("mp", R"({"mp":2,"dp":5,"pp":2})", kFredB)) {
    EXPECT_EQ(c.flow_rate, 3'000'000u);
  }
}

}  // namespace
}  // namespace wafervp::test
