// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "training/fixed_tables.h"
#include "training/local_trainer.h"

namespace wafervp::training {

constexpr std::uint64_t kTableSeed = 101, kSubspaceSeed = 201, kDataSeed = 7;

/// The small case: 4 stages of one block, d = 32, 4 microbatches of 2 sequences.
inline LocalConfig small_case(std::size_t steps, Stay stay = Stay::kRowWise) {
  LocalConfig config;
  config.model.dimension = 32;
  config.model.heads = 2;
  config.model.hidden = 64;
  config.model.vocabulary = 32;
  config.model.tokens = 16;
  config.model.sequences = 2;
  config.optimizer.learning_rate = 5e-3;
  config.optimizer.steps = steps;
  config.optimizer.warm_up_steps = steps < 50 ? steps : 50;
  config.optimizer.stay = stay;
  return config;
}

/// Small enough for one pass a parameter and direction.
inline LocalConfig tiny_case(Stay stay = Stay::kRowWise) {
  LocalConfig config = small_case(10, stay);
  config.model.dimension = 12;
  config.model.hidden = 20;
  config.model.vocabulary = 10;
  config.model.tokens = 5;
  config.model.blocks = 5;  // the first stages have two
  config.model.stages = 3;
  config.model.microbatches = 2;
  return config;
}

inline std::shared_ptr<const Subspace> basis_for(const LocalConfig& config, std::size_t rank) {
  return rank ? Subspace::random(config.model.dimension, rank, kSubspaceSeed) : nullptr;
}

/// The boundary equations as they are written, in the type of the model, with plain loops:
/// C = (X - PE - F[t]) U, X' = C U^T + PE + F[t]; D = G U, G' = D U^T.
template <class T>
class SubspaceBoundary {
 public:
  SubspaceBoundary(std::shared_ptr<const FixedTables> tables, std::shared_ptr<const Subspace> subspace)
      : tables_(std::move(tables)), subspace_(std::move(subspace)) {}

  Matrix<T> operator()(const Crossing& crossing, const Matrix<T>& x) {
    const bool forward = crossing.direction == compression::Direction::kForward;
    Matrix<T> result(x.rows, x.columns);
    for (std::size_t row = 0; row < x.rows; ++row) {
      std::vector<T> fixed(x.columns, T(0));
      for (std::size_t j = 0; forward && j < x.columns; ++j)
        fixed[j] = static_cast<T>(tables_->tokens.row((*crossing.ids)[row])[j]) +
                   static_cast<T>(tables_->positions.row(row % tables_->positions.rows)[j]);
      for (std::size_t j = 0; j < x.columns; ++j) result.row(row)[j] = fixed[j];
      for (std::size_t i = 0; i < subspace_->rank(); ++i) {
        T coefficient = 0;
        for (std::size_t j = 0; j < x.columns; ++j)
          coefficient += (x.row(row)[j] - fixed[j]) * static_cast<T>(subspace_->u().row(j)[i]);
        for (std::size_t j = 0; j < x.columns; ++j)
          result.row(row)[j] += coefficient * static_cast<T>(subspace_->u().row(j)[i]);
      }
      if (forward)
        for (std::size_t j = 0; j < x.columns; ++j)
          worst_error_ =
              std::max(worst_error_, std::abs(static_cast<double>(result.row(row)[j] - x.row(row)[j])));
    }
    return result;
  }

  void use(std::shared_ptr<const Subspace> subspace) { subspace_ = std::move(subspace); }
  /// Largest |X' - X| so far.
  double worst_error() const { return worst_error_; }

 private:
  std::shared_ptr<const FixedTables> tables_;
  std::shared_ptr<const Subspace> subspace_;
  double worst_error_ = 0;
};

/// A trainer with all that it needs, with such a boundary or none.
template <class T>
struct Training {
  LocalConfig config;
  std::unique_ptr<DataSource> data;
  std::shared_ptr<const FixedTables> tables;
  std::shared_ptr<SubspaceBoundary<T>> boundary;
  std::unique_ptr<LocalTrainer<T>> trainer;

  Training(const LocalConfig& of, std::size_t rank, bool compressed)
      : config(of), data(make_chain(of.model, kDataSeed)), tables(make_tables(of.model, kTableSeed)) {
    typename LocalTrainer<T>::Boundary crossing;
    typename LocalTrainer<T>::Updated updated;
    if (compressed) {
      boundary = std::make_shared<SubspaceBoundary<T>>(tables, basis_for(of, rank));
      crossing = [hook = boundary](const Crossing& at, const Matrix<T>& x) { return (*hook)(at, x); };
      updated = [hook = boundary](const std::shared_ptr<const Subspace>& next) { hook->use(next); };
    }
    trainer = std::make_unique<LocalTrainer<T>>(of, *data, tables, basis_for(of, rank), crossing, updated);
  }
};

template <class T>
double norm(const std::vector<T>& values) {
  double squares = 0;
  for (const T value : values) squares += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(squares);
}

/// |a - b| / |b|
template <class T>
double distance(const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<double> difference(a.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    difference[i] = static_cast<double>(a[i]) - static_cast<double>(b[i]);
  return norm(difference) / norm(b);
}

}  // namespace wafervp::training
