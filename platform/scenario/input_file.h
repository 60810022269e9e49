// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace wafervp {

/// The bytes of a file, of a pipe, or of the standard input ("-"). Throws ScenarioError with the path as
/// typed for a missing file (nearest name in its folder), a directory (JSON files inside), an empty or
/// oversized file, and a file that cannot be read.
std::string read_input_file(const std::string& path);
/// What an empty file is told.
std::string empty_file_text();

}  // namespace wafervp
