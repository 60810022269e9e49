// SPDX-License-Identifier: Apache-2.0
#include "study.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <vector>

#include "errors.h"
#include "fit.h"
#include "format.h"
#include "output.h"
#include "program.h"
#include "progress.h"
#include "report.h"
#include "results/csv.h"
#include "results/folder.h"
#include "results/json_text.h"
#include "run_one.h"
#include "status.h"
#include "variant.h"

namespace wafervp::cli {
namespace {

constexpr const char* kUncalibrated = "uncalibrated";
constexpr const char* kBeside = "beside";

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
        row.published.push_back({p.quantity, p.value, p.source, {}, p.note});
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
  std::set<std::string> taken_{kUncalibrated, kBeside};
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
    ProgressLine line(options.quiet ? ProgressTo::kNobody : ProgressTo::kTerminal);
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      JobOutcome found;
      if (reuse_outcome(jobs_[i], found)) {
        settle(i, found);
        continue;
      }
      remove_old_result(jobs_[i]);
      open.push_back(i);
      specs.push_back(child_spec(jobs_[i], options.log));
      if (line.active()) specs.back().args.push_back("--report-progress");
    }
    if (open.size() < jobs_.size() && !options.quiet) {
      note(fmt::format("{}: {} of {} runs are done already, by a fit or an earlier start\n", name,
                       jobs_.size() - open.size(), jobs_.size()));
    }
    std::map<std::size_t, double> running;  // share that is done
    std::size_t done = 0;
    ChildWatch watch;
    watch.started = [&](std::size_t index) { running.emplace(index, 0); };
    watch.progress = [&](std::size_t index, double share) { running[index] = share; };
    watch.done = [&](std::size_t index, const ChildResult& result) {
      running.erase(index);
      ++done;
      line.clear();
      settle(open[index], job_outcome(jobs_[open[index]], result));
    };
    watch.tick = [&] {
      std::string text = fmt::format("{}: {} of {} runs", name, done, specs.size());
      double share = static_cast<double>(done);
      for (const auto& [index, own] : running) {
        text += fmt::format(" {} {:.0f} %", jobs_[open[index]].label, 100 * own);
        share += own;
      }
      line.show(text, share / static_cast<double>(specs.size()));
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

/// The runs of one study, in a folder of its own: the study itself, or one that it names as `beside`.
class Part {
 public:
  /// `prefix` tells its runs from those of other parts.
  Part(Study study, const Document& document, const StudyRun& run, std::string prefix)
      : study_(std::move(study)), document_(document), run_(run), prefix_(std::move(prefix)) {
    summary_ = make_summary(study_);
    if (run_.calibration) check_calibration(study_, document_, *run_.calibration);
    if (!run_.out.empty()) {
      open_folder(folder_, run_.out);
      folder_->remove("summary.json");
      folder_->remove("summary.csv");
      folder_->remove("loss.csv");
    }
    FolderNames names;
    for (const Variant& variant : study_.variants) places_.push_back(names.unique(variant.name));
  }

  /// False when stopped.
  bool fit_parameter(const RunOptions& options, KnownFits& known) {
    if (!run_.calibration) return true;
    FitOptions fit_options{
        options.jobs > 0 ? options.jobs : processors(), options.log, !options.quiet, {}, &known};
    if (folder_) {
      for (std::size_t i = 0; i < places_.size(); ++i) {
        fit_options.folders[study_.variants[i].name] = folder_->file(places_[i]);
      }
    }
    CalibrationRow& row = summary_.calibration.emplace();
    FitOrigin origin{};
    if (!fit(study_, document_, *run_.calibration, fit_options, folder_.get(), row, origin)) return false;
    if (origin == FitOrigin::kReplaced && !options.quiet) {
      note(study_.name + ": what the fit depends on has changed since the earlier run: it was made again\n");
    }
    if (!row.fitted_value) {
      complain(study_.name + ": the calibration failed: " + row.message);
      status_ = kCheckFailed;
      return true;
    }
    if (origin == FitOrigin::kKept && !options.quiet) {
      note(fmt::format("{}: the fit in {} is used, {} = {}\n", study_.name, folder_->file("calibration.json"),
                       row.parameter, row.fitted_value->dump()));
    }
    fitted_ = true;
    set_roles(summary_, *run_.calibration);
    return true;
  }

  void add_jobs(JobList& jobs) {
    for (std::size_t i = 0; i < study_.variants.size(); ++i) {
      const Variant& variant = study_.variants[i];
      VariantRow& row = summary_.variants[i];
      if (!fitted_) {
        add_job(jobs, variant.name, variant.document, places_[i], row.outcome);
        continue;
      }
      add_job(jobs, variant.name,
              with_fit(variant.document, *run_.calibration, *summary_.calibration->fitted_value), places_[i],
              row.outcome);
      if (run_.with_uncalibrated) {
        row.uncalibrated.emplace();
        add_job(jobs, variant.name + " (uncalibrated)", variant.document,
                std::string(kUncalibrated) + '/' + places_[i], *row.uncalibrated);
      }
    }
  }

  void write_summary() {
    if (!folder_) return;
    folder_->stage("summary.csv", summary_csv(summary_));
    const std::string curves = loss_curves();
    curves.empty() ? folder_->drop("loss.csv") : folder_->stage("loss.csv", curves);
    folder_->stage("summary.json", json_text(summary_json(summary_, program())));
    folder_->commit();
  }

  Summary& summary() { return summary_; }
  int status() const { return status_; }

 private:
  /// loss.csv of all variants of kind training, each line with the name of its variant; empty without any.
  std::string loss_curves() const {
    std::string text;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (!summary_.variants[i].outcome.final_loss) continue;
      std::istringstream lines(read_file(folder_->file(places_[i]) + "/loss.csv"));
      std::string line;
      for (bool head = true; std::getline(lines, line); head = false) {
        if (!head) text += csv_field(study_.variants[i].name) + ',' + line + '\n';
        if (head && text.empty()) text = "variant," + line + '\n';
      }
    }
    return text;
  }
  void add_job(JobList& jobs, const std::string& label, const Document& source, const std::string& place,
               Outcome& outcome) {
    Job job = make_job(prefix_ + label, source);
    if (folder_) job.folder = folder_->file(place);
    jobs.add(std::move(job), outcome);
  }

  const Study study_;
  const Document& document_;
  const StudyRun run_;
  const std::string prefix_;
  Summary summary_;
  std::unique_ptr<ResultFolder> folder_;
  std::vector<std::string> places_;
  bool fitted_ = false;
  int status_ = kOk;
};

const Variant* find_variant(const Study& study, const std::string& name) {
  for (const Variant& variant : study.variants) {
    if (variant.name == name) return &variant;
  }
  return nullptr;
}

/// What the figure of one variant takes: that variant, those that the fit takes, and what they are compared
/// with.
Study needed_for(const Study& study, const std::string& name) {
  std::set<std::string> names{name};
  if (study.calibrate) names.insert(study.calibrate->variant);
  for (const std::string& wanted : std::set<std::string>(names)) {
    if (const Variant* variant = find_variant(study, wanted)) names.insert(variant->compare_to);
  }
  Study part = study;
  part.variants.clear();
  for (const Variant& variant : study.variants) {
    if (names.count(variant.name) != 0) part.variants.push_back(variant);
  }
  return part;
}

BesideRow beside_row(const Beside& beside, const Summary& summary) {
  BesideRow row{beside.label, summary.name, {}, summary.calibration};
  for (const VariantRow& variant : summary.variants) {
    if (variant.name == beside.variant) row.row = variant;
  }
  return row;
}

}  // namespace

