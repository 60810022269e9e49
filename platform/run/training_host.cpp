// SPDX-License-Identifier: Apache-2.0
#include "run/training_host.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "compression/orthonormal.h"
#include "run/gradient_sums.h"
#include "training/data_source.h"
#include "training/stage_model.h"
#include "workload/training_kernels.h"

namespace wafervp {

namespace {

using compression::Matrix;
using training::Kernel;

std::unique_ptr<training::DataSource> make_data(const Scenario& scenario,
                                                const training::ModelConfig& model) {
  return scenario.workload.training.data == TrainingData::kText ? training::make_text(model, scenario.seed)
                                                                : training::make_chain(model, scenario.seed);
}

template <class T>
class Host final : public TrainingHost {
 public:
  Host(const Scenario& scenario, const Workload& workload, Wafer& wafer)
      : model_(model_config(scenario)),
        workload_(workload),
        wafer_(wafer),
        data_(make_data(scenario, model_)),
        tables_(make_tables(scenario)),
        subspace_(constrained_k(scenario) > 0 ? make_subspace(scenario) : nullptr),
        sums_(model_.replicas) {
    npus_.resize(workload.training.size());
    stages_.resize(model_.stages * model_.replicas);
    for (std::size_t n = 0; n < npus_.size(); ++n) {
      if (workload.programs[n].commands.size() < 2) continue;  // no rank
      const TrainingPlace& place = workload.training[n];
      npus_[n].model = std::make_unique<training::StageModel<T>>(model_, optimizer_config(scenario),
                                                                 place.stage, tables_, subspace_);
      stages_[index(place.replica, place.stage)] = n;
      const NpuId npu(static_cast<std::uint32_t>(n));
      wafer.accelerator(npu).set_kernels(this);
      if (CompressionUnit* unit = wafer.compression_unit(npu)) unit->set_tokens(*this);
      if (const auto config = factor_config(scenario)) {
        const training::FactorLayout layout = factor_layout(scenario, place.stage);
        npus_[n].factors = std::make_unique<training::GradientFactors<T>>(layout, *config);
        npus_[n].first.resize(layout.first_size());
        npus_[n].second.resize(layout.second_size());
      }
    }
    const TrainingSpec& spec = scenario.workload.training;
    update_step_ = spec.update_step;
    if (spec.update_every != 0) npus_[stages_[index(0, model_.stages - 1)]].model->collect_energy();
    result_.steps = scenario.workload.iterations;
    result_.entropy_floor = data_->entropy_floor();
  }

  const TrainingResult& result() const override { return result_; }
  GradientSumError gradient_sum() const override { return sums_.error(); }

  /// A stage hands its microbatches on in their order, step after step.
  const std::vector<std::uint32_t>* ids(NpuId npu, std::uint64_t n) override {
    sent_ = data_->batch(n / model_.microbatches, place(npu).replica, n % model_.microbatches);
    return &sent_.ids;
  }
  std::uint64_t sequence_length() const override { return model_.tokens; }

  void run(NpuId npu, std::uint32_t kernel, std::uint64_t argument, Time now) override {
    const auto microbatch = static_cast<std::uint32_t>(argument);
    switch (kernel_of(kernel)) {
      case Kernel::kForward:
        return forward(npu, microbatch);
      case Kernel::kBackward:
        return backward(npu, microbatch);
      case Kernel::kFinishGradients:
        return finish(npu, now);
      case Kernel::kStep:
        return step(npu);
      case Kernel::kSetSubspace:
        return set_subspace(npu);
      case Kernel::kNextSubspace:
        return next_subspace(npu);
      case Kernel::kFactorP:
        return factor_p(npu);
      case Kernel::kFactorQ:
        return factor_q(npu);
      case Kernel::kExpandFactors:
        return expand_factors(npu);
    }
  }

 private:
  struct Rank {
    std::unique_ptr<training::StageModel<T>> model;
    std::size_t steps = 0;
    std::unique_ptr<training::GradientFactors<T>> factors;  ///< with PowerSGD
    std::vector<T> first, second;                           ///< as they came back
  };
  struct Losses {
    double sum = 0;
    std::size_t replicas = 0;
    Time last = 0;
  };

