// SPDX-License-Identifier: Apache-2.0
// 1 MiB through every operation that takes data, by every algorithm, on 1 to 20 ranks, of each type.
#include "large.h"

namespace wafervp::test {
namespace {

/// A message goes to the next rank, so that there have to be two.
json pair_ring(std::uint32_t n) { return n < 2 ? json() : ring(n); }
json switches(std::uint32_t) { return fred(5, 4, true); }
json grid(std::uint32_t n) {
  const json wafer = flat_mesh(n);
  return wafer["fabric"]["mesh2d"]["rows"] == 1 || wafer["fabric"]["mesh2d"]["columns"] == 1 ? json() : wafer;
}

class OneMiB : public testing::TestWithParam<Large> {};

TEST_P(OneMiB, HasTheValuesOfThePlainReference) { expect_every_count_and_type(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Values, OneMiB,
    testing::Values(Large{"all_reduce", "ring", "ring", ring}, Large{"reduce_scatter", "ring", "ring", ring},
                    Large{"all_gather", "ring", "ring", ring}, Large{"broadcast", "relay", "ring", ring},
                    Large{"broadcast", "direct", "ring", ring}, Large{"all_to_all", "direct", "ring", ring},
                    Large{"all_reduce", "in_switch", "fred", switches},
                    Large{"reduce_scatter", "in_switch", "fred", switches},
                    Large{"all_gather", "in_switch", "fred", switches},
                    Large{"broadcast", "in_switch", "fred", switches},
                    Large{"all_reduce", "hierarchical", "mesh", grid},
                    Large{"reduce_scatter", "hierarchical", "mesh", grid},
                    Large{"all_gather", "hierarchical", "mesh", grid},
                    Large{"send", "auto", "ring", pair_ring}),
    name_of);

}  // namespace
}  // namespace wafervp::test
