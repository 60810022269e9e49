// SPDX-License-Identifier: Apache-2.0
#include "scenario/words.h"
#include "training/data_source.h"
#include "training/fixed_tables.h"
#include "training/stage_model.h"
#include "workload/algorithms.h"
#include "workload/communicators.h"
#include "workload/errors.h"
#include "workload/gradient_sync.h"
#include "workload/hand_over.h"
#include "workload/pipeline_schedule.h"
#include "workload/training_kernels.h"
#include "workload/workload_kinds.h"

namespace wafervp {

training::ModelConfig model_config(const Scenario& scenario) {
  const WorkloadSpec& workload = scenario.workload;
  const TrainingSpec& spec = workload.training;
  training::ModelConfig model;
  model.dimension = spec.dimension;
  model.heads = spec.heads;
  model.hidden = spec.hidden;
  model.vocabulary =
      spec.data == TrainingData::kText ? training::training_alphabet().size() : spec.vocabulary;
  model.tokens = spec.sequence;
  model.blocks = spec.blocks;
  model.stages = workload.parallelism.pp;
  model.sequences = workload.samples_per_replica / workload.microbatches;
  model.microbatches = workload.microbatches;
  model.replicas = workload.parallelism.dp;
  model.seed = scenario.seed;
  return model;
}

training::OptimizerConfig optimizer_config(const Scenario& scenario) {
  const TrainingSpec& spec = scenario.workload.training;
  training::OptimizerConfig optimizer;
  optimizer.learning_rate = spec.learning_rate;
  optimizer.warm_up_steps = spec.warm_up;
  optimizer.steps = scenario.workload.iterations;
  optimizer.weight_decay = spec.weight_decay;
  optimizer.stay = spec.stay == TrainingStay::kRowWise     ? training::Stay::kRowWise
                   : spec.stay == TrainingStay::kProjected ? training::Stay::kProjected
                   : spec.stay == TrainingStay::kFree      ? training::Stay::kRowWise  // of no matrix
                                                           : training::Stay::kReparametrised;
  optimizer.project_every = spec.project_every;
  return optimizer;
}

std::optional<training::FactorConfig> factor_config(const Scenario& scenario) {
  const GradientSpec& spec = scenario.workload.gradients;
  if (spec.sum != GradientSum::kPowerSgd || scenario.workload.parallelism.dp == 1) return std::nullopt;
  training::FactorConfig config;
  config.rank = spec.rank;
  config.error_feedback = spec.error_feedback;
  config.warm_start = spec.warm_start;
  config.seed = scenario.seed;
  return config;
}

training::FactorLayout factor_layout(const Scenario& scenario, std::size_t stage) {
  return {training::parameter_sizes(model_config(scenario), optimizer_config(scenario).stay,
                                    constrained_k(scenario), stage),
          scenario.workload.gradients.rank};
}

std::shared_ptr<const compression::Subspace> make_subspace(const Scenario& scenario) {
  const TrainingSpec& spec = scenario.workload.training;
  if (spec.subspace_k == 0) return nullptr;
  return compression::Subspace::random(spec.dimension, spec.subspace_k, scenario.seed);
}

std::size_t constrained_k(const Scenario& scenario) {
  const TrainingSpec& spec = scenario.workload.training;
  return spec.stay == TrainingStay::kFree ? 0 : spec.subspace_k;
}

std::shared_ptr<const compression::FixedTables> make_tables(const Scenario& scenario) {
  return training::make_tables(model_config(scenario), scenario.seed);
}

std::uint64_t boundary_bytes(const Scenario& scenario) {
  const training::ModelConfig model = model_config(scenario);
  return std::uint64_t{model.rows()} * model.dimension * element_bytes(scenario.workload.training.type);
}

namespace {

constexpr unsigned kSyncSlot = 1;
constexpr HandOver::Slots kForwardSlots{2, 4}, kBackwardSlots{3, 8};

/// What the ranks have in common.
struct Plan {
  const Scenario& scenario;
  const Topology& topology;
  training::ModelConfig model;
  std::uint64_t tensor_bytes;
  CommunicatorSet communicators;
  std::uint16_t data_groups = 0, forward_chains = 0, backward_chains = 0;
  std::uint16_t all = 0;  ///< the last stage of replica 0, then all others; where U is updated

