// SPDX-License-Identifier: Apache-2.0
#include "run/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "run/checks.h"
#include "run/collect.h"
#include "run/log.h"
#include "run/observer.h"
#include "run/report.h"
#include "run/training_host.h"
#include "topology/fred_built.h"
#include "topology/picoseconds.h"
#include "topology/placement.h"
#include "wafer/wafer.h"

namespace wafervp {

namespace {

/// Looks up from the event loop now and then: progress, state reports, interruption, wall-clock limit.
class Watcher {
 public:
  Watcher(const RunHooks& hooks, const Scenario& scenario, Wafer& wafer, const Topology& topology,
          const Workload& workload, const RunObserver& observer, const TrainingHost* training)
      : hooks_(hooks),
        wall_limit_s_(scenario.limits.wall_s),
        wafer_(wafer),
        topology_(topology),
        workload_(workload),
        observer_(observer),
        training_(training),
        start_(std::chrono::steady_clock::now()),
        last_(start_) {
    wafer.calendar().set_watch(&Watcher::call, this, training != nullptr ? kTrainingInterval : kInterval);
  }
  bool interrupted() const { return interrupted_; }
  bool wall_limit_reached() const { return wall_limit_reached_; }

 private:
  static constexpr std::uint32_t kInterval = 8192, kTrainingInterval = 32;  // events; kernels take long

  static bool call(void* context, Time now) { return static_cast<Watcher*>(context)->look(now); }

  bool look(Time now) {
    if (hooks_.state_wanted && hooks_.state_wanted() && hooks_.report) {
      hooks_.report(state_report(wafer_, topology_, workload_, observer_));
    }
    const auto wall = std::chrono::steady_clock::now();
    if (wall_limit_s_ > 0 && std::chrono::duration<double>(wall - start_).count() > wall_limit_s_) {
      wall_limit_reached_ = true;
      return false;
    }
    if (!hooks_.progress || wall - last_ < std::chrono::milliseconds(100)) return true;
    last_ = wall;
    interrupted_ = !hooks_.progress({now, observer_.share_done(), wafer_.calendar().executed(),
                                     training_ != nullptr ? &training_->result() : nullptr});
    return !interrupted_;
  }

