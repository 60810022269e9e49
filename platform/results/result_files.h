// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "results/folder.h"
#include "results/program_info.h"
#include "results/results.h"

namespace wafervp {

/// Tells apart what a run depends on: the effective scenario and the program.
std::string scenario_hash(const Json& effective, const ProgramInfo& program);

/// The content of result.json. `statistics` false leaves out links, NPUs and collectives.
std::string result_text(const Results& results, const Scenario& scenario, const Json& effective,
                        const ProgramInfo& program);
/// With the bytes on the wire, errors and what they cost where the scenario has headers or retransmission.
std::string links_csv(const Results& results, const Scenario& scenario);
/// Loss against step and simulated time.
std::string loss_csv(const TrainingResult& training);
/// Chrome trace-event JSON: a process per NPU, a thread per kind of work; slices of a kind that overlap lie
/// on threads of their own. Times are microseconds with six decimals, that is whole picoseconds.
void write_trace(const Results& results, Sink& sink);

Json breakdown_json(const Breakdown& breakdown);
/// Parts that are absent are 0.
Breakdown read_breakdown(const Json& json);

/// A list of an object each.
Json classes_json(const std::vector<CompressionClassResult>& classes);
std::vector<CompressionClassResult> read_classes(const Json& json);

Json gradient_sum_json(const GradientSumError& sum);
GradientSumError read_gradient_sum(const Json& json);

/// Writes effective-scenario.json, links.csv (with statistics), trace.json (when asked for) and
/// result.json, the last one being the sign that all are there. Throws FileError.
void write_results(ResultFolder& folder, const Results& results, const Scenario& scenario,
                   const Json& effective, const ProgramInfo& program);

}  // namespace wafervp
