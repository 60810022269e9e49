// SPDX-License-Identifier: Apache-2.0
#include "run/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "run/checks.h"
#include "run/log.h"
#include "run/observer.h"
#include "run/report.h"
#include "run/training_host.h"
#include "scenario/words.h"
#include "topology/bounds.h"
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

double bus_factor(std::uint32_t op, double n) {
  switch (op) {
    case WVP_OP_ALL_REDUCE:
      return 2 * (n - 1) / n;
    case WVP_OP_REDUCE_SCATTER:
    case WVP_OP_ALL_GATHER:
    case WVP_OP_ALL_TO_ALL:
      return (n - 1) / n;
    default:
      return 1;
  }
}

Operation operation_of(std::uint32_t op) {
  switch (op) {
    case WVP_OP_ALL_REDUCE:
      return Operation::kAllReduce;
    case WVP_OP_REDUCE_SCATTER:
      return Operation::kReduceScatter;
    case WVP_OP_ALL_GATHER:
      return Operation::kAllGather;
    case WVP_OP_BROADCAST:
      return Operation::kBroadcast;
    case WVP_OP_ALL_TO_ALL:
      return Operation::kAllToAll;
    case WVP_OP_LOAD:
      return Operation::kLoad;
    case WVP_OP_STORE:
      return Operation::kStore;
    default:
      return Operation::kBarrier;
  }
}

CompressionResult compression_result(const CompressionStatistics& statistics) {
  CompressionResult result;
  result.present = true;
  result.sent_messages = statistics.egress.messages;
  result.sent_dense_bytes = statistics.egress.dense_bytes;
  result.sent_wire_bytes = statistics.egress.wire_bytes;
  result.sent_busy_ps = statistics.egress.busy_ps;
  result.received_messages = statistics.ingress.messages;
  result.received_dense_bytes = statistics.ingress.dense_bytes;
  result.received_wire_bytes = statistics.ingress.wire_bytes;
  result.received_busy_ps = statistics.ingress.busy_ps;
  if (statistics.values_squared > 0) {
    result.relative_error = std::sqrt(statistics.errors_squared / statistics.values_squared);
  }
  return result;
}

void collect_collectives(const Wafer& wafer, const CompressionPlan& compression, const Topology& topology,
                         const Workload& workload, const RunObserver& observer, Results& results) {
  for (const RunObserver::Collective& measured : observer.collectives()) {
    const Communicator& group = workload.communicators[measured.communicator];
    CollectiveResult result;
    result.operation = operation_name(measured.op);
    const std::uint32_t algorithm = wafer.algorithm_of(measured.npu, measured.command);
    result.algorithm = algorithm_name(algorithm);
    result.communicator = group.name;
    result.kind = traffic_name(group.kind);
    result.ranks = static_cast<std::uint32_t>(group.members.size());
    result.count = measured.count;
    result.bytes = measured.op == WVP_OP_BARRIER ? 0 : measured.bytes;
    result.time_ps = measured.sum / measured.count;
    result.min_ps = measured.min;
    result.max_ps = measured.max;
    if (result.time_ps > 0 && result.bytes > 0) {
      result.algorithm_bytes_per_s = static_cast<double>(result.bytes) * static_cast<double>(kPsPerSecond) /
                                     static_cast<double>(result.time_ps);
      result.bus_bytes_per_s = result.algorithm_bytes_per_s * bus_factor(measured.op, result.ranks);
    }
    wvp_command command = workload.programs[measured.npu.value].commands[measured.command];
    command.bytes = measured.bytes;
    const std::uint64_t on_wire = compression.wire_bytes(command, group);
    if (measured.op != WVP_OP_BARRIER && on_wire > 0) {
      // On trees the members' shares of the work are not even.
      const Sharing sharing = algorithm == WVP_ALG_TREE ? Sharing::kAny : Sharing::kEven;
      result.bound_ps = lower_bound(topology, operation_of(measured.op), group.members, on_wire, sharing);
    }
    results.collectives.push_back(result);
  }
}

void collect_links(const Wafer& wafer, const Topology& topology, Results& results) {
  results.links.reserve(wafer.links().size());
  for (std::size_t k = 0; k < wafer.links().size(); ++k) {
    const LinkStatistics statistics = wafer.link_statistics(LinkId(static_cast<std::uint32_t>(k)));
    const LinkSpec& spec = topology.links[k];
    LinkResult result;
    result.name = spec.name;
    result.from = topology.nodes[spec.from.value].name;
    result.to = topology.nodes[spec.to.value].name;
    result.bytes = statistics.bytes;
    result.bytes_per_s = spec.bytes_per_s;
    // A run that was stopped had put more on the link than had passed.
    result.busy_ps = std::min(statistics.busy_ps, results.time_ps);
    result.stalled_ps = statistics.stalled_ps;
    result.errors = statistics.errors;
    result.resent_packets = statistics.resent_packets;
    result.resent_bytes = statistics.resent_bytes;
    result.ack_bytes = statistics.ack_bytes;
    result.wire_bytes = statistics.bytes + statistics.resent_bytes + statistics.control_bytes +
                        (statistics.packets + statistics.resent_packets) * wafer.links()[k]->header_bytes();
    if (results.time_ps > 0) {
      result.utilisation = static_cast<double>(result.busy_ps) / static_cast<double>(results.time_ps);
    }
    results.payload_bytes += statistics.bytes;
    results.links.push_back(std::move(result));
  }
}

