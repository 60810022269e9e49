// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <new>
#include <string>
#include <systemc>

#include "app.h"
#include "errors.h"
#include "output.h"
#include "results/folder.h"
#include "scenario/errors.h"
#include "signals.h"
#include "status.h"

namespace {

int guarded(int argc, char** argv) {
  using namespace wafervp::cli;  // NOLINT: the one place that joins all
  try {
    return run_app(argc, argv);
  } catch (const wafervp::ScenarioError& error) {
    print_issues(error.issues());
    return kBadInput;
  } catch (const UsageError& error) {
    complain(error.what());
    return kBadInput;
  } catch (const wafervp::FileError& error) {
    complain(error.what());
    return kInternalError;
  } catch (const std::bad_alloc&) {
    complain("internal error: out of memory");
    return kInternalError;
  } catch (const std::exception& error) {
    complain(std::string("internal error: ") + error.what());
    return kInternalError;
  }
}

}  // namespace

/// SystemC's library wants one. It is not called: its own main() would build a kernel, and print a banner,
/// for commands that simulate nothing.
int sc_main(int /*argc*/, char** /*argv*/) { return 0; }

int main(int argc, char** argv) {
  wafervp::cli::install_signal_handlers();
  // SystemC's remarks would go to the standard output, between the tables.
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  const int status = guarded(argc, argv);
  const bool written = wafervp::cli::flush_output();
  return written ? status : wafervp::cli::worse(status, wafervp::cli::kInternalError);
}
