// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "core/time.h"

namespace wafervp {

/// The nearest whole picosecond to a scenario's time in ns, 0 to 10^15.
inline Time ps_of_ns(double ns) { return static_cast<Time>(std::llround(ns * 1000.0)); }

}  // namespace wafervp
