// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "results/results.h"

namespace wafervp {

/// One part of a breakdown: its name in files and tables, and its member.
struct BreakdownPart {
  const char* name;
  Time Breakdown::*member;
};

inline constexpr std::array<BreakdownPart, 7> kBreakdownParts{{
    {"compute", &Breakdown::compute},
    {"input_load", &Breakdown::input_load},
    {"mp", &Breakdown::mp},
    {"dp", &Breakdown::dp},
    {"pp", &Breakdown::pp},
    {"weight_streaming", &Breakdown::weight_streaming},
    {"idle", &Breakdown::idle},
}};

}  // namespace wafervp
