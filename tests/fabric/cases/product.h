// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cases/cases.h"

namespace fabric_cases {

/// When each NPU's program ended in a run of the product, in ps. Throws std::runtime_error with the
/// product's status and message when the run did not end well.
std::vector<std::uint64_t> product_ends(const std::string& binary, const FabricCase& fabric_case,
                                        const std::string& grain);

/// Largest difference of any NPU's end from the reference, as a share of the reference's end.
struct Difference {
  double share = 0;
  std::uint32_t npu = 0;
  std::uint64_t expected_ps = 0, found_ps = 0;
};
Difference compare(const std::string& binary, const FabricCase& fabric_case, const std::string& grain);

}  // namespace fabric_cases