int run_variants(const Study& study, const Document& document, const StudyRun& run, const RunOptions& options,
                 Summary& summary) {
  std::vector<std::unique_ptr<Part>> parts;
  parts.push_back(std::make_unique<Part>(study, document, run, ""));
  FolderNames names;
  for (const Beside& beside : study.beside) {
    if (!run.with_beside) break;
    StudyRun other;
    other.calibration = beside.study->calibrate;
    if (!run.out.empty()) other.out = run.out + '/' + kBeside + '/' + names.unique(beside.label);
    Study other_study = needed_for(*beside.study, beside.variant);
    other_study.name = title_of(other_study.name, beside.document.sources.front().file);
    parts.push_back(
        std::make_unique<Part>(std::move(other_study), beside.document, other, beside.label + ": "));
  }
  int status = kOk;
  KnownFits known;
  JobList jobs;
  for (const auto& part : parts) {
    if (!part->fit_parameter(options, known)) {
      summary = part->summary();
      return kInterrupted;
    }
    status = worse(status, part->status());
  }
  // The study's own runs come last: they are many, and fill all processors up to the end.
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) (*part)->add_jobs(jobs);
  const bool finished = jobs.run(study.name, options);
  if (finished) {
    for (const auto& part : parts) compare_variants(part->summary());
    for (std::size_t i = 1; i < parts.size(); ++i) {
      parts[i]->write_summary();
      parts[0]->summary().beside.push_back(beside_row(study.beside[i - 1], parts[i]->summary()));
    }
    parts[0]->write_summary();
  }
  summary = parts[0]->summary();
  return finished ? worse(status, jobs.exit_status()) : kInterrupted;
}

int run_study(const Document& document, const std::string& title, const RunOptions& options,
              const std::string& out) {
  Study study = read_study(document);
  study.name = title;
  StudyRun run;
  run.calibration = study.calibrate;
  run.with_uncalibrated = run.with_beside = true;
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
