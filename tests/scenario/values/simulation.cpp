// SPDX-License-Identifier: Apache-2.0
#include "simulation.h"

#include <cstring>
#include <map>
#include <random>
#include <stdexcept>
#include <utility>

#include "in_child.h"
#include "reference.h"
#include "scenario/reader.h"
#include "switch_sum.h"
#include "topology/placement.h"
#include "wafer/wafer.h"

namespace wafervp::test {
namespace {

Scenario scenario_of(const Wanted& wanted, const char* data) {
  const std::uint64_t element = wanted.type == "fp16" || wanted.type == "bf16" ? 2 : 4;
  nlohmann::json collective = {
      {"operation", wanted.operation}, {"algorithm", wanted.algorithm}, {"bytes", wanted.elements * element},
      {"type", wanted.type},           {"chunks", wanted.chunks},       {"root", wanted.root}};
  if (!wanted.ranks.empty()) collective["ranks"] = wanted.ranks;
  const nlohmann::json json = {{"version", 1},
                               {"name", "values"},
                               {"wafer", wanted.wafer},
                               {"workload", {{"kind", "collective"}, {"collective", collective}}},
                               {"detail", {{"data", data}, {"fred_switch", wanted.fred_switch}}}};
  return read_scenario(parse_document(json.dump(), "values"));
}

/// At least `bytes` bytes of the seeded values of the group's member `index`. Making them takes longer than
/// most runs, so that they are kept.
const Buffer& member_values(std::uint32_t dtype, std::size_t index, std::uint64_t bytes) {
  static std::map<std::pair<std::uint32_t, std::size_t>, Buffer> kept;
  Buffer& values = kept[{dtype, index}];
  if (values.size() < bytes) {
    std::mt19937_64 random(20240611 + 1000 * dtype + index);
    values = random_values(dtype, bytes, random);
  }
  return values;
}

/// Makes the values of a collective here, for the children that follow.
void prepare_values(const Wanted& wanted) {
  std::uint32_t dtype = WVP_INT32;
  for (const auto& [name, type] : {std::pair{"fp32", WVP_FP32}, {"fp16", WVP_FP16}, {"bf16", WVP_BF16}}) {
    if (wanted.type == name) dtype = type;
  }
  const std::size_t ranks =
      wanted.ranks.empty() ? wanted.wafer["npus"].get<std::size_t>() : wanted.ranks.size();
  for (std::size_t i = 0; i < ranks; ++i) {
    member_values(dtype, i, wanted.elements * wvp_dtype_bytes(dtype));
  }
}

/// The operation of an NPU's program; null for an NPU that takes no part.
const wvp_command* operation_of(const Workload& workload, std::uint32_t npu) {
  for (const wvp_command& command : workload.programs[npu].commands) {
    if (command.kind == WVP_CMD_START) return &command;
  }
  return nullptr;
}

/// When and how each NPU's program ended.
class ExitObserver final : public AcceleratorObserver {
 public:
  explicit ExitObserver(std::uint32_t npus) : end(npus, kNever), status(npus, ~0u) {}
  void on_phase(NpuId, std::uint32_t, std::uint32_t, Time) override {}
  void on_exit(NpuId npu, std::uint32_t how, Time when) override {
    end[npu.value] = when;
    status[npu.value] = how;
  }
  void on_compute(NpuId, Time, Time) override {}

  std::vector<Time> end;
  std::vector<std::uint32_t> status;
};

/// A run's wafer, with seeded values where the operation reads them.
class Bench {
 public:
  Bench(const Wanted& wanted, const char* data)
      : scenario_(scenario_of(wanted, data)),
        topology_(build_topology(scenario_.wafer)),
        workload_(
            build_workload(scenario_, topology_,
                           place(topology_, scenario_.workload.parallelism, scenario_.workload.placement))),
        wafer_(scenario_, topology_, workload_),
        observer_(topology_.npus) {
    wafer_.set_observer(observer_);
    if (workload_.communicators.empty()) throw std::runtime_error("no communicator");
    const Communicator& group = workload_.communicators.front();
    for (NpuId member : group.members) members_.push_back(member.value);
    if (scenario_.detail.data == DataMode::kValues) fill();
  }

  std::vector<Time> run() {
    sc_core::sc_start();
    wafer_.calendar().rethrow_failure();
    for (const std::uint32_t status : observer_.status) {
      if (status != WVP_EXIT_OK) throw std::runtime_error("a rank did not end well");
    }
    return observer_.end;
  }

