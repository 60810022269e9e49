// SPDX-License-Identifier: Apache-2.0
#include "wafer/compression_plan.h"

#include <algorithm>

#include "compression/codec_config.h"
#include "scenario/words.h"
#include "topology/picoseconds.h"
#include "wafer/comm_table.h"
#include "wafer/port_units.h"
#include "wafer/tree_flows.h"
#include "wafervp/hal.h"
#include "workload/errors.h"
#include "workload/training_kernels.h"

namespace wafervp {

namespace {

using namespace compression;

Element element_named(ElementType type) {
  switch (type) {
    case ElementType::kFp32:
      return Element::kFp32;
    case ElementType::kFp16:
      return Element::kFp16;
    case ElementType::kBf16:
      return Element::kBf16;
    case ElementType::kInt32:
      return Element::kInt32;
    case ElementType::kFp64:
      break;
  }
  return Element::kFp64;
}

Element element_named(MessageValues values, const WorkloadSpec& workload) {
  switch (values) {
    case MessageValues::kFp64:
      return Element::kFp64;
    case MessageValues::kFp32:
      return Element::kFp32;
    case MessageValues::kBf16:
      return Element::kBf16;
    case MessageValues::kFp16:
      return Element::kFp16;
    case MessageValues::kWorkload:
      break;
  }
  if (workload.kind == WorkloadKind::kTraining) return element_named(workload.training.type);
  return workload.has_collective ? element_named(workload.collective.type) : Element::kFp16;
}

Element element_named(NarrowType type) {
  return type == NarrowType::kFp32   ? Element::kFp32
         : type == NarrowType::kBf16 ? Element::kBf16
                                     : Element::kFp16;
}

std::optional<Element> element_named(WireType type) {
  switch (type) {
    case WireType::kFp64:
      return Element::kFp64;
    case WireType::kFp32:
      return Element::kFp32;
    case WireType::kBf16:
      return Element::kBf16;
    case WireType::kFp16:
      return Element::kFp16;
    case WireType::kValues:
      break;
  }
  return std::nullopt;
}

/// The parameters of the scenario that the codec has.
struct Fill {
  const CodecSpec& spec;
  std::uint64_t width;

  void operator()(BypassConfig&) const {}
  void operator()(CastConfig& config) const { config.to = element_named(spec.cast_to); }
  void operator()(IntBlockConfig& config) const {
    config.block = static_cast<std::uint32_t>(spec.block);
    config.scale = element_named(spec.scale);
  }
  void operator()(TopKConfig& config) const {
    config.k = spec.k;
    config.fraction = spec.fraction;
  }
  void operator()(ThresholdConfig& config) const {
    config.density = spec.density;
    config.assumed_ratio = spec.assumed_ratio;
  }
  void operator()(LowRankConfig& config) const { config.rank = spec.rank; }
  void operator()(SubspaceConfig& config) const {
    config.dimension = width;
    config.k = spec.k;
    config.id_bytes = static_cast<unsigned>(spec.id_bytes);
    config.coefficients = element_named(spec.coefficients);
  }
  void operator()(LosslessConfig& config) const {
    if (spec.assumed_ratio != 0) config.assumed_ratio = spec.assumed_ratio;
  }
  void operator()(ZfpConfig& config) const { config.bits_per_value = spec.bits_per_value; }
};

const char* operation_word(unsigned op) {
  switch (op) {
#define WAFERVP_WORD(upper, value, word) \
  case value:                            \
    return word;
    WVP_OPERATIONS(WAFERVP_WORD)
#undef WAFERVP_WORD
  }
  return "an operation";
}

}  // namespace

std::string pointer_of(const CompressionPlan::Class& of) {
  return std::string("/wafer/compression/policy/") + of.name;
}

CompressionPlan::CompressionPlan(const Scenario& scenario)
    : scenario_(scenario),
      element_(element_named(scenario.wafer.compression.codec.values, scenario.workload)) {
  if (placement() == CompressionPlacement::kOff) return;
  const CompressionPolicySpec& policy = scenario.wafer.compression.policy;
  for (const Class& each :
       {Class{"mp", WVP_CLASS_MP, policy.mp, false}, Class{"pp", WVP_CLASS_PP, policy.pp, false},
        Class{"dp", WVP_CLASS_DP, policy.dp, false},
        Class{"streaming", WVP_CLASS_DP, policy.streaming, true}}) {
    if (each.codec == CodecName::kNone) continue;
    classes_.push_back(each);
    shared_.push_back(make(each));
    // What a codec has against the type, or the width, it says now.
    const std::uint64_t width = std::max<std::uint64_t>(row_width(scenario), 1);
    try {
      for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
        static_cast<void>(shared_.back()->compress_cost({1, width, element_}, direction));
      }
    } catch (const CodecError& error) {
      refuse(pointer_of(each), error.what());
    }
  }
}

