// SPDX-License-Identifier: Apache-2.0
// Do placements and groups follow the numbering, and does the search find what is known to exist?
#include "topology/placement.h"

#include <gmock/gmock.h>

#include <set>

#include "wafers.h"

namespace wafervp::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

PlacementSpec placement(PlacementKind kind, std::uint64_t seed = 1) {
  PlacementSpec spec{};
  spec.kind = kind;
  spec.seed = seed;
  spec.iterations = 20000;
  return spec;
}

std::vector<std::uint32_t> numbers(const std::vector<NpuId>& npus) {
  std::vector<std::uint32_t> result;
  for (const NpuId npu : npus) result.push_back(npu.value);
  return result;
}

TEST(Groups, CountMpInnermostThenPpThenDp) {
  const ParallelismSpec p{3, 3, 2};
  const Placement placed = place(build_topology(mesh(5, 4)), p, placement(PlacementKind::kMpPpDp));
  const auto mp = groups(p, placed, GroupKind::kMp);
  const auto pp = groups(p, placed, GroupKind::kPp);
  const auto dp = groups(p, placed, GroupKind::kDp);
  ASSERT_THAT(mp, SizeIs(6));
  ASSERT_THAT(pp, SizeIs(9));
  ASSERT_THAT(dp, SizeIs(6));
  EXPECT_THAT(numbers(mp[1]), ElementsAre(3, 4, 5));
  EXPECT_THAT(numbers(pp[4]), ElementsAre(7, 10));
  EXPECT_THAT(numbers(dp[4]), ElementsAre(4, 10, 16));
}

TEST(Groups, HandOversGoFromTheFirstMemberToTheWholeNextStage) {
  const ParallelismSpec p{3, 3, 2};
  const Placement placed = place(build_topology(mesh(5, 4)), p, placement(PlacementKind::kMpPpDp));
  const auto transfers = stage_transfers(p, placed);
  ASSERT_THAT(transfers, SizeIs(6));
  EXPECT_THAT(numbers(transfers[1].chain), ElementsAre(6, 9, 10, 11));
  EXPECT_EQ(transfers[4].from_stage, 1u);
  EXPECT_THAT(numbers(transfers[4].chain), ElementsAre(9, 6, 7, 8));
}

TEST(Placement, RowOrderLoadsTheLinksThatThePaperStudyCounted) {
  // FRED study: row order of (3,3,2) puts 2 ring edges of MP and DP on the worst link and 1 of PP.
  const Topology t = build_topology(mesh(5, 4));
  const Placement row = place(t, {3, 3, 2}, placement(PlacementKind::kRowMajor));
  EXPECT_THAT(row.worst_link_rings, ElementsAre(2, 1, 2));
  const Placement other = place(t, {2, 5, 2}, placement(PlacementKind::kMpPpDp));
  EXPECT_EQ(other.worst_link_rings[0], 2u);
  EXPECT_EQ(other.worst_link_rings[2], 1u);
}

TEST(Placement, SearchFindsContentionFreePlacesForTheFredWorkloads) {
  const Topology t = build_topology(mesh(5, 4));
  for (const ParallelismSpec p : {ParallelismSpec{3, 3, 2}, ParallelismSpec{2, 5, 2}}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const Placement found = place(t, p, placement(PlacementKind::kSearched, seed));
      EXPECT_THAT(found.worst_link_rings, ElementsAre(1, 1, 1)) << "seed " << seed;
      const std::set<NpuId> used(found.npu_of_rank.begin(), found.npu_of_rank.end());
      EXPECT_EQ(used.size(), found.npu_of_rank.size());
    }
  }
}

TEST(Placement, SearchGivesTheSameEachTime) {
  const Topology t = build_topology(mesh(5, 4));
  const auto once = place(t, {3, 3, 2}, placement(PlacementKind::kSearched, 7));
  const auto again = place(t, {3, 3, 2}, placement(PlacementKind::kSearched, 7));
  EXPECT_EQ(numbers(once.npu_of_rank), numbers(again.npu_of_rank));
}

TEST(Placement, SearchKeepsRowOrderForAWaferWideGroup) {
  const Topology t = build_topology(mesh(5, 4));
  for (const ParallelismSpec p : {ParallelismSpec{1, 20, 1}, ParallelismSpec{20, 1, 1}}) {
    EXPECT_EQ(place(t, p, placement(PlacementKind::kSearched)).npu_of_rank, npus(20));
  }
}

TEST(Placement, SearchOffTheMeshIsConsecutive) {
  const Topology t = build_topology(fred(12000 * kGiga, InNetwork::kNo));
  EXPECT_EQ(place(t, {2, 5, 2}, placement(PlacementKind::kSearched)).npu_of_rank, npus(20));
}

TEST(Placement, ExplicitListIsTakenAndChecked) {
  const Topology t = build_topology(mesh(2, 2));
  PlacementSpec spec = placement(PlacementKind::kExplicit);
  spec.npus = {3, 1, 0};
  EXPECT_THAT(numbers(place(t, {3, 1, 1}, spec).npu_of_rank), ElementsAre(3, 1, 0));
  spec.npus = {3, 3, 4};
  const auto issues = issues_of([&] { place(t, {3, 1, 1}, spec); });
  ASSERT_THAT(issues, SizeIs(2));
  EXPECT_EQ(issues[0].pointer, "/workload/placement/npus/1");
  EXPECT_THAT(issues[0].text, HasSubstr("already has rank 0"));
  EXPECT_EQ(issues[1].pointer, "/workload/placement/npus/2");
  spec.npus = {0};
  EXPECT_THAT(issues_of([&] { place(t, {3, 1, 1}, spec); }), SizeIs(1));
}

TEST(Placement, MoreRanksThanNpusIsAnError) {
  const auto issues = issues_of([] {
    place(build_topology(mesh(5, 4)), {65536, 65536, 65536}, placement(PlacementKind::kMpPpDp));
  });
  ASSERT_THAT(issues, SizeIs(1));
  EXPECT_EQ(issues[0].pointer, "/workload/parallelism");
}

}  // namespace
}  // namespace wafervp::test
