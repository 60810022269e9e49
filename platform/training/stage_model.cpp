// SPDX-License-Identifier: Apache-2.0
#include "training/stage_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "compression/gaussian.h"

namespace wafervp::training {
namespace {

/// Of a matrix with this number in the whole model, wherever the stages are cut.
std::uint64_t matrix_seed(std::uint64_t seed, std::uint64_t number) {
  return SplitMix(SplitMix(seed).next() + number).next();
}

/// Of initial weights: of the embedding, which F outweighs at first, and of the head, so that the first loss
/// is near ln V.
constexpr double kSmallDeviation = 0.02;
constexpr std::uint64_t kEmbeddingNumber = 0, kHeadNumber = 1, kFirstBlockNumber = 2, kMatricesOfBlock = 4;

template <class T>
Matrix<T> initial_weights(std::size_t rows, std::size_t columns, std::uint64_t seed, double deviation) {
  const Matrix<double> values = compression::gaussian_matrix(rows, columns, seed, deviation);
  Matrix<T> result(rows, columns);
  std::transform(values.values.begin(), values.values.end(), result.values.begin(),
                 [](double value) { return static_cast<T>(value); });
  return result;
}

}  // namespace

template <class T>
StageModel<T>::StageModel(const ModelConfig& model, const OptimizerConfig& optimizer, std::size_t stage,
                          std::shared_ptr<const FixedTables> tables, std::shared_ptr<const Subspace> subspace)
    : model_(model),
      optimizer_(optimizer),
      stage_(stage),
      tables_(std::move(tables)),
      subspace_(std::move(subspace)) {
  check(model_);
  check(optimizer_);
  if (stage_ >= model_.stages)
    throw TrainingError(fmt::format("stage: expected below {}, found {}", model_.stages, stage_));
  check_tables();
  if (subspace_) basis_ = Basis<T>(*subspace_);

  const std::size_t d = model_.dimension, f = model_.hidden;
  const double reading = 1 / std::sqrt(static_cast<double>(d));
  // Two branches of each block write to the residual stream.
  const double writing = 1 / std::sqrt(2 * static_cast<double>(model_.blocks));
  if (is_first())
    embedding_ = &add_parameter("embedding", kEmbeddingNumber, model_.vocabulary, d, kSmallDeviation, true);
  const std::size_t first = model_.first_block(stage_);
  for (std::size_t block = first; block < first + model_.blocks_of(stage_); ++block) {
    const std::uint64_t number = kFirstBlockNumber + kMatricesOfBlock * block;
    const std::string name = fmt::format("block{}.", block);
    Parameter<T>& w_qkv = add_parameter(name + "w_qkv", number, d, 3 * d, reading, false);
    Parameter<T>& w_o = add_parameter(name + "w_o", number + 1, d, d, reading * writing, !is_last());
    Parameter<T>& w_1 = add_parameter(name + "w_1", number + 2, d, f, reading, false);
    Parameter<T>& w_2 = add_parameter(name + "w_2", number + 3, f, d,
                                      writing / std::sqrt(static_cast<double>(f)), !is_last());
    blocks_.emplace_back(model_, w_qkv, w_o, w_1, w_2);
  }
  if (is_last())
    head_ = std::make_unique<Head<T>>(
        model_, add_parameter("head", kHeadNumber, d, model_.vocabulary, kSmallDeviation, false));
}

template <class T>
Parameter<T>& StageModel<T>::add_parameter(const std::string& name, std::uint64_t number, std::size_t rows,
                                           std::size_t columns, double deviation, bool constrained) {
  const bool inside = constrained && subspace_;
  parameters_.push_back(
      std::make_unique<Parameter<T>>(rows, columns, optimizer_.stay, inside ? &basis_ : nullptr));
  Parameter<T>& parameter = *parameters_.back();
  parameter.set_weights(initial_weights<T>(rows, columns, matrix_seed(model_.seed, number), deviation));
  infos_.push_back({name, rows, parameter.trained_columns(), gradients_.size(), inside});
  gradients_.resize(gradients_.size() + parameter.trained_size());
  return parameter;
}

template <class T>
Matrix<T> StageModel<T>::embed(const std::vector<std::uint32_t>& ids) const {
  Matrix<T> x(model_.rows(), model_.dimension);
  for (std::size_t row = 0; row < x.rows; ++row) {
    const double* fixed = tables_->tokens.row(ids[row]);
    const double* position = tables_->positions.rows ? tables_->positions.row(row % model_.tokens) : nullptr;
    const T* trained = embedding_->weights.row(ids[row]);
    T* out = x.row(row);
    for (std::size_t j = 0; j < x.columns; ++j) {
      out[j] = trained[j] + static_cast<T>(fixed[j]);
      if (position) out[j] += static_cast<T>(position[j]);
    }
  }
  return x;
}

template <class T>
Matrix<T> StageModel<T>::forward(std::uint32_t microbatch, const Matrix<T>& input, const TokenBatch& tokens) {
  if (finished_) throw TrainingError("forward: expected step() after finish_gradients()");
  if (is_first()) check_ids("ids", tokens.ids);
  if (!is_first()) check_rows("input", input);
  if (is_last()) check_ids("targets", tokens.targets);
  const auto [place, is_new] = passes_.try_emplace(microbatch);
  if (!is_new)
    throw TrainingError(fmt::format("forward: microbatch {} has been here in this step", microbatch));
  Pass& pass = place->second;
  Matrix<T> x = is_first() ? embed(tokens.ids) : input;
  if (is_first()) pass.ids = tokens.ids;
  if (!spare_.empty()) {
    pass.blocks = std::move(spare_.back());
    spare_.pop_back();
  }
  pass.blocks.resize(blocks_.size());
  for (std::size_t i = 0; i < blocks_.size(); ++i) blocks_[i].forward(x, pass.blocks[i], scratch_);
  if (!is_last()) return x;
  head_->forward(x, tokens.targets, pass.head);
  return {};
}

template <class T>
double StageModel<T>::loss(std::uint32_t microbatch) const {
  const auto place = passes_.find(microbatch);
  if (!is_last())
    throw TrainingError(fmt::format("loss: only the last stage has one, this is stage {}", stage_));
  if (place == passes_.end())
    throw TrainingError(fmt::format("loss: microbatch {} has not been here", microbatch));
  return place->second.head.loss;
}

template <class T>
Matrix<T> StageModel<T>::backward(std::uint32_t microbatch, const Matrix<T>& output_gradient) {
  const auto place = passes_.find(microbatch);
  if (place == passes_.end() || place->second.backward_done)
    throw TrainingError(
        fmt::format("backward: expected one forward pass of microbatch {} before it, found {}", microbatch,
                    place == passes_.end() ? "none" : "a backward pass already"));
  if (!is_last()) check_rows("output_gradient", output_gradient);
  Pass& pass = place->second;
  Matrix<T> gradient = is_last() ? head_->backward(pass.head) : output_gradient;
  for (std::size_t i = blocks_.size(); i-- > 0;) blocks_[i].backward(gradient, pass.blocks[i], scratch_);
  spare_.push_back(std::move(pass.blocks));
  pass.backward_done = true;
  if (energy_) energy_->add(gradient);
  if (!is_first()) return gradient;
  for (std::size_t row = 0; row < gradient.rows; ++row) {
    T* sum = embedding_->gradient.row(pass.ids[row]);
    for (std::size_t j = 0; j < gradient.columns; ++j) sum[j] += gradient.row(row)[j];
  }
  return {};
}

template <class T>
void StageModel<T>::finish_gradients() {
  if (finished_) throw TrainingError("finish_gradients: was called before in this step");
  if (passes_.size() != model_.microbatches)
    throw TrainingError(fmt::format("finish_gradients: expected {} microbatches, found {}",
                                    model_.microbatches, passes_.size()));
  for (const auto& [microbatch, pass] : passes_)
    if (!pass.backward_done)
      throw TrainingError(
          fmt::format("finish_gradients: microbatch {} has had no backward pass", microbatch));
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    parameters_[i]->finish_gradient(gradients_.data() + infos_[i].offset);
  passes_.clear();
  finished_ = true;
}

template <class T>
void StageModel<T>::step() {
  if (!finished_) throw TrainingError("step: expected finish_gradients() before it");
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    T* flat = gradients_.data() + infos_[i].offset;
    if (model_.replicas > 1) parameters_[i]->project_gradient(flat);
    parameters_[i]->step(flat, optimizer_, steps_done_);
  }
  ++steps_done_;
  finished_ = false;
}

