// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "shapes.h"
#include "simulation.h"

namespace wafervp::test {

/// An operation by one algorithm on wafers of one kind.
struct Large {
  const char* operation;
  const char* algorithm;
  const char* fabric;            ///< for the test's name
  json (*wafer)(std::uint32_t);  ///< with `n` ranks; null where the wafer has none such
};
inline void PrintTo(const Large& large, std::ostream* out) { *out << large.operation; }
inline std::string name_of(const testing::TestParamInfo<Large>& info) {
  return std::string(info.param.operation) + '_' + info.param.algorithm + '_' + info.param.fabric;
}

/// 1 MiB on 1 to 20 ranks, of each type.
inline void expect_every_count_and_type(const Large& large) {
  constexpr std::uint64_t kBytes = 1 << 20;
  for (std::uint32_t n = 1; n <= 20; ++n) {
    for (const char* type : {"int32", "fp32", "fp16", "bf16"}) {
      Wanted wanted{large.wafer(n), large.operation, large.algorithm, type, 0, 3, 0, {}};
      if (wanted.wafer.is_null()) continue;
      const std::uint32_t npus = wanted.wafer["npus"];
      if (npus != n) wanted.ranks = some_of(npus, n);
      if (wanted.operation == "broadcast") wanted.root = n / 2;
      wanted.elements = kBytes / (type[0] == 'i' || wanted.type == "fp32" ? 4 : 2);
      const std::string wrong = difference(wanted);
      EXPECT_EQ(wrong, "");
      if (!wrong.empty()) return;
    }
  }
}

}  // namespace wafervp::test
