// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "training/gradient_factors.h"
#include "workload/algorithms.h"
#include "workload/communicators.h"
#include "workload/errors.h"
#include "workload/gradient_sync.h"
#include "workload/hand_over.h"
#include "workload/models.h"
#include "workload/pipeline_schedule.h"
#include "workload/workload_kinds.h"

namespace wafervp {
namespace {

// Slots of a rank's operations in flight.
constexpr unsigned kModelSlot = 0;
constexpr unsigned kGradientSlot = 1;
constexpr HandOver::Slots kForwardSlots{2, 4}, kBackwardSlots{3, 8};
static_assert(kBackwardSlots.send + HandOver::kSendsInFlight <= WVP_SLOTS);

/// What the ranks have in common.
struct Plan {
  const Scenario& scenario;
  const Topology& topology;
  const TransformerSpec& model;
  std::uint64_t activation_bytes;  // b s h 2: of an all_reduce of MP and of a hand-over of PP
  double layer_flops;              // forward, of one layer and microbatch on one NPU
  CommunicatorSet communicators;
  // First index of each family; groups are in the order of placement.h.
  std::uint16_t model_groups = 0, data_groups = 0, forward_chains = 0, backward_chains = 0;

  std::vector<training::FactorLayout> factors{};  // by stage, with PowerSGD

  const ParallelismSpec& parallelism() const { return scenario.workload.parallelism; }
  /// Parameters of one NPU of the stage.
  std::uint64_t parameters(std::uint32_t stage) const {
    const ParallelismSpec& p = parallelism();
    const double share = model.parameters * layers_of_stage(model.layers, p.pp, stage) / model.layers / p.mp;
    return static_cast<std::uint64_t>(std::ceil(share));
  }
};

/// Matrices of a stage that one of its MP ranks has: columns of W_qkv and W_1, rows of W_o and W_2 (Shoeybi
/// et al. 2019). What else the model has, embeddings and vectors, goes as it is.
std::vector<training::MatrixSize> gradient_matrices(const Plan& plan, std::uint32_t stage) {
  const ParallelismSpec& p = plan.parallelism();
  const std::size_t h = plan.model.hidden;
  const auto share = [&](std::size_t whole) { return (whole + p.mp - 1) / p.mp; };
  std::vector<training::MatrixSize> matrices;
  std::uint64_t elements = 0;
  for (std::uint32_t i = 0; i < layers_of_stage(plan.model.layers, p.pp, stage); ++i) {
    for (const training::MatrixSize& matrix :
         {training::MatrixSize{h, share(3 * h)}, training::MatrixSize{share(h), h},
          training::MatrixSize{h, share(4 * h)}, training::MatrixSize{share(4 * h), h}}) {
      matrices.push_back(matrix);
      elements += matrix.rows * matrix.columns;
    }
  }
  const std::uint64_t all = plan.parameters(stage);
  if (all > elements) matrices.push_back({1, all - elements});
  return matrices;
}

void add_factors(Plan& plan) {
  const GradientSpec& spec = plan.scenario.workload.gradients;
  const ParallelismSpec& p = plan.parallelism();
  if (spec.sum != GradientSum::kPowerSgd || p.dp == 1) return;
  // 96 h^2 r FLOPs a layer: four products with each of 12 h^2 elements.
  const double h = plan.model.hidden;
  if (96 * h * h * plan.model.layers * spec.rank > 4.6e18) {
    refuse("/workload/gradients/rank",
           "found " + std::to_string(spec.rank) + ", with which factors take more FLOPs than 64 bits hold");
  }
  for (std::uint32_t stage = 0; stage < p.pp; ++stage) {
    plan.factors.emplace_back(gradient_matrices(plan, stage), spec.rank);
  }
}

std::string coordinates(const char* first, std::uint32_t a, const char* second, std::uint32_t b) {
  return std::string("[") + first + "=" + std::to_string(a) + "," + second + "=" + std::to_string(b) + "]";
}

void add_communicators(Plan& plan, const Placement& placement) {
  const ParallelismSpec& p = plan.parallelism();
  std::vector<GroupName> model, data, forward, backward;
  const auto model_members = groups(p, placement, GroupKind::kMp);
  for (std::uint32_t i = 0; i < model_members.size() && p.mp > 1; ++i) {
    model.push_back({"mp" + coordinates("dp", i / p.pp, "pp", i % p.pp), model_members[i]});
  }
  const auto data_members = groups(p, placement, GroupKind::kDp);
  for (std::uint32_t i = 0; i < data_members.size() && p.dp > 1; ++i) {
    data.push_back({"dp" + coordinates("pp", i / p.mp, "mp", i % p.mp), data_members[i]});
  }
  for (const StageTransfer& t : stage_transfers(p, placement)) {
    GroupName name{"pp[dp=" + std::to_string(t.dp) + ",stage=" + std::to_string(t.from_stage) + "->" +
                       std::to_string(t.to_stage) + "]",
                   t.chain};
    (t.from_stage < t.to_stage ? forward : backward).push_back(std::move(name));
  }
  const Algorithm all_reduce = plan.scenario.wafer.firmware.all_reduce;
  plan.model_groups = plan.communicators.add(TrafficKind::kMp, model, all_reduce);
  plan.data_groups = plan.communicators.add(TrafficKind::kDp, data, all_reduce);
  plan.forward_chains =
      plan.communicators.add(TrafficKind::kPp, forward, Algorithm::kAuto, "pp forward", WVP_TENSOR_FORWARD);
  plan.backward_chains = plan.communicators.add(TrafficKind::kPp, backward, Algorithm::kAuto, "pp backward",
                                                WVP_TENSOR_BACKWARD);
}

/// Writes the program of one rank.
class RankWriter {
 public:
  RankWriter(const Plan& plan, std::uint32_t dp, std::uint32_t stage, std::uint32_t mp,
             ProgramBuilder& program)
      : plan_(plan),
        p_(plan.parallelism()),
        workload_(plan.scenario.workload),
        dp_(dp),
        stage_(stage),
        mp_(mp),
        layers_(layers_of_stage(plan.model.layers, p_.pp, stage)),
        program_(program),
        forward_(hand_over(kForwardSlots)),
        backward_(hand_over(kBackwardSlots)) {
    if (!plan_.factors.empty()) {
      factors_ = allocate_factors(plan_.factors[stage_], ElementType::kFp16, program_);
    } else if (p_.dp > 1) {
      gradients_ = program_.allocate(plan_.parameters(stage_) * kGradientBytes);
    }
    if (p_.mp > 1) layer_output_ = program_.allocate(plan_.activation_bytes);
    if (stage_ > 0) {
      forward_.receive_by(chain(plan_.forward_chains, stage_ - 1), buffers(2));
      if (mp_ == 0) backward_.send_by(chain(plan_.backward_chains, stage_ - 1), buffers(kSends));
    }
    if (stage_ + 1 < p_.pp) {
      backward_.receive_by(chain(plan_.backward_chains, stage_), buffers(2));
      if (mp_ == 0) forward_.send_by(chain(plan_.forward_chains, stage_), buffers(kSends));
    }
  }

