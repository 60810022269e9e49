// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topology/fred_wafer.h"

namespace wafervp {

/// Chips of one size on the wafer. What is not known of them is not there.
struct FredChipRow {
  FredShape shape;
  unsigned number = 0;             ///< over all slices
  std::optional<double> area_mm2;  ///< of one
  std::optional<double> power_w;   ///< of one
  std::string source;              ///< of these figures; empty where there are none
};

/// Area and power of a wafer's FRED switches from its chips.
struct FredArea {
  std::vector<FredChipRow> rows;
  unsigned chips = 0;
  std::optional<double> area_mm2;  ///< of all; none where a chip's is not known
  std::optional<double> power_w;   ///< of all: only of the chips of the paper's wafer, whose total is stated
};
FredArea area_of(const FredWafer& wafer);

}  // namespace wafervp
