// SPDX-License-Identifier: Apache-2.0
#include "study.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "errors.h"
#include "fit.h"
#include "format.h"
#include "output.h"
#include "program.h"
#include "progress.h"
#include "report.h"
#include "results/folder.h"
#include "results/json_text.h"
#include "run_one.h"
#include "status.h"
#include "variant.h"

namespace wafervp::cli {
namespace {

constexpr const char* kUncalibrated = "uncalibrated";

Summary make_summary(const Study& study) {
  Summary summary;
  summary.name = study.name;
  summary.comment = study.comment;
  summary.compare_to = study.compare_to;
  for (const Variant& variant : study.variants) {
    VariantRow row;
    row.name = variant.name;
    row.compare_to = variant.compare_to;
    const auto published = study.published.find(variant.of);
    if (published != study.published.end()) {
      for (const Published& p : published->second)
        row.published.push_back({p.quantity, p.value, p.source, {}});
    }
    summary.variants.push_back(std::move(row));
  }
  return summary;
}

void set_roles(Summary& summary, const Calibration& calibration) {
  for (VariantRow& row : summary.variants) {
    row.role = row.name == calibration.variant ? Role::kFitted
               : row.name == row.compare_to    ? Role::kReference
                                               : Role::kPredicted;
  }
}

/// Gives each variant a folder name of its own.
class FolderNames {
 public:
  std::string unique(const std::string& name) {
    const std::string plain = folder_name(name);
    std::string candidate = plain;
    for (unsigned n = 2; !taken_.insert(candidate).second; ++n) candidate = plain + '-' + std::to_string(n);
    return candidate;
  }

 private:
  std::set<std::string> taken_{kUncalibrated};
};

/// The jobs of a study, and the outcome that each is for.
class JobList {
 public:
  void add(Job job, Outcome& target) {
    jobs_.push_back(std::move(job));
    targets_.push_back(&target);
  }

  /// False when stopped.
  bool run(const std::string& name, const RunOptions& options) {
    std::vector<std::size_t> open;
    std::vector<ChildSpec> specs;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      JobOutcome found;
      if (reuse_outcome(jobs_[i], found)) {
        settle(i, found);
        continue;
      }
      remove_old_result(jobs_[i]);
      open.push_back(i);
      specs.push_back(child_spec(jobs_[i], options.log));
    }
    if (open.size() < jobs_.size() && !options.quiet) {
      note(fmt::format("{}: {} of {} runs are done already and not repeated\n", name,
                       jobs_.size() - open.size(), jobs_.size()));
    }
    ProgressLine line(!options.quiet);
    std::set<std::size_t> running;
    std::size_t done = 0;
    ChildWatch watch;
    watch.started = [&](std::size_t index) { running.insert(index); };
    watch.done = [&](std::size_t index, const ChildResult& result) {
      running.erase(index);
      ++done;
      line.clear();
      settle(open[index], job_outcome(jobs_[open[index]], result));
    };
    watch.tick = [&] {
      std::string text = fmt::format("{}: {} of {} runs", name, done, specs.size());
      for (const std::size_t index : running) text += ' ' + jobs_[open[index]].label;
      line.show(text, static_cast<double>(done) / static_cast<double>(specs.size()));
    };
    const bool finished = run_children(specs, options.jobs > 0 ? options.jobs : processors(), watch);
    for (const std::size_t i : open) remove_empty_folder(jobs_[i]);
    return finished;
  }

  int exit_status() const {
    int status = kOk;
    for (const Outcome* outcome : targets_) status = worse(status, outcome->exit_status);
    return status;
  }

 private:
  void settle(std::size_t index, const JobOutcome& out) {
    const Job& job = jobs_[index];
    *targets_[index] = out.outcome;
    for (const std::string& warning : out.warnings) {
      if (warnings_.insert(warning).second) note("warning: " + job.label + ": " + warning + '\n');
    }
    if (!out.issues.empty()) {
      print_issues(out.issues, job.label + ": ");
    } else if (!out.outcome.message.empty() && !out.said) {
      complain(job.label + ": " + out.outcome.status + ": " + out.outcome.message);
    }
  }

  std::vector<Job> jobs_;
  std::vector<Outcome*> targets_;
  std::set<std::string> warnings_;
};

void write_summary(ResultFolder& folder, const Summary& summary) {
  folder.stage("summary.csv", summary_csv(summary));
  folder.stage("summary.json", json_text(summary_json(summary, program())));
  folder.commit();
}

}  // namespace

int run_variants(const Study& study, const Document& document, const StudyRun& run, const RunOptions& options,
                 Summary& summary) {
  summary = make_summary(study);
  if (run.calibration) check_calibration(study, document, *run.calibration);
  std::unique_ptr<ResultFolder> folder;
  if (!run.out.empty()) {
    open_folder(folder, run.out);
    folder->remove("summary.json");
    folder->remove("summary.csv");
  }
  std::vector<std::string> places;
  FolderNames names;
  for (const Variant& variant : study.variants) places.push_back(names.unique(variant.name));
  int status = kOk;
  if (run.calibration) {
    FitOptions fit_options{options.jobs > 0 ? options.jobs : processors(), options.log, !options.quiet, {}};
    if (folder) {
      for (std::size_t i = 0; i < places.size(); ++i) {
        fit_options.folders[study.variants[i].name] = folder->file(places[i]);
      }
    }
    summary.calibration.emplace();
    if (!fit(study, document, *run.calibration, fit_options, folder.get(), *summary.calibration)) {
      return kInterrupted;
    }
    if (!summary.calibration->fitted_value) {
      complain(study.name + ": the calibration failed: " + summary.calibration->message);
      status = kCheckFailed;
    }
  }
  const bool fitted = summary.calibration && summary.calibration->fitted_value;
  if (fitted) set_roles(summary, *run.calibration);

  JobList jobs;
  for (std::size_t i = 0; i < study.variants.size(); ++i) {
    const Variant& variant = study.variants[i];
    VariantRow& row = summary.variants[i];
    const auto add = [&](const std::string& label, const Document& source, const std::string& place,
                         Outcome& outcome) {
      Job job = make_job(label, source);
      if (folder) job.folder = folder->file(place);
      jobs.add(std::move(job), outcome);
    };
    if (!fitted) {
      add(variant.name, variant.document, places[i], row.outcome);
      continue;
    }
    add(variant.name, with_fit(variant.document, *run.calibration, *summary.calibration->fitted_value),
        places[i], row.outcome);
    if (run.with_uncalibrated) {
      row.uncalibrated.emplace();
      add(variant.name + " (uncalibrated)", variant.document, std::string(kUncalibrated) + '/' + places[i],
          *row.uncalibrated);
    }
  }
  if (!jobs.run(study.name, options)) return kInterrupted;
  compare_variants(summary);
  if (folder) write_summary(*folder, summary);
  return worse(status, jobs.exit_status());
}

int run_study(const Document& document, const RunOptions& options, const std::string& out) {
  const Study study = read_study(document);
  StudyRun run;
  run.calibration = study.calibrate;
  run.with_uncalibrated = true;
  run.out = out;
  Summary summary;
  const int status = run_variants(study, document, run, options, summary);
  if (status == kInterrupted) {
    complain(study.name + ": interrupted; run it again to go on where it stopped");
  } else if (!options.quiet) {
    print(study_report(summary, out));
  }
  return status;
}

}  // namespace wafervp::cli
