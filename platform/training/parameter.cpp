// SPDX-License-Identifier: Apache-2.0
#include "training/parameter.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace wafervp::training {
namespace {

double power(double base, std::size_t exponent) {
  double result = 1;
  for (; exponent; exponent >>= 1, base *= base)
    if (exponent & 1) result *= base;
  return result;
}

/// The numbers of one step of AdamW, in the type of the weights.
template <class T>
struct Adam {
  T beta1, beta2, rate, decay, second_correction, epsilon;

  Adam(const OptimizerConfig& optimizer, std::size_t index)
      : beta1(static_cast<T>(optimizer.beta1)),
        beta2(static_cast<T>(optimizer.beta2)),
        rate(static_cast<T>(optimizer.rate_at(index) / (1 - power(optimizer.beta1, index + 1)))),
        decay(static_cast<T>(1 - optimizer.rate_at(index) * optimizer.weight_decay)),
        second_correction(static_cast<T>(1 / (1 - power(optimizer.beta2, index + 1)))),
        epsilon(static_cast<T>(optimizer.epsilon)) {}

  void mean(T& first, T gradient) const { first = beta1 * first + (1 - beta1) * gradient; }
  void square(T& second, T square) const { second = beta2 * second + (1 - beta2) * square; }
  T divisor(T second) const { return std::sqrt(second * second_correction) + epsilon; }
};

template <class T>
void element_wise_step(const Adam<T>& adam, const T* g, Matrix<T>& w, Matrix<T>& first, Matrix<T>& second) {
  for (std::size_t i = 0; i < w.values.size(); ++i) {
    adam.mean(first.values[i], g[i]);
    adam.square(second.values[i], g[i] * g[i]);
    w.values[i] = adam.decay * w.values[i] - adam.rate * first.values[i] / adam.divisor(second.values[i]);
  }
}

/// All elements of a row are divided by the same number, so that the step of a row is a multiple of its
/// momentum.
template <class T>
void row_wise_step(const Adam<T>& adam, const T* g, Matrix<T>& w, Matrix<T>& first, Matrix<T>& second) {
  for (std::size_t row = 0; row < w.rows; ++row, g += w.columns) {
    T squares = 0;
    for (std::size_t j = 0; j < w.columns; ++j) squares += g[j] * g[j];
    adam.square(second.values[row], squares / static_cast<T>(w.columns));
    const T factor = adam.rate / adam.divisor(second.values[row]);
    T* m = first.row(row);
    T* out = w.row(row);
    for (std::size_t j = 0; j < w.columns; ++j) {
      adam.mean(m[j], g[j]);
      out[j] = adam.decay * out[j] - factor * m[j];
    }
  }
}

}  // namespace

template <class T>
Basis<T>::Basis(const compression::Subspace& subspace) : u(subspace.dimension(), subspace.rank()) {
  std::transform(subspace.u().values.begin(), subspace.u().values.end(), u.values.begin(),
                 [](double value) { return static_cast<T>(value); });
}

template <class T>
Matrix<T> Basis<T>::coefficients(const Matrix<T>& x) const {
  Matrix<T> result(x.rows, u.columns);
  multiply(x, u, result);
  return result;
}

template <class T>
Matrix<T> Basis<T>::expand(const Matrix<T>& a) const {
  Matrix<T> result(a.rows, u.rows);
  multiply(view(a), view(u).transposed(), view(result), Into::kReplace);
  return result;
}

template <class T>
Parameter<T>::Parameter(std::size_t rows, std::size_t columns, Stay stay, const Basis<T>* basis)
    : weights(rows, columns), gradient(rows, columns), stay_(stay), basis_(basis) {
  const std::size_t trained = reparametrised() ? basis->u.columns : columns;
  first_ = Matrix<T>(rows, trained);
  second_ = Matrix<T>(rows, row_wise() ? 1 : trained);
}

template <class T>
void Parameter<T>::set_weights(const Matrix<T>& value) {
  weights = value;
  if (!constrained()) return;
  Matrix<T> inside = basis_->coefficients(value);
  weights = basis_->expand(inside);
  if (reparametrised()) coefficients_ = std::move(inside);
}

template <class T>
void Parameter<T>::finish_gradient(T* flat) const {
  if (!constrained()) {
    std::copy(gradient.values.begin(), gradient.values.end(), flat);
    return;
  }
  Matrix<T> result = basis_->coefficients(gradient);
  if (!reparametrised()) result = basis_->expand(result);
  std::copy(result.values.begin(), result.values.end(), flat);
}

template <class T>
void Parameter<T>::project_gradient(T* flat) const {
  if (!constrained() || reparametrised()) return;
  Matrix<T> result(weights.rows, weights.columns);
  std::copy(flat, flat + result.values.size(), result.values.begin());
  project(*basis_, result);
  std::copy(result.values.begin(), result.values.end(), flat);
}

template <class T>
void Parameter<T>::step(const T* flat, const OptimizerConfig& optimizer, std::size_t index) {
  const Adam<T> adam(optimizer, index);
  if (reparametrised()) {
    element_wise_step(adam, flat, coefficients_, first_, second_);
    weights = basis_->expand(coefficients_);
  } else if (row_wise()) {
    row_wise_step(adam, flat, weights, first_, second_);
    if (optimizer.project_every && (index + 1) % optimizer.project_every == 0) {
      project(*basis_, weights);
      project(*basis_, first_);
    }
  } else {
    element_wise_step(adam, flat, weights, first_, second_);
    if (constrained()) project(*basis_, weights);
  }
  std::fill(gradient.values.begin(), gradient.values.end(), T(0));
}

template <class T>
void Parameter<T>::change_basis(const Basis<T>& next) {
  if (!constrained()) return;
  if (!reparametrised()) {
    project(next, weights);
    project(next, first_);
    return;
  }
  Matrix<T> rotation(basis_->u.columns, next.u.columns);  // of coordinates: U^T U'
  multiply(view(basis_->u).transposed(), view(next.u), view(rotation), Into::kReplace);
  const auto rotate = [&rotation](Matrix<T>& matrix) {
    Matrix<T> result(matrix.rows, rotation.columns);
    multiply(matrix, rotation, result);
    matrix = std::move(result);
  };
  rotate(coefficients_);
  rotate(first_);
  // Variances of coordinates that are taken to be independent.
  for (T& value : rotation.values) value *= value;
  rotate(second_);
  weights = next.expand(coefficients_);
}

template <class T>
void Parameter<T>::project(const Basis<T>& basis, Matrix<T>& matrix) const {
  matrix = basis.expand(basis.coefficients(matrix));
}

template struct Basis<float>;
template struct Basis<double>;
template class Parameter<float>;
template class Parameter<double>;

}  // namespace wafervp::training
