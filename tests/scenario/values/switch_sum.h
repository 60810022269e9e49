// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "values.h"

namespace wafervp::test {

/// The sum that FRED switches make of the members' buffers: each L1 switch adds the ports of its NPUs in a
/// binary tree (ports 0 and 1, 2 and 3, ..., then pairs of pairs; a port without data passes), the L2 switch
/// the L1 switches likewise (modules/fred_switch/README.md). `members`: the NPU of each buffer.
Buffer switch_sum(std::uint32_t dtype, const std::vector<std::uint32_t>& members, std::uint32_t npus_per_l1,
                  const std::vector<Buffer>& values);

}  // namespace wafervp::test