  const RunHooks& hooks_;
  double wall_limit_s_;
  Wafer& wafer_;
  const Topology& topology_;
  const Workload& workload_;
  const RunObserver& observer_;
  const TrainingHost* training_;
  std::chrono::steady_clock::time_point start_, last_;
  bool interrupted_ = false;
  bool wall_limit_reached_ = false;
};

void log_links(const RunLog& log, const Results& results) {
  for (const LinkResult& link : results.links) {
    log.line(results.time_ps, link.name,
             fmt::format("carried {} bytes, busy for {} ps", link.bytes, link.busy_ps));
  }
}

void warn_of_losses(const TrainingResult& training, std::vector<std::string>& warnings) {
  for (const TrainingPoint& point : training.curve) {
    if (std::isfinite(point.loss)) continue;
    warnings.push_back(
        fmt::format("/workload/training: the loss of step {} is no finite number", point.step));
    return;
  }
}

/// What the kernel's quiet return means.
void judge(Wafer& wafer, const Workload& workload, const RunObserver& observer, const Watcher& watcher,
           const Scenario& scenario, Results& results) {
  const auto npus = static_cast<std::uint32_t>(workload.programs.size());
  if (observer.failed()) {
    results.status = "check_failed";
    for (std::uint32_t n = 0; n < npus; ++n) {
      if (observer.finished(NpuId(n)) && observer.exit_code(NpuId(n)) != WVP_EXIT_OK) {
        results.message += (results.message.empty() ? "" : "\n") +
                           exit_report(wafer, workload, NpuId(n), observer.exit_code(NpuId(n)));
      }
    }
  } else if (watcher.interrupted()) {
    results.status = "interrupted";
    results.message = "interrupted by the user";
  } else if (wafer.calendar().limit_reached() || watcher.wall_limit_reached()) {
    results.status = "time_limit";
    const std::string limit =
        !wafer.calendar().limit_reached()
            ? fmt::format("{} s of wall-clock time (/limits/wall_s)", scenario.limits.wall_s)
        : scenario.limits.time_ns > 0
            ? fmt::format("{} ns of simulated time (/limits/time_ns)", scenario.limits.time_ns)
            : std::string("106 days of simulated time, which the platform can count,");
    results.message = fmt::format("the limit of {} is reached; {} of {} ranks are not done:\n", limit,
                                  npus - observer.exits(), npus);
    results.message += waiting_report(wafer, workload, observer, 20, Cycles::kNormal);
  } else if (results.time_ps >= kTimeEnd / 2) {
    // Where a rate would need longer, it is told as half of what can be counted (Rate::ps).
    results.status = "time_limit";
    results.message =
        "53 days of simulated time are reached, which a single transfer or computation may take";
  } else if (observer.exits() < npus) {
    results.status = "deadlock";
    results.message = fmt::format("nothing is left to happen and {} of {} ranks are not done:\n",
                                  npus - observer.exits(), npus) +
                      waiting_report(wafer, workload, observer, 20, Cycles::kFault);
  }
}

}  // namespace

Results run_scenario(const Scenario& scenario, const RunHooks& hooks) {
  const Topology topology = build_topology(scenario.wafer);
  std::vector<std::string> warnings;
  const Placement placement = place_workers(scenario.wafer, topology, scenario.workload, warnings);
  Workload workload = build_workload(scenario, topology, placement);
  relieve(scenario, topology, workload);
  warnings.insert(warnings.end(), workload.warnings.begin(), workload.warnings.end());

  // Never destroyed: the process ends soon after its one run, and SystemC takes longer to let its objects go
  // one by one (a search among all for each) than to make them.
  static Wafer* kept;
  kept = new Wafer(scenario, topology, workload);
  Wafer& wafer = *kept;
  if (wafer.fred_routing() != nullptr) {
    const std::vector<std::string>& conflicts = wafer.fred_routing()->plan.warnings;
    warnings.insert(warnings.end(), conflicts.begin(), conflicts.end());
  }
  const RunLog log(hooks, placement.npu_of_rank);
  for (const std::string& warning : warnings) {
    if (log.wants(RunLog::kWarning)) log.line(0, "run", warning);
  }
  if (log.wants(RunLog::kInfo)) {
    log.line(0, "run",
             fmt::format("built {} NPUs, {} links, {} groups", topology.npus, topology.links.size(),
                         workload.communicators.size()));
  }
  RunObserver observer(workload, {scenario.outputs.trace}, log);
  wafer.set_observer(observer);
  const std::unique_ptr<TrainingHost> training = make_training_host(scenario, workload, wafer);
  if (scenario.limits.time_ns > 0) {
    wafer.calendar().set_limit(ps_of_ns(scenario.limits.time_ns));
  }
  Watcher watcher(hooks, scenario, wafer, topology, workload, observer, training.get());

  Results results;
  results.warnings = std::move(warnings);
  try {
    sc_core::sc_start();
    wafer.calendar().rethrow_failure();
  } catch (const CollectiveMismatch& mismatch) {
    results.status = "check_failed";
    results.message = wafer.tree_flows().describe(mismatch.group()) + ": " + mismatch.what();
  } catch (const CompressionFault& fault) {
    results.status = "check_failed";
    results.message = std::string(fault.what()) + " (/wafer/compression)";
  } catch (const DeadLink& dead) {
    results.status = "check_failed";
    results.message =
        topology.link(dead.link()).name + ": " + dead.what() + " (/wafer/fabric/errors, or its length)";
  }
  wafer.release_passed();
  for (std::uint32_t n = 0; n < workload.programs.size(); ++n) {
    results.time_ps = std::max(results.time_ps, observer.end_of(NpuId(n)));
  }
  // A run that did not come to its end is told up to where it got.
  if (observer.exits() < workload.programs.size()) {
    const Calendar& calendar = wafer.calendar();
    results.time_ps = std::max(results.time_ps, calendar.limit_reached() ? calendar.limit() : calendar.now());
  }
  results.events = wafer.calendar().executed();
  if (results.status == "ok") judge(wafer, workload, observer, watcher, scenario, results);
  collect_statistics(wafer, scenario, topology, workload, observer, results);
  if (training != nullptr) {
    results.training = training->result();
    warn_of_losses(*results.training, results.warnings);
    results.training->gradient_sum = training->gradient_sum();
  }
  if (results.status == "ok") check_promises(wafer, topology, results);
  if (!scenario.outputs.statistics) {
    results.collectives.clear();
    results.links.clear();
    results.npus.clear();
    results.io_controllers.clear();
  }
  results.trace = observer.take_trace();
  if (results.status != "ok" && log.wants(RunLog::kError)) log.line(results.time_ps, "run", results.message);
  if (log.wants(RunLog::kDebug)) log_links(log, results);
  if (log.wants(RunLog::kInfo))
    log.line(results.time_ps, "run", fmt::format("{}, {} events", results.status, results.events));
  return results;
}

int exit_status(const Results& results) {
  if (results.status == "ok") return 0;
  if (results.status == "check_failed") return 1;
  if (results.status == "deadlock" || results.status == "time_limit") return 3;
  return results.status == "interrupted" ? 130 : 4;
}

}  // namespace wafervp
