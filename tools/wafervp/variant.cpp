// SPDX-License-Identifier: Apache-2.0
#include "variant.h"

#include <unistd.h>

#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "program.h"
#include "results/folder.h"
#include "results/json_text.h"
#include "results/result_files.h"
#include "run/run.h"
#include "status.h"

namespace wafervp::cli {
namespace {

/// Statuses that the same scenario gives again; a limit of wall time is not one.
bool is_repeatable(const std::string& status) {
  return status == "ok" || status == "check_failed" || status == "deadlock";
}

Outcome read_outcome(const Json& json) {
  Outcome outcome;
  outcome.status = json.at("status").get<std::string>();
  outcome.message = json.at("message").get<std::string>();
  outcome.time_ps = json.at("time_ps").get<Time>();
  outcome.breakdown = read_breakdown(json.at("breakdown_ps"));
  outcome.payload_bytes = json.at("payload_bytes").get<std::uint64_t>();
  const auto classes = json.find("compression_classes");
  if (classes != json.end()) outcome.compression_classes = read_classes(*classes);
  const auto training = json.find("training");
  if (training == json.end()) return outcome;
  if (training->contains("final_loss")) {
    const Json& loss = training->at("final_loss");  // null: not finite
    outcome.final_loss = loss.is_number() ? loss.get<double>() : std::numeric_limits<double>::quiet_NaN();
  }
  if (training->contains("gradient_sum")) {
    outcome.gradient_sum = read_gradient_sum(training->at("gradient_sum"));
  }
  return outcome;
}

/// A worker that ended without saying how it went.
Outcome lost_outcome(const ChildResult& result) {
  Outcome outcome;
  if (result.signal != 0) {
    outcome.status = "crashed";
    outcome.exit_status = kInternalError;
    outcome.message =
        "ended by signal " + std::to_string(result.signal) + " (" + ::strsignal(result.signal) + ')';
    return outcome;
  }
  outcome.exit_status = result.exit_status == kOk ? kInternalError : result.exit_status;
  outcome.status = result.exit_status == kNotFinished ? "time_limit" : "error";
  outcome.message =
      result.last_line.empty() ? "ended with status " + std::to_string(result.exit_status) : result.last_line;
  const std::string own = "wafervp: ";
  if (outcome.message.compare(0, own.size(), own) == 0) outcome.message.erase(0, own.size());
  return outcome;
}

void read_issues(const Json& json, const Job& job, JobOutcome& out) {
  for (const Json& item : json) {
    Issue issue;
    issue.pointer = item.at("pointer").get<std::string>();
    issue.text = item.at("text").get<std::string>();
    out.issues.push_back(issue);
  }
  out.outcome.status = "bad_input";
  // Without file and line: result files hold no path.
  if (!out.issues.empty()) out.outcome.message = out.issues[0].pointer + ": " + out.issues[0].text;
  out.issues = locate(job.document, std::move(out.issues));
}

}  // namespace

std::string worker_text(const Results& results) {
  Json json{{"status", results.status},
            {"message", results.message},
            {"time_ps", results.time_ps},
            {"breakdown_ps", breakdown_json(results.breakdown)},
            {"payload_bytes", results.payload_bytes},
            {"compression_classes", classes_json(results.compression_classes)},
            {"warnings", results.warnings}};
  if (results.training && !results.training->curve.empty()) {
    json["training"]["final_loss"] = results.training->final_loss();
    const GradientSumError& sum = results.training->gradient_sum;
    if (sum.count > 0) json["training"]["gradient_sum"] = gradient_sum_json(sum);
  }
  return json_text(json);
}

std::string worker_text(const std::vector<Issue>& issues) {
  Json list = Json::array();
  for (const Issue& issue : issues) {
    list.push_back(Json{{"pointer", issue.pointer}, {"text", issue.text}});
  }
  Json json = Json::object();
  json["issues"] = std::move(list);
  return json_text(json);
}

Job make_job(const std::string& label, const Document& document) {
  return {label, document, effective_json(read_scenario(document)), ""};
}

ChildSpec child_spec(const Job& job, const std::string& log) {
  ChildSpec spec;
  spec.label = job.label + ": ";
  spec.args = {"run", "-", "--worker"};
  if (!job.folder.empty()) spec.args.insert(spec.args.end(), {"--out", job.folder});
  if (!log.empty()) spec.args.insert(spec.args.end(), {"--log", log});
  spec.input = json_text(job.effective);
  return spec;
}

JobOutcome job_outcome(const Job& job, const ChildResult& result) {
  JobOutcome out;
  const Json json = result.signal != 0 ? Json() : Json::parse(result.output, nullptr, false);
  if (!json.is_object()) {
    out.outcome = lost_outcome(result);
    out.said = result.signal == 0 && !result.last_line.empty();
  } else if (json.contains("issues")) {
    out.outcome.exit_status = result.exit_status;
    read_issues(json["issues"], job, out);
  } else {
    out.outcome = read_outcome(json);
    out.outcome.exit_status = result.exit_status;
    out.warnings = json.at("warnings").get<std::vector<std::string>>();
  }
  out.outcome.scenario_hash = scenario_hash(job.effective, program());
  return out;
}

bool reuse_outcome(const Job& job, JobOutcome& found) {
  const std::string path = job.folder + "/result.json";
  if (job.folder.empty() || ::access(path.c_str(), R_OK) != 0) return false;
  try {
    const Json json = Json::parse(read_file(path));
    const std::string hash = scenario_hash(job.effective, program());
    if (json.at("scenario_hash") != hash || !is_repeatable(json.at("status"))) return false;
    found.outcome = read_outcome(json);
    found.warnings = json.at("warnings").get<std::vector<std::string>>();
    Results results;
    results.status = found.outcome.status;
    found.outcome.exit_status = exit_status(results);
    found.outcome.scenario_hash = hash;
    return true;
  } catch (const Json::exception&) {
    return false;  // a file of another program; it is written anew
  }
}

void remove_old_result(const Job& job) {
  if (!job.folder.empty()) ::unlink((job.folder + "/result.json").c_str());
}

void remove_empty_folder(const Job& job) {
  if (!job.folder.empty()) ::rmdir(job.folder.c_str());
}

}  // namespace wafervp::cli
