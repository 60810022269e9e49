// SPDX-License-Identifier: Apache-2.0
#include "run/collect.h"

#include <algorithm>
#include <cmath>

#include "scenario/words.h"
#include "topology/bounds.h"
#include "topology/picoseconds.h"

namespace wafervp {

namespace {

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

}  // namespace

void collect_statistics(Wafer& wafer, const Scenario& scenario, const Topology& topology,
                        const Workload& workload, const RunObserver& observer, Results& results) {
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
}

}  // namespace wafervp