  void step() {
    forward_.start_step();
    backward_.start_step();
    for (const PipelineStep& pass :
         pipeline_steps(workload_.schedule, p_.pp, stage_, workload_.microbatches)) {
      const bool is_forward = pass.pass == PipelineStep::Pass::kForward;
      HandOver& way = is_forward ? forward_ : backward_;
      way.await_receive();
      layers(is_forward ? 1 : kBackwardOverForward);
      way.send();
    }
    if (p_.dp > 1) add_gradients();
    forward_.end_step();
    backward_.end_step();
    program_.end_step(workload_.compute);
  }

 private:
  static constexpr std::size_t kSends = HandOver::kSendsInFlight;

  void add_gradients() {
    const std::uint16_t index = static_cast<std::uint16_t>(plan_.data_groups + stage_ * p_.mp + mp_);
    const Communicator& group = plan_.communicators[index];
    if (!plan_.factors.empty()) {
      append_power_sgd(plan_.scenario, plan_.topology, group, index, kGradientSlot, plan_.factors[stage_],
                       factors_, program_, ElementType::kFp16);
    } else {
      append_gradient_sync(plan_.scenario, plan_.topology, group, index, kGradientSlot, gradients_,
                           plan_.parameters(stage_) * kGradientBytes, program_);
    }
  }

  HandOver hand_over(HandOver::Slots slots) {
    const auto make = [this](std::uint16_t comm, unsigned slot, std::uint64_t address) {
      return operation(Operation::kBroadcast, comm, slot, address);
    };
    return {slots, workload_.microbatches, make, program_};
  }
  std::vector<std::uint64_t> buffers(std::size_t count) {
    std::vector<std::uint64_t> addresses(count);
    for (std::uint64_t& address : addresses) address = program_.allocate(plan_.activation_bytes);
    return addresses;
  }

  std::uint16_t chain(std::uint16_t family, std::uint32_t boundary) const {
    return static_cast<std::uint16_t>(family + dp_ * (p_.pp - 1) + boundary);
  }