template <class T>
void StageModel<T>::set_weights(std::size_t parameter, const Matrix<T>& weights) {
  Parameter<T>& place = *parameters_.at(parameter);
  if (weights.rows != place.weights.rows || weights.columns != place.weights.columns)
    throw TrainingError(fmt::format("set_weights: {} is {} x {}, found {} x {}", infos_[parameter].name,
                                    place.weights.rows, place.weights.columns, weights.rows,
                                    weights.columns));
  place.set_weights(weights);
}

template <class T>
void StageModel<T>::collect_energy() {
  if (!is_last() || is_first())
    throw TrainingError("collect_energy: expected the last of several stages, behind the last boundary");
  energy_ = std::make_unique<compression::GradientEnergy>(model_.dimension);
}

template <class T>
void StageModel<T>::set_subspace(std::shared_ptr<const Subspace> subspace) {
  if (!passes_.empty() || finished_)
    throw TrainingError("set_subspace: expected no microbatch under way, U changes between two steps");
  if (!subspace_ || !subspace || subspace->rank() != subspace_->rank() ||
      subspace->dimension() != subspace_->dimension())
    throw TrainingError("set_subspace: expected another version of the U that the model was built with");
  Basis<T> next(*subspace);
  for (auto& parameter : parameters_) parameter->change_basis(next);
  basis_ = std::move(next);
  subspace_ = std::move(subspace);
  if (energy_) collect_energy();
}