std::shared_ptr<Codec> CompressionPlan::make(const Class& of) const {
  try {
    CodecConfig config = default_config(to_word(of.codec));
    std::visit(Fill{scenario_.wafer.compression.codec, row_width(scenario_)}, config);
    if (auto* subspace = std::get_if<SubspaceConfig>(&config); subspace != nullptr) {
      // The model's own U and fixed tables, where there is one.
      if (scenario_.workload.kind == WorkloadKind::kTraining) {
        subspace->subspace = make_subspace(scenario_);
        if (subspace->id_bytes != 0) subspace->tables = make_tables(scenario_);
      }
    }
    return make_codec(config);
  } catch (const CodecError& error) {
    refuse(pointer_of(of), error.what());
  }
}

CompressionUse CompressionPlan::use(const Class& of) const {
  CompressionUse use;
  const auto at = static_cast<std::size_t>(&of - classes_.data());
  use.codec = scenario_.detail.data == DataMode::kValues ? make(of) : shared_[at];
  const bool in_rows = of.codec == CodecName::kSubspace || of.codec == CodecName::kLowRank ||
                       of.codec == CodecName::kZfp || of.codec == CodecName::kTopK;
  use.width = in_rows && !at_ports() ? row_width(scenario_) : 0;
  use.whole_rows = of.codec == CodecName::kSubspace;
  if (use.whole_rows) use.k = scenario_.wafer.compression.codec.k;
  use.element = element_;
  return use;
}

CompressionRates CompressionPlan::rates() const {
  const CompressionUnitSpec& spec = scenario_.wafer.compression.unit;
  const NpuSpec& npu = scenario_.wafer.npu;
  CompressionRates rates;
  if (spec.preset == CompressionPreset::kKernel) {
    rates = CompressionRates::kernel(npu.hbm_bytes_per_s, npu.peak_flops_per_s * npu.compute_efficiency);
  } else {
    std::uint64_t columns = 1;  // that an element meets
    for (const Class& each : classes_) {
      if (each.codec == CodecName::kSubspace)
        columns = std::max(columns, scenario_.wafer.compression.codec.k);
      if (each.codec == CodecName::kLowRank)
        columns = std::max(columns, scenario_.wafer.compression.codec.rank);
    }
    rates = CompressionRates::unit(columns);
  }
  if (spec.clock_hz != 0) rates.clock_hz = spec.clock_hz;
  if (spec.dense_bytes_per_s != 0) rates.dense_bytes_per_s = spec.dense_bytes_per_s;
  if (spec.macs_per_s != 0) rates.macs_per_s = spec.macs_per_s;
  rates.wire_bytes_per_s = spec.wire_bytes_per_s;
  if (spec.setup_ns >= 0) rates.setup_ps = ps_of_ns(spec.setup_ns);
  rates.fill_cycles = spec.fill_cycles;
  if (spec.forwarding != UnitForwarding::kPreset) {
    rates.forwards_packets = spec.forwarding == UnitForwarding::kPackets;
  }
  return rates;
}

CompressionUnitConfig CompressionPlan::unit(NpuId end, bool is_io, const std::string& owner) const {
  CompressionUnitConfig config;
  config.owner = owner;
  config.npu = end;
  config.rates = rates();
  config.values = scenario_.detail.data == DataMode::kValues;
  for (const Class& each : classes_) {
    CompressionUse shared = use(each);
    auto& uses = config.uses[each.number];
    if (each.stream) {
      shared.compresses = is_io;
      uses[WVP_TENSOR_STREAM] = std::move(shared);
      continue;
    }
    for (const auto tensor : {WVP_TENSOR_NONE, WVP_TENSOR_FORWARD, WVP_TENSOR_BACKWARD})
      uses[tensor] = shared;
  }
  return config;
}

