// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "scenario/reader.h"

namespace wafervp::cli {

struct RunOptions {
  std::vector<std::string> files;
  std::vector<Override> overrides;
  std::string out;    // empty: results/<name>
  unsigned jobs = 0;  // 0: number of processors
  bool quiet = false;
  bool trace = false;
  std::string log;               // LEVEL[:FILTER], empty: off
  bool worker = false;           // a child of a study: the outcome goes to the standard output as JSON
  bool report_progress = false;  // a child: shares of the work go to the parent
};
struct CalibrateOptions {
  RunOptions run;                            // one file
  std::string parameter, variant, quantity;  // empty: as in the study
  std::string target, low, high;             // numbers; empty: as in the study
};
struct DescribeOptions {
  std::string file;
  std::vector<Override> overrides;
  std::string variant;  // of a study; empty: all
  bool routes = false;
  std::string between;  // FROM:TO; empty: none in particular
};

int run_command(const RunOptions& options);
int validate_command(const std::vector<std::string>& files, const std::vector<Override>& overrides);
int schema_command(const std::string& what);
int list_command(const std::string& kind);
int describe_command(const DescribeOptions& options);
int compare_command(const std::vector<std::string>& folders);
int calibrate_command(const CalibrateOptions& options);

}  // namespace wafervp::cli