template <class T>
void StageModel<T>::check_tables() const {
  const auto need = [](const char* what, std::size_t expected, std::size_t found) {
    if (expected != found)
      throw TrainingError(fmt::format("{}: expected {}, found {}", what, expected, found));
  };
  if (!tables_) throw TrainingError("tables: expected F and PE, found none");
  need("rows of F", model_.vocabulary, tables_->tokens.rows);
  need("columns of F", model_.dimension, tables_->tokens.columns);
  if (tables_->positions.rows) {
    need("rows of PE", model_.tokens, tables_->positions.rows);
    need("columns of PE", model_.dimension, tables_->positions.columns);
  }
  if (subspace_) need("dimension of U", model_.dimension, subspace_->dimension());
}

template <class T>
void StageModel<T>::check_rows(const char* what, const Matrix<T>& matrix) const {
  if (matrix.rows != model_.rows() || matrix.columns != model_.dimension)
    throw TrainingError(fmt::format("{}: expected {} x {}, found {} x {}", what, model_.rows(),
                                    model_.dimension, matrix.rows, matrix.columns));
}

template <class T>
void StageModel<T>::check_ids(const char* what, const std::vector<std::uint32_t>& ids) const {
  if (ids.size() != model_.rows())
    throw TrainingError(fmt::format("{}: expected {} tokens, found {}", what, model_.rows(), ids.size()));
  for (const std::uint32_t id : ids)
    if (id >= model_.vocabulary)
      throw TrainingError(fmt::format("{}: expected tokens below {}, found {}", what, model_.vocabulary, id));
}

template class StageModel<float>;
template class StageModel<double>;

}  // namespace wafervp::training
