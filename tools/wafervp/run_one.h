// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "options.h"
#include "results/folder.h"

namespace wafervp::cli {

/// Runs one scenario in this process, writes its files into the folder `out` (none when empty), prints
/// its table under `title`. A worker prints its outcome as JSON instead (see variant.h). Returns the exit
/// status.
int run_one(const Document& document, const std::string& title, const RunOptions& options,
            const std::string& out);

/// The folder for results; one that cannot be used is the command line's fault (UsageError), a full or
/// broken disk is not (FileError).
ResultFolder& open_folder(std::unique_ptr<ResultFolder>& folder, const std::string& path);

}  // namespace wafervp::cli
