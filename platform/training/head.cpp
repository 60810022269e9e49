// SPDX-License-Identifier: Apache-2.0
#include "training/head.h"

#include "compression/gaussian.h"
#include "training/portable_math.h"

namespace wafervp::training {

template <class T>
void Head<T>::forward(const Matrix<T>& x, const std::vector<std::uint32_t>& targets,
                      HeadPass<T>& pass) const {
  normalise(x, pass.input);
  shape(pass.logit_gradient, x.rows, model_.vocabulary);
  multiply(pass.input.values, w_.weights, pass.logit_gradient);
  const double weight = 1.0 / static_cast<double>(model_.tokens_per_step());
  double total = 0;
  for (std::size_t row = 0; row < x.rows; ++row) {
    T* logits = pass.logit_gradient.row(row);
    T largest = logits[0];
    for (std::size_t j = 1; j < model_.vocabulary; ++j) largest = logits[j] > largest ? logits[j] : largest;
    const T wanted = logits[targets[row]];
    double sum = 0;
    for (std::size_t j = 0; j < model_.vocabulary; ++j) {
      const double e = portable_exp(static_cast<double>(logits[j] - largest));
      logits[j] = static_cast<T>(e);
      sum += e;
    }
    total += compression::portable_log(sum) - static_cast<double>(wanted - largest);
    const T factor = static_cast<T>(weight / sum);
    for (std::size_t j = 0; j < model_.vocabulary; ++j) logits[j] *= factor;
    logits[targets[row]] -= static_cast<T>(weight);
  }
  pass.loss = total / static_cast<double>(x.rows);
}

template <class T>
Matrix<T> Head<T>::backward(const HeadPass<T>& pass) {
  multiply(view(pass.input.values).transposed(), view(pass.logit_gradient), view(w_.gradient), Into::kAdd);
  Matrix<T> normal(pass.input.values.rows, model_.dimension);
  multiply(view(pass.logit_gradient), view(w_.weights).transposed(), view(normal), Into::kReplace);
  Matrix<T> result(normal.rows, normal.columns);
  normalise_backward(normal, pass.input, result);
  return result;
}

template class Head<float>;
template class Head<double>;

}  // namespace wafervp::training