const CompressionPlan::Class* CompressionPlan::class_of(const wvp_command& command,
                                                        const Communicator* group) const {
  const bool stream = group != nullptr && group->tensor == WVP_TENSOR_STREAM;
  // What is stored goes from NPUs as it is, but through ports as all else.
  if (stream && command.op != WVP_OP_LOAD && !at_ports()) return nullptr;
  for (const Class& each : classes_) {
    if (each.number == command.traffic_class && each.stream == stream) return &each;
  }
  return nullptr;
}

std::uint64_t CompressionPlan::wire_bytes(const wvp_command& command, const Communicator& group) const {
  const Class* found = class_of(command, &group);
  if (found == nullptr || command.bytes == 0) return command.bytes;
  const CompressionUse through = use(*found);
  if (at_ports()) {
    // Each packet by itself; on links without units there may be more.
    const std::uint64_t packet =
        through.codec->wire_bytes(shape_of(through, kPacketBytes), Direction::kBackward);
    return std::max<std::uint64_t>(std::min(command.bytes, command.bytes / kPacketBytes * packet), 1);
  }
  if (scenario_.detail.data == DataMode::kValues && through.codec->ratio_depends_on_data()) return 0;
  compression::Shape shape = shape_of(through, command.bytes);
  // A last row that is filled up may be a part of its own, which is not.
  if (shape.rows * shape.width * element_bytes(element_) > command.bytes && shape.rows > 1) --shape.rows;
  return through.codec->least_bytes(
      shape, group.tensor == WVP_TENSOR_FORWARD ? Direction::kForward : Direction::kBackward);
}

void CompressionPlan::check(const Topology& topology, const Workload& workload) const {
  if (classes_.empty()) return;
  if (at_ports()) return PortUnits(scenario_, topology, *this).check(*this, workload);
  const TreeFlows trees(topology, workload.communicators);
  const CommTable comms(workload.communicators, trees);
  const std::uint64_t row = row_width(scenario_) * element_bytes(element_);
  for (const RankProgram& program : workload.programs) {
    for (const wvp_command& command : program.commands) {
      if (command.kind != WVP_CMD_START || command.op == WVP_OP_BARRIER) continue;
      const bool alone = command.op == WVP_OP_SEND || command.op == WVP_OP_RECEIVE;
      const Communicator* group = alone ? nullptr : &workload.communicators[command.comm];
      const Class* found = class_of(command, group);
      if (found == nullptr) continue;
      if (found->codec == CodecName::kSubspace && command.bytes % row != 0) {
        refuse(pointer_of(*found),
               "subspace: it carries activations between stages (pp), whose rows lie in it; expected "
               "messages of "
               "whole rows of " +
                   std::to_string(row_width(scenario_)) + ' ' + element_name(element_) + " (" +
                   std::to_string(row) + " bytes), found " + operation_word(command.op) + " of " +
                   std::to_string(command.bytes) + " bytes");
      }
      if (command.op != WVP_OP_ALL_REDUCE && command.op != WVP_OP_REDUCE_SCATTER) continue;
      const wvp_comm comm = comms.comm(command.comm, 0);
      if (comm.size < 2 || wvp_algorithm_of(&command, &comm) != WVP_ALG_IN_SWITCH) continue;
      const auto at = static_cast<std::size_t>(found - classes_.data());
      const Summable summable = shared_[at]->summable(
          {1, std::max<std::uint64_t>(row_width(scenario_), 1), element_}, Direction::kBackward);
      const std::string where = "group " + group->name + " sums in the switches (in_switch)";
      if (!summable.yes) {
        refuse(pointer_of(*found), std::string("found ") + to_word(found->codec) + ", but " + where +
                                       ", and its messages cannot be added up there: " + summable.reason +
                                       "; set /wafer/firmware/" + operation_word(command.op) +
                                       " to ring, or another codec");
      }
    }
  }
}

}  // namespace wafervp