  wvp_command operation(Operation operation, std::uint16_t comm, unsigned slot, std::uint64_t address) const {
    wvp_command command =
        make_operation(plan_.topology, operation, firmware_choice(plan_.scenario.wafer.firmware, operation),
                       plan_.communicators[comm], comm, plan_.activation_bytes, ElementType::kFp16);
    command.slot = static_cast<std::uint8_t>(slot);
    command.dst = address;
    return command;
  }

  /// The stage's layers, forward (factor 1) or backward. Each of a layer's two halves, attention and
  /// MLP, ends in an all_reduce over the MP group (Shoeybi et al. 2019).
  void layers(double factor) {
    const double flops = plan_.layer_flops * factor;
    const double weights = static_cast<double>(plan_.parameters(stage_) * kWeightBytes) / layers_ * factor;
    if (p_.mp == 1) {
      program_.compute(flops * layers_, weights * layers_);
      return;
    }
    const std::uint16_t comm = static_cast<std::uint16_t>(plan_.model_groups + dp_ * p_.pp + stage_);
    const wvp_command all_reduce = operation(Operation::kAllReduce, comm, kModelSlot, layer_output_);
    for (std::uint32_t i = 0; i < 2 * layers_; ++i) {
      program_.compute(flops / 2, weights / 2);
      program_.run(all_reduce);
    }
  }

  const Plan& plan_;
  const ParallelismSpec& p_;
  const WorkloadSpec& workload_;
  const std::uint32_t dp_, stage_, mp_, layers_;
  ProgramBuilder& program_;
  std::uint64_t gradients_ = 0, layer_output_ = 0;
  FactorBuffers factors_;
  HandOver forward_, backward_;
};

MemoryNeed memory_need(const Plan& plan, std::uint32_t stage) {
  const WorkloadSpec& workload = plan.scenario.workload;
  const ParallelismSpec& p = workload.parallelism;
  const std::uint64_t parameters = plan.parameters(stage);
  MemoryNeed need;
  need.weights = parameters * kWeightBytes;
  need.gradients = parameters * kGradientBytes;
  if (!plan.factors.empty()) {
    const training::FactorLayout& factors = plan.factors[stage];
    const std::size_t owed = workload.gradients.error_feedback ? factors.size() : 0;
    need.gradients += (owed + factors.first_size() + factors.second_size()) * kGradientBytes;
  }
  need.optimiser = parameters * kOptimiserBytes / (workload.dp_sync == DpSync::kRsAg ? p.dp : 1);
  // 34 b s h bytes a layer (Korthikanti et al. 2022, without the attention scores, which a fused kernel
  // recomputes), divided by MP as their sequence parallelism does; without it 10 of the 34 would stay whole.
  const double tokens =
      static_cast<double>(workload.samples_per_replica / workload.microbatches) * plan.model.sequence;
  need.activations = static_cast<std::uint64_t>(
      34 * tokens * plan.model.hidden / p.mp * layers_of_stage(plan.model.layers, p.pp, stage) *
      microbatches_in_flight(workload.schedule, p.pp, stage, workload.microbatches));
  return need;
}

}  // namespace

Draft build_transformer(const Scenario& scenario, const Topology& topology, const Placement& placement) {
  const WorkloadSpec& workload = scenario.workload;
  const ParallelismSpec& p = workload.parallelism;
  const TransformerSpec& model = workload.transformer;
  check_transformer(workload, model);
  const double layer_commands = p.mp > 1 ? 12.0 * (model.layers / p.pp + 1) : 4.0;
  check_commands("/workload",
                 (layer_commands + 12) * workload.microbatches * workload.iterations * p.mp * p.dp * p.pp);
  const std::uint64_t tokens =
      std::uint64_t{workload.samples_per_replica / workload.microbatches} * model.sequence;
  Plan plan{scenario,
            topology,
            model,
            tokens * model.hidden * 2,
            layer_flops_per_token(model) * static_cast<double>(tokens) / p.mp,
            CommunicatorSet(topology, scenario.wafer.firmware)};
  add_communicators(plan, placement);
  add_factors(plan);

  Draft draft(topology);
  for (std::uint32_t dp = 0; dp < p.dp; ++dp) {
    for (std::uint32_t stage = 0; stage < p.pp; ++stage) {
      for (std::uint32_t mp = 0; mp < p.mp; ++mp) {
        const NpuId npu = placement.npu_of_rank[(dp * p.pp + stage) * p.mp + mp];
        RankWriter writer(plan, dp, stage, mp, draft.builders[npu.value]);
        for (std::uint32_t i = 0; i < workload.iterations; ++i) writer.step();
        draft.memory[npu.value] = memory_need(plan, stage);
      }
    }
  }
  draft.communicators = plan.communicators.take();
  return draft;
}

}  // namespace wafervp
