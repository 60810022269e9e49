// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace wafervp::test {

/// Runs the scenario in a child process, with seeded values in all memories. When each NPU ended, what each
/// memory holds afterwards (a sum over its bytes), and what each link carried, a line each; or the error.
std::string outcome(const nlohmann::json& scenario);

}  // namespace wafervp::test
