// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "scenario/reader.h"

namespace wafervp {

/// A figure of another study that is shown beside those of this one.
struct BesideMember {
  std::string label, study, variant;
};
/// What the table of studies reads by itself; variants, grid and published figures are read in study.cpp.
struct StudyMembers {
  std::uint32_t version;
  std::string name, comment, compare_to;
  Calibration calibrate;
  std::vector<BesideMember> beside;
};

/// Limits of a study.
inline constexpr std::size_t kMaxVariants = 10000;
inline constexpr std::size_t kMaxVariantName = 100;
inline constexpr std::size_t kMaxBeside = 100;

}  // namespace wafervp
