// SPDX-License-Identifier: Apache-2.0
// Does the check of channel dependencies find cycles where they are, and only there?
#include "topology/deadlock.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "wafers.h"

namespace wafervp::test {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

/// Each link of the cycle must begin where the one before it ends.
void expect_closed(const Topology& topology, const std::vector<LinkId>& cycle) {
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    EXPECT_EQ(topology.link(cycle[i]).to, topology.link(cycle[(i + 1) % cycle.size()]).from);
  }
}

TEST(DependencyCycle, DimensionOrderAndTreesHaveNone) {
  EXPECT_THAT(find_dependency_cycle(build_topology(mesh(5, 4))), IsEmpty());
  EXPECT_THAT(find_dependency_cycle(build_topology(mesh(1, 7))), IsEmpty());
  EXPECT_THAT(find_dependency_cycle(build_topology(star(9))), IsEmpty());
  EXPECT_THAT(find_dependency_cycle(build_topology(fred(12000 * kGiga, InNetwork::kNo))), IsEmpty());
}

TEST(DependencyCycle, RingsOfMoreThanThreeHaveOne) {
  // Up to three NPUs every route is one hop, so no packet waits for a second link.
  EXPECT_THAT(find_dependency_cycle(build_topology(ring(3))), IsEmpty());
  for (const std::uint32_t n : {4u, 5u, 16u}) {
    const Topology t = build_topology(ring(n));
    const auto cycle = find_dependency_cycle(t);
    EXPECT_THAT(cycle, SizeIs(n));
    expect_closed(t, cycle);
  }
}

TEST(DependencyCycle, IsFoundWhenPlantedInAMesh) {
  const Topology t = build_topology(mesh(5, 4));
  std::vector<std::vector<LinkId>> routes;
  for (const NpuId from : npus(20)) {
    for (const NpuId to : npus(20)) routes.push_back(route(t, from, to));
  }
  EXPECT_THAT(find_dependency_cycle(t, routes), IsEmpty());
  const auto link = [&](const std::string& name) {
    const auto found =
        std::find_if(t.links.begin(), t.links.end(), [&](const LinkSpec& l) { return l.name == name; });
    return LinkId{static_cast<std::uint32_t>(found - t.links.begin())};
  };
  // Two turns from y to x close the circle around one square with the two turns that x first has.
  routes.push_back({link("x2y1->x2y2"), link("x2y2->x1y2")});
  EXPECT_THAT(find_dependency_cycle(t, routes), IsEmpty());
  routes.push_back({link("x1y2->x1y1"), link("x1y1->x2y1")});
  const auto cycle = find_dependency_cycle(t, routes);
  EXPECT_THAT(cycle, SizeIs(4));
  expect_closed(t, cycle);
}

}  // namespace
}  // namespace wafervp::test