  const ParallelismSpec& parallelism() const { return scenario.workload.parallelism; }
};

/// Who makes the next U, then all others.
std::vector<NpuId> basis_members(const ParallelismSpec& p, const Placement& placement) {
  std::vector<NpuId> members{placement.npu_of_rank[p.pp - 1]};
  for (std::uint32_t rank = 0; rank < p.dp * p.pp; ++rank) {
    if (rank != p.pp - 1) members.push_back(placement.npu_of_rank[rank]);
  }
  return members;
}

void add_communicators(Plan& plan, const Placement& placement) {
  const ParallelismSpec& p = plan.parallelism();
  std::vector<GroupName> data, forward, backward;
  const auto data_members = groups(p, placement, GroupKind::kDp);
  for (std::uint32_t stage = 0; stage < data_members.size() && p.dp > 1; ++stage) {
    data.push_back({"dp[stage=" + std::to_string(stage) + "]", data_members[stage]});
  }
  for (const StageTransfer& t : stage_transfers(p, placement)) {
    GroupName name{"pp[dp=" + std::to_string(t.dp) + ",stage=" + std::to_string(t.from_stage) + "->" +
                       std::to_string(t.to_stage) + "]",
                   t.chain};
    (t.from_stage < t.to_stage ? forward : backward).push_back(std::move(name));
  }
  plan.data_groups = plan.communicators.add(TrafficKind::kDp, data, plan.scenario.wafer.firmware.all_reduce);
  plan.forward_chains =
      plan.communicators.add(TrafficKind::kPp, forward, Algorithm::kAuto, "pp forward", WVP_TENSOR_FORWARD);
  plan.backward_chains = plan.communicators.add(TrafficKind::kPp, backward, Algorithm::kAuto, "pp backward",
                                                WVP_TENSOR_BACKWARD);
  if (plan.scenario.workload.training.update_every != 0) {
    plan.all = plan.communicators.add(TrafficKind::kPp, {{"subspace", basis_members(p, placement)}},
                                      Algorithm::kAuto, "subspace");
  }
}

/// Writes the program of one rank, and says where its values are.
class RankWriter {
 public:
  RankWriter(const Plan& plan, std::uint32_t dp, std::uint32_t stage, ProgramBuilder& program)
      : plan_(plan),
        workload_(plan.scenario.workload),
        program_(program),
        forward_(hand_over(kForwardSlots)),
        backward_(hand_over(kBackwardSlots)) {
    place_.replica = dp;
    place_.stage = stage;
    const std::uint32_t stages = plan.parallelism().pp;
    const auto chain = [&](std::uint16_t family, std::uint32_t boundary) {
      return static_cast<std::uint16_t>(family + dp * (stages - 1) + boundary);
    };
    if (stage > 0) {
      forward_.receive_by(chain(plan.forward_chains, stage - 1), place_.inputs = buffers());
      backward_.send_by(chain(plan.backward_chains, stage - 1), place_.input_gradients = buffers());
    }
    if (stage + 1 < stages) {
      forward_.send_by(chain(plan.forward_chains, stage), place_.outputs = buffers());
      backward_.receive_by(chain(plan.backward_chains, stage), place_.output_gradients = buffers());
    }
    const TrainingSpec& spec = workload_.training;
    if (factor_config(plan.scenario)) {
      factors_ = factor_layout(plan.scenario, stage);
      const FactorBuffers buffers = allocate_factors(*factors_, spec.type, program_);
      place_.first_factors = buffers.first;
      place_.second_factors = buffers.second;
    } else if (plan.parallelism().dp > 1) {
      place_.gradients = program_.allocate(gradient_bytes());
    }
    if (spec.update_every != 0) place_.basis = program_.allocate(basis_bytes());
  }

  /// `index`: from 0.
  void step(std::uint32_t index) {
    forward_.start_step();
    backward_.start_step();
    const std::uint32_t stages = plan_.parallelism().pp;
    for (const PipelineStep& pass :
         pipeline_steps(workload_.schedule, stages, place_.stage, workload_.microbatches)) {
      const bool is_forward = pass.pass == PipelineStep::Pass::kForward;
      HandOver& way = is_forward ? forward_ : backward_;
      way.await_receive();
      kernel(is_forward ? training::Kernel::kForward : training::Kernel::kBackward, pass.microbatch);
      way.send();
    }
    kernel(training::Kernel::kFinishGradients, 0);
    if (plan_.parallelism().dp > 1) add_gradients();
    forward_.end_step();
    backward_.end_step();
    kernel(training::Kernel::kStep, 0);
    const std::uint32_t every = workload_.training.update_every;
    if (every != 0 && (index + 1) % every == 0) update_subspace();
    program_.end_step(workload_.compute);
  }

  TrainingPlace place() const { return place_; }
  MemoryNeed memory_need() const {
    MemoryNeed need;
    need.weights = need.gradients = gradient_bytes();
    need.optimiser = 2 * gradient_bytes();
    if (factors_) {
      const std::size_t owed = plan_.scenario.workload.gradients.error_feedback ? factors_->size() : 0;
      need.gradients +=
          (owed + factors_->first_size() + factors_->second_size()) * element_bytes(workload_.training.type);
    }
    need.activations = plan_.tensor_bytes * workload_.microbatches;
    return need;
  }

