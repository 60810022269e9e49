// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "compression/subspace.h"
#include "training/model_config.h"
#include "training/products.h"

namespace wafervp::training {

/// U in the type of the model: d x k; empty for the unconstrained model.
template <class T>
struct Basis {
  Matrix<T> u;

  Basis() = default;
  explicit Basis(const compression::Subspace& subspace);
  /// x U, rows x k.
  Matrix<T> coefficients(const Matrix<T>& x) const;
  /// a U^T, rows x d.
  Matrix<T> expand(const Matrix<T>& a) const;
};

/// A trainable matrix with its gradient and the state of AdamW.
template <class T>
class Parameter {
 public:
  /// Zero. `basis`: null where the matrix is not constrained; outlives the parameter.
  Parameter(std::size_t rows, std::size_t columns, Stay stay, const Basis<T>* basis);

  Matrix<T> weights;   ///< what the model multiplies by
  Matrix<T> gradient;  ///< by `weights`, added up over backward passes

  bool constrained() const { return basis_ != nullptr; }
  /// Rows x columns, or rows x k where it is re-parametrised.
  std::size_t trained_columns() const { return first_.columns; }
  std::size_t trained_size() const { return first_.values.size(); }

  /// Projected onto S where it is constrained.
  void set_weights(const Matrix<T>& value);
  /// The gradient of what is trained, to trained_size() elements at `flat`.
  void finish_gradient(T* flat) const;
  /// Brings a gradient back to S after a sum that has lost precision: what is not in S could not be undone
  /// later.
  void project_gradient(T* flat) const;
  /// One step of AdamW with such a gradient; `index` from 0. Clears `gradient`.
  void step(const T* flat, const OptimizerConfig& optimizer, std::size_t index);
  /// The basis becomes `next` (rows of weights and momentum are projected onto it). The caller changes the
  /// basis itself afterwards.
  void change_basis(const Basis<T>& next);

 private:
  bool row_wise() const { return constrained() && stay_ == Stay::kRowWise; }
  bool reparametrised() const { return constrained() && stay_ == Stay::kReparametrised; }
  void project(const Basis<T>& basis, Matrix<T>& matrix) const;

  Stay stay_;
  const Basis<T>* basis_;
  Matrix<T> coefficients_;  ///< A; only where it is re-parametrised
  Matrix<T> first_;         ///< moments of AdamW; rows x 1 for the second one of kRowWise
  Matrix<T> second_;
};

extern template struct Basis<float>;
extern template struct Basis<double>;
extern template class Parameter<float>;
extern template class Parameter<double>;

}  // namespace wafervp::training