  /// Empty when each member holds what it has to.
  std::string compare() {
    const wvp_command* first = operation_of(workload_, members_.front());
    if (first == nullptr || first->op == WVP_OP_BARRIER) return "";
    if (scenario_.workload.collective.operation == Operation::kSend) return compare_send();
    Collective collective;
    collective.op = first->op;
    // Where the firmware chooses, only sums of integers are compared: their order does not matter.
    collective.algorithm =
        first->algorithm == WVP_ALG_AUTO ? static_cast<std::uint8_t>(WVP_ALG_RING) : first->algorithm;
    collective.dtype = first->dtype;
    collective.bytes = first->bytes;
    collective.members = members_;
    collective.chunks = first->chunks;
    collective.root = first->root;
    const Communicator& group = workload_.communicators.front();
    collective.dim_x = group.dim_x;
    collective.dim_y = group.dim_y;
    collective.x_first_share = group.x_first_share;
    if (!group.trees.parents.empty()) add_trees(collective, group.trees.parents);
    std::vector<Buffer> expected = expected_result(collective, before_);
    if (first->algorithm == WVP_ALG_IN_SWITCH) sum_in_switches(collective, expected);
    const auto shares = byte_shares(collective);
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const wvp_command* command = operation_of(workload_, members_[i]);
      const bool scattered = command->op == WVP_OP_REDUCE_SCATTER && members_.size() > 1;
      const std::uint64_t begin = scattered ? shares[i].begin : 0;
      const std::uint64_t count = scattered ? shares[i].count : expected[i].size();
      const std::string wrong =
          first_difference(members_[i], command->dst + begin, expected[i].data() + begin, count);
      if (!wrong.empty()) return wrong;
    }
    return "";
  }

 private:
  void fill() {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const std::uint32_t npu = members_[i];
      const wvp_command* command = operation_of(workload_, npu);
      if (command == nullptr) {
        before_.emplace_back();
        continue;
      }
      const Buffer& values = member_values(command->dtype, i, command->bytes);
      before_.emplace_back(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(command->bytes));
      if (command->op == WVP_OP_BARRIER || command->bytes == 0) continue;
      const bool from_source = command->op == WVP_OP_ALL_TO_ALL || command->op == WVP_OP_SEND;
      std::memcpy(memory(npu) + (from_source ? command->src : command->dst), before_.back().data(),
                  command->bytes);
    }
  }

  std::byte* memory(std::uint32_t npu) { return wafer_.accelerator(NpuId(npu)).memory(); }

  void sum_in_switches(const Collective& collective, std::vector<Buffer>& expected) {
    if (members_.size() < 2) return;
    if (collective.op != WVP_OP_ALL_REDUCE && collective.op != WVP_OP_REDUCE_SCATTER) return;
    const Buffer sum = switch_sum(collective.dtype, members_, topology_.columns, before_);
    for (Buffer& buffer : expected) buffer = sum;
  }

  std::string compare_send() {
    const std::uint32_t root = scenario_.workload.collective.root;
    const std::uint32_t receiver = members_.at(root + 1);
    const wvp_command* command = operation_of(workload_, receiver);
    return first_difference(receiver, command->dst, before_[root].data(), command->bytes);
  }

  std::string first_difference(std::uint32_t npu, std::uint64_t address, const std::uint8_t* expected,
                               std::uint64_t count) {
    if (count == 0) return "";
    const auto* found = reinterpret_cast<const std::uint8_t*>(memory(npu) + address);
    if (std::memcmp(found, expected, count) == 0) return "";
    std::uint64_t at = 0;
    while (found[at] == expected[at]) ++at;
    return "NPU " + std::to_string(npu) + ", byte " + std::to_string(at) + " of " + std::to_string(count) +
           ": found " + std::to_string(found[at]) + ", expected " + std::to_string(expected[at]);
  }

  Scenario scenario_;
  Topology topology_;
  Workload workload_;
  Wafer wafer_;
  ExitObserver observer_;
  std::vector<std::uint32_t> members_;
  std::vector<Buffer> before_;
};

std::string text_of(const std::vector<Time>& times) {
  std::string text;
  for (const Time time : times) text += std::to_string(time) + " ";
  return text;
}

}  // namespace

std::string describe(const Wanted& wanted) {
  return wanted.operation + ' ' + wanted.algorithm + " of " + std::to_string(wanted.elements) + ' ' +
         wanted.type + ", " + std::to_string(wanted.chunks) + " chunks, ranks " +
         nlohmann::json(wanted.ranks).dump() + ", " + wanted.wafer.dump();
}

std::string difference(const Wanted& wanted) {
  prepare_values(wanted);
  const std::string with_values = in_child([&] {
    Bench bench(wanted, "values");
    const std::string ends = text_of(bench.run());
    const std::string wrong = bench.compare();
    return wrong.empty() ? ends : "values: " + wrong;
  });
  const std::string sizes_only = in_child([&] { return text_of(Bench(wanted, "none").run()); });
  if (with_values.find(':') == std::string::npos && with_values == sizes_only) return "";
  return describe(wanted) + "\n  with values: " + with_values + "\n  sizes only:  " + sizes_only;
}

}  // namespace wafervp::test
