// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace wafervp::cli {

/// Ctrl-C and SIGTERM ask for the end, and end the process at once when they come again; SIGUSR1 asks for
/// the state; closed pipes and file size limits become errors of the write.
void install_signal_handlers();
/// In a child before exec: what install_signal_handlers() ignores must not be inherited.
void reset_signals();

bool stop_requested();
/// True once for each request.
bool take_state_request();

/// Ends the process with status 3 when this much wall time has passed and the run has not noticed; for
/// the phases that cannot be asked. 0 disarms.
void arm_watchdog(double seconds);

}  // namespace wafervp::cli