  std::size_t index(std::size_t replica, std::size_t stage) const { return replica * model_.stages + stage; }
  std::byte* memory(std::size_t npu) const {
    return wafer_.accelerator(NpuId(static_cast<std::uint32_t>(npu))).memory();
  }
  const TrainingPlace& place(NpuId npu) const { return workload_.training[npu.value]; }

  void read(NpuId npu, std::uint64_t address, std::vector<T>& values) const {
    std::memcpy(values.data(), memory(npu.value) + address, values.size() * sizeof(T));
  }
  void write(NpuId npu, std::uint64_t address, const std::vector<T>& values) {
    std::memcpy(memory(npu.value) + address, values.data(), values.size() * sizeof(T));
  }
  /// A tensor in a memory, or none.
  Matrix<T> load(std::size_t npu, const std::vector<std::uint64_t>& buffers, std::uint32_t microbatch) const {
    if (buffers.empty()) return {};
    Matrix<T> matrix(model_.rows(), model_.dimension);
    std::memcpy(matrix.values.data(), memory(npu) + buffers[microbatch], matrix.values.size() * sizeof(T));
    return matrix;
  }
  void store(std::size_t npu, const std::vector<std::uint64_t>& buffers, std::uint32_t microbatch,
             const Matrix<T>& matrix) {
    if (buffers.empty()) return;
    std::memcpy(memory(npu) + buffers[microbatch], matrix.values.data(), matrix.values.size() * sizeof(T));
  }
  /// What came against what lies where it was sent from.
  void compare(const Matrix<T>& received, std::size_t from, const std::vector<std::uint64_t>& buffers,
               std::uint32_t microbatch, ReconstructionError& error) {
    const Matrix<T> sent = load(from, buffers, microbatch);
    for (std::size_t i = 0; i < sent.values.size(); ++i) {
      const double value = static_cast<double>(sent.values[i]);
      error.most = std::max(error.most, std::fabs(static_cast<double>(received.values[i]) - value));
      error.most_value = std::max(error.most_value, std::fabs(value));
    }
    ++error.count;
  }

  void forward(NpuId npu, std::uint32_t microbatch) {
    const TrainingPlace& here = place(npu);
    Rank& rank = npus_[npu.value];
    const Matrix<T> input = load(npu.value, here.inputs, microbatch);
    if (!here.inputs.empty()) {
      const std::size_t before = stages_[index(here.replica, here.stage - 1)];
      compare(input, before, workload_.training[before].outputs, microbatch, result_.forward);
    }
    const training::TokenBatch batch = data_->batch(rank.steps, here.replica, microbatch);
    store(npu.value, here.outputs, microbatch, rank.model->forward(microbatch, input, batch));
  }

  void backward(NpuId npu, std::uint32_t microbatch) {
    const TrainingPlace& here = place(npu);
    const Matrix<T> gradient = load(npu.value, here.output_gradients, microbatch);
    if (!here.output_gradients.empty()) {
      const std::size_t behind = stages_[index(here.replica, here.stage + 1)];
      compare(gradient, behind, workload_.training[behind].input_gradients, microbatch, result_.backward);
    }
    store(npu.value, here.input_gradients, microbatch,
          npus_[npu.value].model->backward(microbatch, gradient));
  }

  /// Ends the passes of a step. Gradients are put where their all-reduce takes them.
  void finish(NpuId npu, Time now) {
    training::StageModel<T>& model = *npus_[npu.value].model;
    if (model.is_last()) note_loss(npu, now);
    model.finish_gradients();
    if (model_.replicas == 1) return;
    sums_.add(place(npu).stage, npus_[npu.value].steps, model.gradients());
    if (npus_[npu.value].factors == nullptr) write(npu, place(npu).gradients, model.gradients());
  }

