// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "scenario/errors.h"

namespace wafervp {

/// Throws the ScenarioError of one fault that shows only when the workload is built.
[[noreturn]] inline void refuse(const std::string& pointer, const std::string& text) {
  throw ScenarioError({Issue{"", 0, 0, pointer, text}});
}

}  // namespace wafervp
