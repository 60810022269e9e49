// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scenario/reader.h"

namespace wafervp {

/// Limits of one input text, far above any sensible scenario.
inline constexpr std::size_t kMaxFileBytes = std::size_t{16} << 20;
inline constexpr std::size_t kMaxJsonValues = 500000;
inline constexpr std::size_t kMaxJsonDepth = 64;
inline constexpr std::size_t kMaxIssues = 100;

/// Strict JSON (RFC 8259): UTF-8 with or without byte order mark, no comments, no trailing commas, no
/// duplicate names, finite numbers, nesting up to kMaxJsonDepth, nothing after the value. The document's
/// origins point into source 0, named `file`. Goes on after a fault that leaves the structure clear, so
/// that `issues` holds all of those and at most one that does not; the value counts only without issues.
Document parse_json(std::string_view text, const std::string& file, std::vector<Issue>& issues);

}  // namespace wafervp
