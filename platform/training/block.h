// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "training/normalisation.h"
#include "training/parameter.h"

namespace wafervp::training {

/// What the backward pass of a block needs of its forward pass.
template <class T>
struct BlockPass {
  Normalised<T> attention_input;
  Matrix<T> qkv;            ///< rows x 3 d: queries, keys, values
  Matrix<T> probabilities;  ///< (sequences x heads x n) x n
  Matrix<T> mixed;          ///< rows x d: values mixed by the probabilities
  Normalised<T> feed_input;
  Matrix<T> rectified;  ///< rows x f: max(0, h W_1)
};

/// Memory of a call that all blocks of a stage share.
template <class T>
struct BlockScratch {
  Matrix<T> hidden, input, mixed, qkv, scores;
};

/// x + Attention(norm(x)) W_o, then that + relu(norm(.) W_1)^2 W_2.
template <class T>
class Block {
 public:
  /// w_qkv: d x 3 d; w_o: d x d; w_1: d x f; w_2: f x d.
  Block(const ModelConfig& model, Parameter<T>& w_qkv, Parameter<T>& w_o, Parameter<T>& w_1,
        Parameter<T>& w_2)
      : model_(model), w_qkv_(w_qkv), w_o_(w_o), w_1_(w_1), w_2_(w_2) {}

  /// `x`: rows x d, becomes the output.
  void forward(Matrix<T>& x, BlockPass<T>& pass, BlockScratch<T>& scratch) const;
  /// `gradient`: by the output, becomes that by the input; those of the weights are added to theirs.
  void backward(Matrix<T>& gradient, const BlockPass<T>& pass, BlockScratch<T>& scratch);

 private:
  void attend(BlockPass<T>& pass) const;
  /// From scratch.mixed to scratch.qkv.
  void attend_backward(const BlockPass<T>& pass, BlockScratch<T>& scratch) const;

  ModelConfig model_;
  Parameter<T>&w_qkv_, &w_o_, &w_1_, &w_2_;
};

extern template class Block<float>;
extern template class Block<double>;

}  // namespace wafervp::training
