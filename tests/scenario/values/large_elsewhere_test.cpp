// SPDX-License-Identifier: Apache-2.0
// The rest of the cross product of large_test.cpp: the algorithms at the end points on the other fabrics.
#include "large.h"

namespace wafervp::test {
namespace {

json end_points(std::uint32_t n) { return fred(5, 4, n % 2 == 1); }
/// The grid of a FRED wafer: as many members in each L1 switch.
json fred_grid(std::uint32_t n) {
  for (std::uint32_t per_l1 : {4u, 3u, 2u}) {
    if (n % per_l1 == 0 && n > per_l1) return fred(n / per_l1, per_l1, false);
  }
  return json();
}

std::vector<Large> all() {
  std::vector<Large> list;
  struct Fabric {
    const char* name;
    json (*wafer)(std::uint32_t);
  };
  for (const Fabric& fabric :
       {Fabric{"switch", plain_switch}, Fabric{"mesh", flat_mesh}, Fabric{"fred", end_points}}) {
    for (const char* operation : {"all_reduce", "reduce_scatter", "all_gather"}) {
      list.push_back({operation, "ring", fabric.name, fabric.wafer});
    }
    list.push_back({"broadcast", "relay", fabric.name, fabric.wafer});
    list.push_back({"broadcast", "direct", fabric.name, fabric.wafer});
    list.push_back({"all_to_all", "direct", fabric.name, fabric.wafer});
  }
  for (const char* operation : {"all_reduce", "reduce_scatter", "all_gather"}) {
    list.push_back({operation, "hierarchical", "fred", fred_grid});
  }
  return list;
}

class OneMiBElsewhere : public testing::TestWithParam<Large> {};

TEST_P(OneMiBElsewhere, HasTheValuesOfThePlainReference) { expect_every_count_and_type(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Values, OneMiBElsewhere, testing::ValuesIn(all()), name_of);

}  // namespace
}  // namespace wafervp::test