  void factor_p(NpuId npu) {
    Rank& rank = npus_[npu.value];
    rank.factors->factor_p(rank.model->gradients().data(), rank.first.data());
    write(npu, place(npu).first_factors, rank.first);
  }
  void factor_q(NpuId npu) {
    Rank& rank = npus_[npu.value];
    read(npu, place(npu).first_factors, rank.first);
    rank.factors->factor_q(rank.first.data(), rank.second.data());
    write(npu, place(npu).second_factors, rank.second);
  }
  void expand_factors(NpuId npu) {
    Rank& rank = npus_[npu.value];
    read(npu, place(npu).second_factors, rank.second);
    rank.factors->expand(rank.first.data(), rank.second.data(), rank.model->gradients().data());
  }

  void step(NpuId npu) {
    Rank& rank = npus_[npu.value];
    if (model_.replicas > 1) {
      std::vector<T>& gradients = rank.model->gradients();
      if (rank.factors == nullptr) read(npu, place(npu).gradients, gradients);
      sums_.compare(place(npu).stage, rank.steps, gradients);
    }
    rank.model->step();
    ++rank.steps;
  }

  void next_subspace(NpuId npu) {
    const training::StageModel<T>& model = *npus_[npu.value].model;
    const auto next = compression::grassmann_step(*model.subspace(), model.energy(), update_step_);
    std::vector<T> values(next->u().values.size());
    std::transform(next->u().values.begin(), next->u().values.end(), values.begin(),
                   [](double value) { return static_cast<T>(value); });
    write(npu, place(npu).basis, values);
  }

  /// What came is the U of all, whoever made it: rounded to T, and made orthonormal again where that rounds.
  void set_subspace(NpuId npu) {
    training::StageModel<T>& model = *npus_[npu.value].model;
    const compression::Subspace& last = *model.subspace();
    std::vector<T> values(last.u().values.size());
    read(npu, place(npu).basis, values);
    Matrix<double> u(last.dimension(), last.rank());
    std::copy(values.begin(), values.end(), u.values.begin());
    if (sizeof(T) < sizeof(double)) compression::orthonormalise(u);
    const auto next = std::make_shared<const compression::Subspace>(std::move(u), last.version() + 1);
    model.set_subspace(next);
    if (CompressionUnit* unit = wafer_.compression_unit(npu)) unit->set_subspace(next);
  }

  void note_loss(NpuId npu, Time now) {
    const Rank& rank = npus_[npu.value];
    Losses& losses = losses_[rank.steps];
    for (std::uint32_t m = 0; m < model_.microbatches; ++m) losses.sum += rank.model->loss(m);
    losses.last = std::max(losses.last, now);
    if (++losses.replicas < model_.replicas) return;
    const double count = static_cast<double>(model_.microbatches) * static_cast<double>(model_.replicas);
    result_.curve.push_back({static_cast<std::uint32_t>(rank.steps + 1), losses.last, losses.sum / count});
    losses_.erase(rank.steps);
  }

  training::ModelConfig model_;
  const Workload& workload_;
  Wafer& wafer_;
  std::unique_ptr<training::DataSource> data_;
  std::shared_ptr<const training::FixedTables> tables_;
  std::shared_ptr<const training::Subspace> subspace_;
  std::vector<Rank> npus_;
  std::vector<std::size_t> stages_;       ///< NPU of each stage, replica by replica
  std::map<std::size_t, Losses> losses_;  ///< by step, until all replicas have theirs
  training::TokenBatch sent_;             ///< that ids() speaks of
  GradientSums sums_;
  double update_step_ = 0;
  TrainingResult result_;
};

}  // namespace

std::unique_ptr<TrainingHost> make_training_host(const Scenario& scenario, const Workload& workload,
                                                 Wafer& wafer) {
  if (scenario.workload.kind != WorkloadKind::kTraining) return nullptr;
  if (scenario.workload.training.type == ElementType::kFp32) {
    return std::make_unique<Host<float>>(scenario, workload, wafer);
  }
  return std::make_unique<Host<double>>(scenario, workload, wafer);
}

}  // namespace wafervp
