// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace wafervp::cli {

/// Adds text to the standard output; it is written by flush_output().
void print(std::string_view text);
/// Writes what was printed. False when the standard output cannot take it, which is said on the standard
/// error, save that a reader who went away (a closed pipe) is no error.
bool flush_output();

/// A line on the standard error, at once: "wafervp: text".
void complain(std::string_view text);
/// Text on the standard error as it is.
void note(std::string_view text);

}  // namespace wafervp::cli
