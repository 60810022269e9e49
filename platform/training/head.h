// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "training/normalisation.h"
#include "training/parameter.h"

namespace wafervp::training {

template <class T>
struct HeadPass {
  Normalised<T> input;
  Matrix<T> logit_gradient;  ///< rows x V, of the mean loss of the step
  double loss = 0;           ///< mean of the microbatch, nats
};

/// LM head and loss: cross entropy of softmax(norm(x) W).
template <class T>
class Head {
 public:
  /// w: d x V.
  Head(const ModelConfig& model, Parameter<T>& w) : model_(model), w_(w) {}
  void forward(const Matrix<T>& x, const std::vector<std::uint32_t>& targets, HeadPass<T>& pass) const;
  /// Gradient by x.
  Matrix<T> backward(const HeadPass<T>& pass);

 private:
  ModelConfig model_;
  Parameter<T>& w_;
};

extern template class Head<float>;
extern template class Head<double>;

}  // namespace wafervp::training