 private:
  void add_gradients() {
    const auto index = static_cast<std::uint16_t>(plan_.data_groups + place_.stage);
    const Communicator& group = plan_.communicators[index];
    if (factors_) {
      append_power_sgd(plan_.scenario, plan_.topology, group, index, kSyncSlot, *factors_,
                       {place_.first_factors, place_.second_factors}, program_, workload_.training.type);
    } else {
      append_gradient_sync(plan_.scenario, plan_.topology, group, index, kSyncSlot, place_.gradients,
                           gradient_bytes(), program_, workload_.training.type);
    }
  }

  /// No message is under way when a rank takes the next U, and none starts before all have it.
  void update_subspace() {
    const auto operation = [this](Operation which, std::uint64_t bytes) {
      wvp_command command =
          make_operation(plan_.topology, which, firmware_choice(plan_.scenario.wafer.firmware, which),
                         plan_.communicators[plan_.all], plan_.all, bytes, workload_.training.type);
      command.traffic_class = WVP_CLASS_CONTROL;  // through no codec
      command.slot = kSyncSlot;
      command.dst = place_.basis;
      program_.run(command);
    };
    if (makes_basis()) kernel(training::Kernel::kNextSubspace, 0);
    operation(Operation::kBroadcast, basis_bytes());
    kernel(training::Kernel::kSetSubspace, 0);
    operation(Operation::kBarrier, 0);
  }
  bool makes_basis() const { return place_.replica == 0 && place_.stage + 1 == plan_.parallelism().pp; }

  HandOver hand_over(HandOver::Slots slots) {
    const auto make = [this](std::uint16_t comm, unsigned slot, std::uint64_t address) {
      wvp_command command =
          make_operation(plan_.topology, Operation::kBroadcast,
                         firmware_choice(plan_.scenario.wafer.firmware, Operation::kBroadcast),
                         plan_.communicators[comm], comm, plan_.tensor_bytes, workload_.training.type);
      command.slot = static_cast<std::uint8_t>(slot);
      command.dst = address;
      command.chunks = 1;  // a codec's message is a whole tensor
      return command;
    };
    return {slots, workload_.microbatches, make, program_};
  }
  std::vector<std::uint64_t> buffers() {
    std::vector<std::uint64_t> addresses(workload_.microbatches);
    for (std::uint64_t& address : addresses) address = program_.allocate(plan_.tensor_bytes);
    return addresses;
  }
  std::uint64_t gradient_bytes() const {
    return training::parameter_count(plan_.model, optimizer_config(plan_.scenario).stay,
                                     constrained_k(plan_.scenario), place_.stage) *
           element_bytes(workload_.training.type);
  }
  std::uint64_t basis_bytes() const {
    return std::uint64_t{workload_.training.dimension} * workload_.training.subspace_k *
           element_bytes(workload_.training.type);
  }
  void kernel(training::Kernel kernel, std::uint32_t microbatch) {
    const std::size_t size = element_bytes(workload_.training.type);
    training::KernelCost cost =
        training::kernel_cost(plan_.model, optimizer_config(plan_.scenario).stay,
                              constrained_k(plan_.scenario), place_.stage, kernel, size);
    if (kernel == training::Kernel::kBackward && workload_.training.update_every != 0 && makes_basis()) {
      const training::KernelCost energy = training::energy_cost(plan_.model, size);
      cost.flops += energy.flops;
      cost.bytes += energy.bytes;
    }
    program_.kernel(kernel_number(kernel), microbatch, cost.flops, cost.bytes);
  }

  const Plan& plan_;
  const WorkloadSpec& workload_;
  ProgramBuilder& program_;
  TrainingPlace place_;
  std::optional<training::FactorLayout> factors_;  ///< with PowerSGD
  HandOver forward_, backward_;
};

}  // namespace

Draft build_training(const Scenario& scenario, const Topology& topology, const Placement& placement) {
  const WorkloadSpec& workload = scenario.workload;
  const ParallelismSpec& p = workload.parallelism;
  check_commands("/workload", 10.0 * (workload.microbatches + 1) * workload.iterations * p.dp * p.pp);
  Plan plan{scenario, topology, model_config(scenario), boundary_bytes(scenario),
            CommunicatorSet(topology, scenario.wafer.firmware)};
  try {
    training::check(plan.model);
    training::check(optimizer_config(scenario));
  } catch (const training::TrainingError& error) {
    refuse("/workload/training", error.what());
  }
  add_communicators(plan, placement);

  Draft draft(topology);
  draft.training.resize(topology.npus);
  for (std::uint32_t dp = 0; dp < p.dp; ++dp) {
    for (std::uint32_t stage = 0; stage < p.pp; ++stage) {
      const NpuId npu = placement.npu_of_rank[dp * p.pp + stage];
      RankWriter writer(plan, dp, stage, draft.builders[npu.value]);
      for (std::uint32_t i = 0; i < workload.iterations; ++i) writer.step(i);
      draft.memory[npu.value] = writer.memory_need();
      draft.training[npu.value] = writer.place();
    }
  }
  draft.communicators = plan.communicators.take();
  return draft;
}

}  // namespace wafervp
