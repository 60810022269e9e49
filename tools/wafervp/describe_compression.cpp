// SPDX-License-Identifier: Apache-2.0
#include "describe_compression.h"

#include <fmt/format.h>

#include <algorithm>

#include "format.h"
#include "scenario/words.h"
#include "table.h"
#include "wafer/compression_plan.h"

namespace wafervp::cli {
namespace {

using compression::Cost;
using compression::Direction;

/// Bytes of the largest operation whose messages are of the class; 0 where there are none.
std::uint64_t largest_operation(const CompressionPlan::Class& of, const Workload& workload,
                                Direction direction) {
  std::uint64_t largest = 0;
  for (const RankProgram& program : workload.programs) {
    for (const wvp_command& command : program.commands) {
      if (command.kind != WVP_CMD_START || command.traffic_class != of.number) continue;
      const bool alone = command.op == WVP_OP_SEND || command.op == WVP_OP_RECEIVE;
      const wvp_tensor tensor = alone ? WVP_TENSOR_NONE : workload.communicators[command.comm].tensor;
      if ((tensor == WVP_TENSOR_STREAM) != of.stream || (of.stream && command.op != WVP_OP_LOAD)) continue;
      if ((tensor == WVP_TENSOR_FORWARD) != (direction == Direction::kForward)) continue;
      largest = std::max(largest, command.bytes);
    }
  }
  return largest;
}

std::string times_text(const CompressionTiming& timing, const Cost& cost, Element element) {
  return fmt::format("{}, then every {}", format_time(timing.alone(cost, element)),
                     format_time(timing.busy(cost)));
}

std::string rates_text(const CompressionRates& rates) {
  const auto rate = [](std::uint64_t bytes_per_s) {
    return bytes_per_s == 0 ? std::string("no limit") : format_rate(static_cast<double>(bytes_per_s));
  };
  return fmt::format(
      "  values {}, payload {}, {}, setup {}\n", rate(rates.dense_bytes_per_s), rate(rates.wire_bytes_per_s),
      rates.macs_per_s == 0 ? std::string("arithmetic without limit")
                            : fmt::format("{:.4g} MAC/s", static_cast<double>(rates.macs_per_s)),
      format_time(rates.setup_ps));
}

}  // namespace

std::string describe_compression(const Scenario& scenario, const Topology& topology,
                                 const Workload& workload) {
  const CompressionPlan plan(scenario);
  if (plan.classes().empty()) return "";
  plan.check(topology, workload);
  const CompressionTiming timing(plan.rates());
  Table table(
      {"class", "codec", "way", "message", "payload", "ratio", "compress", "limit", "decompress", "limit"});
  for (const std::size_t column : {1, 2, 6, 7, 8, 9}) table.left(column);
  for (const CompressionPlan::Class& each : plan.classes()) {
    const CompressionUse use = plan.use(each);
    for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
      const std::uint64_t largest = largest_operation(each, workload, direction);
      const std::uint64_t bytes = plan.at_ports() ? std::min<std::uint64_t>(largest, kPacketBytes) : largest;
      if (bytes == 0) continue;
      const compression::Shape shape = shape_of(use, bytes);
      const Cost in = use.codec->compress_cost(shape, direction),
                 out = use.codec->decompress_cost(shape, direction);
      table.add({each.name, to_word(each.codec), direction == Direction::kForward ? "forward" : "back or any",
                 format_bytes(static_cast<double>(bytes)), format_bytes(static_cast<double>(in.wire_bytes)),
                 fmt::format("{:.4g}", static_cast<double>(bytes) / static_cast<double>(in.wire_bytes)),
                 times_text(timing, in, use.element), timing.limit(in), times_text(timing, out, use.element),
                 timing.limit(out)});
    }
  }
  return fmt::format("\ncompression at {}, {} values; a {}\n",
                     plan.at_ports() ? "ports of FRED switches"
                     : plan.at_io()  ? "NPUs and I/O controllers"
                                     : "NPUs",
                     element_name(plan.element()),
                     plan.at_ports() ? "packet" : "message as large as the largest operation") +
         rates_text(timing.rates()) + table.text("  ");
}

}  // namespace wafervp::cli
