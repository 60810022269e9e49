// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "child.h"
#include "results/summary.h"
#include "scenario/errors.h"
#include "scenario/reader.h"

namespace wafervp::cli {

/// What a worker prints on its standard output, and what the study reads there.
std::string worker_text(const Results& results);
std::string worker_text(const std::vector<Issue>& issues);

/// A scenario for a worker.
struct Job {
  std::string label;  // for messages
  Document document;  // where its members come from, for messages
  Json effective;
  std::string folder;  // of its results; empty: none are written
};
struct JobOutcome {
  Outcome outcome;
  std::vector<std::string> warnings;
  std::vector<Issue> issues;  // located in the study's files
  bool said = false;          // the child itself has put the message on the standard error
};

/// Reads and completes a variant. Throws ScenarioError.
Job make_job(const std::string& label, const Document& document);
ChildSpec child_spec(const Job& job, const std::string& log);
JobOutcome job_outcome(const Job& job, const ChildResult& result);
/// The outcome in the job's folder, if a whole result of the same scenario and program is there that
/// another run would repeat. True when there is one.
bool reuse_outcome(const Job& job, JobOutcome& found);
/// Before a run: an old result must not be taken for this one's if it fails.
void remove_old_result(const Job& job);
/// After a run that failed: the folder goes if nothing was written into it.
void remove_empty_folder(const Job& job);

}  // namespace wafervp::cli
