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

constexpr unsigned kGradientSlot = 1;
constexpr HandOver::Slots kForwardSlots{2, 4}, kBackwardSlots{3, 8};

/// What the ranks have in common.
struct Plan {
  const Scenario& scenario;
  const Topology& topology;
  training::ModelConfig model;
  std::uint64_t tensor_bytes;
  CommunicatorSet communicators;
  std::uint16_t data_groups = 0, forward_chains = 0, backward_chains = 0;

  const ParallelismSpec& parallelism() const { return scenario.workload.parallelism; }
};

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
    if (plan.parallelism().dp > 1) place_.gradients = program_.allocate(gradient_bytes());
  }

  void step() {
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
    if (plan_.parallelism().dp > 1) {
      const auto index = static_cast<std::uint16_t>(plan_.data_groups + place_.stage);
      append_gradient_sync(plan_.scenario, plan_.topology, plan_.communicators[index], index, kGradientSlot,
                           place_.gradients, gradient_bytes(), program_, workload_.training.type);
    }
    forward_.end_step();
    backward_.end_step();
    kernel(training::Kernel::kStep, 0);
    program_.end_step(workload_.compute);
  }

  TrainingPlace place() const { return place_; }
  MemoryNeed memory_need() const {
    MemoryNeed need;
    need.weights = need.gradients = gradient_bytes();
    need.optimiser = 2 * gradient_bytes();
    need.activations = plan_.tensor_bytes * workload_.microbatches;
    return need;
  }

 private:
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
  void kernel(training::Kernel kernel, std::uint32_t microbatch) {
    const training::KernelCost cost = training::kernel_cost(
        plan_.model, optimizer_config(plan_.scenario).stay, constrained_k(plan_.scenario), place_.stage,
        kernel, element_bytes(workload_.training.type));
    program_.kernel(kernel_number(kernel), microbatch, cost.flops, cost.bytes);
  }

  const Plan& plan_;
  const WorkloadSpec& workload_;
  ProgramBuilder& program_;
  TrainingPlace place_;
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
      for (std::uint32_t i = 0; i < workload.iterations; ++i) writer.step();
      draft.memory[npu.value] = writer.memory_need();
      draft.training[npu.value] = writer.place();
    }
  }
  draft.communicators = plan.communicators.take();
  return draft;
}

}  // namespace wafervp