/// Adds what the unit of an end did to `all`, and returns it.
CompressionResult collect_compression(const Wafer& wafer, NpuId end, CompressionStatistics& all) {
  CompressionResult result;
  const CompressionUnit* unit = wafer.compression_unit(end);
  if (unit == nullptr) return result;
  const CompressionStatistics& statistics = unit->statistics();
  const auto add = [](CompressionStatistics::Engine& to, const CompressionStatistics::Engine& from) {
    to.messages += from.messages;
    to.dense_bytes += from.dense_bytes;
    to.wire_bytes += from.wire_bytes;
    to.busy_ps += from.busy_ps;
  };
  add(all.egress, statistics.egress);
  add(all.ingress, statistics.ingress);
  all.values_squared += statistics.values_squared;
  all.errors_squared += statistics.errors_squared;
  return compression_result(statistics);
}

/// Of all units, each class of the policy that has a codec.
void collect_classes(const Wafer& wafer, const CompressionPlan& plan, bool has_values, std::size_t ends,
                     Results& results) {
  using compression::TrafficClass;
  const auto traffic = [](const CompressionPlan::Class& of) {
    if (of.stream) return TrafficClass::kStreaming;
    return of.number == WVP_CLASS_MP   ? TrafficClass::kModelParallel
           : of.number == WVP_CLASS_PP ? TrafficClass::kPipeline
                                       : TrafficClass::kDataParallel;
  };
  for (const CompressionPlan::Class& each : plan.classes()) {
    CompressionClassResult result;
    result.name = each.name;
    result.codec = to_word(each.codec);
    double squares = 0, errors = 0;
    for (std::uint32_t n = 0; n < ends; ++n) {
      const CompressionUnit* unit = wafer.compression_unit(NpuId(n));
      if (unit == nullptr) continue;
      const CompressionClassStatistics& statistics = unit->statistics(traffic(each));
      result.messages += statistics.messages;
      result.dense_bytes += statistics.dense_bytes;
      result.wire_bytes += statistics.wire_bytes;
      squares += statistics.values_squared;
      errors += statistics.errors_squared;
    }
    if (has_values) result.relative_error = squares > 0 ? std::sqrt(errors / squares) : 0;
    results.compression_classes.push_back(std::move(result));
  }
}

void collect_npus(Wafer& wafer, const Topology& topology, const Workload& workload,
                  const RunObserver& observer, CompressionStatistics& compression, Results& results) {
  // The breakdown is that of the rank that ends last, the lowest number among equals.
  Time last = 0;
  for (std::uint32_t n = 0; n < topology.npus; ++n) last = std::max(last, observer.end_of(NpuId(n)));
  results.npus.reserve(topology.npus);
  bool found = false;
  for (std::uint32_t n = 0; n < topology.npus; ++n) {
    const NpuId npu(n);
    const AcceleratorStatistics& statistics = wafer.accelerator(npu).statistics();
    NpuResult result;
    result.npu = n;
    result.has_program = workload.programs[n].commands.size() > 1;
    result.finished = observer.finished(npu);
    result.end_ps = observer.end_of(npu);
    result.breakdown = observer.breakdown(npu, results.time_ps);
    result.memory_peak_bytes = workload.memory[n].total() + statistics.staged_bytes_peak;
    result.sent_bytes = statistics.sent_bytes;
    result.received_bytes = statistics.received_bytes;
    result.compression = collect_compression(wafer, npu, compression);
    if (!found && result.finished && result.end_ps == last) {
      results.breakdown = result.breakdown;
      found = true;
    }
    results.npus.push_back(result);
  }
}

void collect_io(Wafer& wafer, const Topology& topology, const RunObserver& observer,
                CompressionStatistics& compression, Results& results) {
  for (std::uint32_t k = 0; k < topology.io.size(); ++k) {
    const NpuId end(topology.npus + k);
    const AcceleratorStatistics& statistics = wafer.accelerator(end).statistics();
    IoResult result;
    result.io = k;
    result.at = topology.nodes[topology.io[k].at.value].name;
    result.end_ps = observer.end_of(end);
    result.loaded_bytes = statistics.sent_bytes;
    result.stored_bytes = statistics.received_bytes;
    result.compression = collect_compression(wafer, end, compression);
    results.io_controllers.push_back(result);
  }
}

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
  const CompressionPlan plan(scenario);
  collect_collectives(wafer, plan, topology, workload, observer, results);
  collect_links(wafer, topology, results);
  CompressionStatistics compression;
  collect_npus(wafer, topology, workload, observer, compression, results);
  collect_io(wafer, topology, observer, compression, results);
  if (wafer.compression_unit(NpuId(0)) != nullptr) {
    results.compression = compression_result(compression);
    collect_classes(wafer, plan, scenario.detail.data == DataMode::kValues, workload.programs.size(),
                    results);
  }
  if (const auto ports = wafer.port_compression()) results.compression = compression_result(*ports);
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
