// SPDX-License-Identifier: Apache-2.0
// Which way does each routing algorithm take?
#include "router/routing.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace wafervp::test {
namespace {

constexpr unsigned kWest = 1, kEast = 2, kNorth = 3, kSouth = 4;
constexpr XyRouting::Ports kPorts{kWest, kEast, kNorth, kSouth};

// All pairs of a 5 x 4 mesh, walked: x first, then y, as many steps as the distance.
TEST(Routing, XyGoesAlongXFirstByTheShortestWay) {
  constexpr std::uint32_t kColumns = 5, kRows = 4;
  for (std::uint32_t from = 0; from < kColumns * kRows; ++from) {
    for (std::uint32_t to = 0; to < kColumns * kRows; ++to) {
      int x = static_cast<int>(from % kColumns), y = static_cast<int>(from / kColumns);
      const int to_x = static_cast<int>(to % kColumns), to_y = static_cast<int>(to / kColumns);
      const int distance = std::abs(to_x - x) + std::abs(to_y - y);
      bool turned = false;
      int steps = 0;
      for (;; ++steps) {
        ASSERT_LE(steps, distance);
        const auto here = static_cast<std::uint32_t>(y) * kColumns + static_cast<std::uint32_t>(x);
        const unsigned port = XyRouting(NpuId(here), kColumns, kPorts).output(NpuId(to));
        if (port == 0) break;
        if (port == kNorth || port == kSouth) turned = true;
        ASSERT_FALSE(turned && (port == kWest || port == kEast)) << "back to x behind y";
        x += port == kEast ? 1 : port == kWest ? -1 : 0;
        y += port == kSouth ? 1 : port == kNorth ? -1 : 0;
      }
      EXPECT_EQ(x, to_x);
      EXPECT_EQ(y, to_y);
      EXPECT_EQ(steps, distance);
    }
  }
}

TEST(Routing, RingTakesTheShorterWayAndTiesClockwise) {
  constexpr unsigned kClockwise = 1, kCounter = 2;
  for (std::uint32_t npus : {2u, 3u, 8u, 9u}) {
    for (std::uint32_t from = 0; from < npus; ++from) {
      const RingRouting ring(NpuId(from), npus, kClockwise, kCounter);
      EXPECT_EQ(ring.output(NpuId(from)), 0u);
      for (std::uint32_t ahead = 1; ahead < npus; ++ahead) {
        const unsigned expected = ahead <= npus - ahead ? kClockwise : kCounter;
        EXPECT_EQ(ring.output(NpuId((from + ahead) % npus)), expected)
            << npus << ": " << from << " + " << ahead;
      }
    }
  }
}

TEST(Routing, TableGivesAPortToEachDestination) {
  const TableRouting table({3, 1, 0, 2});
  EXPECT_EQ(table.output(NpuId(0)), 3u);
  EXPECT_EQ(table.output(NpuId(1)), 1u);
  EXPECT_EQ(table.output(NpuId(2)), 0u);
  EXPECT_EQ(table.output(NpuId(3)), 2u);
  EXPECT_THROW(table.output(NpuId(4)), std::out_of_range);
}

}  // namespace
}  // namespace wafervp::test
