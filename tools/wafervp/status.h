// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace wafervp::cli {

/// Exit status of the program.
inline constexpr int kOk = 0;
inline constexpr int kCheckFailed = 1;
inline constexpr int kBadInput = 2;
inline constexpr int kNotFinished = 3;  // deadlock or time limit
inline constexpr int kInternalError = 4;
inline constexpr int kInterrupted = 130;

/// Of several runs: the worst; interrupted is above all, then the larger number.
inline int worse(int a, int b) { return a > b ? a : b; }

inline constexpr const char* kStatusHelp =
    "Exit status: 0 all well; 1 the run finished and a check failed; 2 bad usage or bad input;\n"
    "3 deadlock or time limit; 4 internal error, full disk; 130 interrupted.";

}  // namespace wafervp::cli
