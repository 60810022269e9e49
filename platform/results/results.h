// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/ids.h"
#include "core/time.h"
#include "scenario/scenario.h"
#include "workload/programs.h"

namespace wafervp {

/// Breakdown of one NPU's time. A rank's time is `compute` while its compute engine is busy; while it
/// is not and the rank's program is blocked on an operation, the time is exposed communication of that
/// operation's kind; what is left (after the rank's end) is `idle`. The parts sum to the step's time.
/// The wafer's breakdown is that of the rank that ends last (the lowest number among equals).
struct Breakdown {
  Time compute = 0, input_load = 0, mp = 0, dp = 0, pp = 0, weight_streaming = 0, idle = 0;
};
struct LinkResult {
  std::string name, from, to;
  std::uint64_t bytes = 0, bytes_per_s = 0;
  Time busy_ps = 0, stalled_ps = 0;  // stalled: a packet is ready and lacks credit, the link is free
  double utilisation = 0;            // busy / step time
  // With Go-Back-N.
  std::uint64_t errors = 0;                            // packets in error
  std::uint64_t resent_packets = 0, resent_bytes = 0;  // sent, and sent again; not in `bytes`
  std::uint64_t ack_bytes = 0;                         // on the way back
  std::uint64_t wire_bytes = 0;  // bytes, resent_bytes and control packets, with headers
};
/// What the compression unit of an NPU or I/O controller did, or all of them together.
struct CompressionResult {
  bool present = false;
  // On their way out, and in: messages, bytes of values and of payload, and the engine's time.
  std::uint64_t sent_messages = 0, sent_dense_bytes = 0, sent_wire_bytes = 0;
  Time sent_busy_ps = 0;
  std::uint64_t received_messages = 0, received_dense_bytes = 0, received_wire_bytes = 0;
  Time received_busy_ps = 0;
  /// Of the values that were sent: root of the squares of the errors over that of the squares; 0 without
  /// values.
  double relative_error = 0;
};
/// The same of one traffic class that has a codec, as it was sent.
struct CompressionClassResult {
  std::string name, codec;  // "dp", "int8"
  std::uint64_t messages = 0, dense_bytes = 0, wire_bytes = 0;
  std::optional<double> relative_error;  // with values
  double ratio() const {
    return wire_bytes == 0 ? 0 : static_cast<double>(dense_bytes) / static_cast<double>(wire_bytes);
  }
};
struct NpuResult {
  std::uint32_t npu = 0;
  bool has_program = false, finished = false;
  Time end_ps = 0;
  Breakdown breakdown;
  std::uint64_t memory_peak_bytes = 0, sent_bytes = 0, received_bytes = 0;
  CompressionResult compression;
};
struct IoResult {
  std::uint32_t io = 0;
  std::string at;  // the NPU or L1 switch that it hangs on
  Time end_ps = 0;
  std::uint64_t loaded_bytes = 0, stored_bytes = 0;  // weights and requests on their way in; gradients out
  CompressionResult compression;
};
/// All instances of one kind of collective on one communicator, with equal size.
struct CollectiveResult {
  std::string operation, algorithm, communicator, kind;
  std::uint32_t ranks = 0, count = 0;
  std::uint64_t bytes = 0;  // of one instance, as wvp_command.bytes
  Time time_ps = 0;         // mean over the instances: last end - first entry
  Time min_ps = 0, max_ps = 0;
  double algorithm_bytes_per_s = 0;  // bytes / time, as nccl-tests defines it
  double bus_bytes_per_s = 0;        // algorithm bandwidth times the factor of the operation
  Time bound_ps = 0;                 // topology/bounds.h
};
/// Of kind training.
struct TrainingPoint {
  std::uint32_t step = 0;  // from 1
  Time time_ps = 0;        // when the loss was known on the last stage of all replicas
  double loss = 0;         // mean over the step's tokens, in nats, before its update
};
/// What became of the tensors between two stages on their way.
struct ReconstructionError {
  double most = 0;          // largest |received - sent|
  double most_value = 0;    // largest |sent|
  std::uint64_t count = 0;  // tensors
};
/// Of the gradients that replicas have after they were added, all steps, stages and replicas together.
struct GradientSumError {
  std::uint64_t count = 0;      // sums; 0 without replicas
  double relative = 0;          // |sum - exact sum| / |exact sum|, roots of sums of squares
  double between_replicas = 0;  // likewise of the difference to the replica that was first
  double of_all_steps = 0;      // likewise of the sums of all steps, added up: what feedback makes up for
};
struct TrainingResult {
  std::uint32_t steps = 0;   // that were asked for
  double entropy_floor = 0;  // nats a token that no model can go below; 0: not known
  std::vector<TrainingPoint> curve;
  ReconstructionError forward, backward;
  GradientSumError gradient_sum;

  static constexpr std::size_t kFinalSteps = 100;
  /// Mean loss of the last kFinalSteps steps, or of all where there are fewer; the curve has one or more.
  double final_loss() const;
};
struct TraceSlice {
  std::uint32_t npu;
  std::string name, category;
  Time begin, end;
};
struct Results {
  std::string status = "ok";  // ok, check_failed, deadlock, time_limit, interrupted, error
  std::string message;        // empty when ok
  Time time_ps = 0;
  Breakdown breakdown;
  std::vector<CollectiveResult> collectives;
  std::vector<LinkResult> links;
  std::vector<NpuResult> npus;
  std::vector<IoResult> io_controllers;
  CompressionResult compression;  // of all units
  std::vector<CompressionClassResult> compression_classes;
  std::optional<TrainingResult> training;
  std::vector<TraceSlice> trace;
  std::vector<std::string> warnings;
  std::uint64_t payload_bytes = 0;  // sum over links
  std::uint64_t events = 0;
};

}  // namespace wafervp
