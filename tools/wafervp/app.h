// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace wafervp::cli {

/// Parses the command line and does what it asks for. Returns the exit status.
int run_app(int argc, char** argv);

}  // namespace wafervp::cli
