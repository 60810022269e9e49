// SPDX-License-Identifier: Apache-2.0
#include "training/block.h"

#include <cmath>
#include <type_traits>

#include "training/portable_math.h"

namespace wafervp::training {
namespace {

/// Columns of one head in the rows of one sequence; `part`: 0 queries, 1 keys, 2 values of a matrix of rows x
/// 3 d (or the only one of a matrix of rows x d).
template <class M>
auto head_view(M& matrix, const ModelConfig& model, std::size_t sequence, std::size_t head,
               std::size_t part) {
  const std::size_t width = model.dimension / model.heads;
  auto* start = matrix.row(sequence * model.tokens) + part * model.dimension + head * width;
  return View<std::remove_pointer_t<decltype(start)>>(start, model.tokens, width, matrix.columns);
}

/// Softmax of the first `count` elements times `factor`, in place; zeros up to `size`.
template <class T>
void softmax(T* row, std::size_t count, std::size_t size, T factor) {
  T largest = row[0];
  for (std::size_t j = 1; j < count; ++j) largest = row[j] > largest ? row[j] : largest;
  T sum = 0;
  for (std::size_t j = 0; j < count; ++j) {
    row[j] = static_cast<T>(portable_exp(static_cast<double>((row[j] - largest) * factor)));
    sum += row[j];
  }
  for (std::size_t j = 0; j < count; ++j) row[j] /= sum;
  for (std::size_t j = count; j < size; ++j) row[j] = 0;
}

/// Gradient by the products of queries and keys from that by the probabilities, in place.
template <class T>
void softmax_backward(T* gradient, const T* probabilities, std::size_t count, std::size_t size, T factor) {
  T along = 0;
  for (std::size_t j = 0; j < count; ++j) along += gradient[j] * probabilities[j];
  for (std::size_t j = 0; j < count; ++j) gradient[j] = probabilities[j] * (gradient[j] - along) * factor;
  for (std::size_t j = count; j < size; ++j) gradient[j] = 0;
}

template <class T>
T score_factor(const ModelConfig& model) {
  return 1 / std::sqrt(static_cast<T>(model.dimension / model.heads));
}

}  // namespace

template <class T>
void Block<T>::forward(Matrix<T>& x, BlockPass<T>& pass, BlockScratch<T>& scratch) const {
  normalise(x, pass.attention_input);
  shape(pass.qkv, x.rows, 3 * model_.dimension);
  multiply(pass.attention_input.values, w_qkv_.weights, pass.qkv);
  attend(pass);
  multiply(pass.mixed, w_o_.weights, x, Into::kAdd);

  normalise(x, pass.feed_input);
  shape(pass.rectified, x.rows, model_.hidden);
  multiply(pass.feed_input.values, w_1_.weights, pass.rectified);
  Matrix<T>& squared = scratch.hidden;
  shape(squared, x.rows, model_.hidden);
  for (std::size_t i = 0; i < squared.values.size(); ++i) {
    T& z = pass.rectified.values[i];
    z = z > 0 ? z : 0;
    squared.values[i] = z * z;
  }
  multiply(squared, w_2_.weights, x, Into::kAdd);
}

template <class T>
void Block<T>::attend(BlockPass<T>& pass) const {
  const std::size_t n = model_.tokens;
  shape(pass.probabilities, model_.sequences * model_.heads * n, n);
  shape(pass.mixed, model_.rows(), model_.dimension);
  const Matrix<T>& qkv = pass.qkv;
  for (std::size_t sequence = 0; sequence < model_.sequences; ++sequence)
    for (std::size_t head = 0; head < model_.heads; ++head) {
      T* start = pass.probabilities.row((sequence * model_.heads + head) * n);
      View<T> scores(start, n, n, n);
      multiply(head_view(qkv, model_, sequence, head, 0),
               head_view(qkv, model_, sequence, head, 1).transposed(), scores, Into::kReplace);
      for (std::size_t i = 0; i < n; ++i) softmax(start + i * n, i + 1, n, score_factor<T>(model_));
      multiply(scores, head_view(qkv, model_, sequence, head, 2),
               head_view(pass.mixed, model_, sequence, head, 0), Into::kReplace);
    }
}

template <class T>
void Block<T>::backward(Matrix<T>& gradient, const BlockPass<T>& pass, BlockScratch<T>& scratch) {
  const std::size_t rows = gradient.rows;
  // Feed-forward part: a = relu(z), output a^2 W_2, so that da^2/dz = 2 a.
  Matrix<T>&hidden = scratch.hidden, &input = scratch.input;
  shape(hidden, rows, model_.hidden);
  shape(input, rows, model_.dimension);
  shape(scratch.mixed, rows, model_.dimension);
  for (std::size_t i = 0; i < hidden.values.size(); ++i)
    hidden.values[i] = pass.rectified.values[i] * pass.rectified.values[i];
  multiply(view(hidden).transposed(), view(gradient), view(w_2_.gradient), Into::kAdd);
  multiply(view(gradient), view(w_2_.weights).transposed(), view(hidden), Into::kReplace);
  for (std::size_t i = 0; i < hidden.values.size(); ++i) hidden.values[i] *= 2 * pass.rectified.values[i];
  multiply(view(pass.feed_input.values).transposed(), view(hidden), view(w_1_.gradient), Into::kAdd);
  multiply(view(hidden), view(w_1_.weights).transposed(), view(input), Into::kReplace);
  normalise_backward(input, pass.feed_input, gradient);

  multiply(view(pass.mixed).transposed(), view(gradient), view(w_o_.gradient), Into::kAdd);
  multiply(view(gradient), view(w_o_.weights).transposed(), view(scratch.mixed), Into::kReplace);
  attend_backward(pass, scratch);
  multiply(view(pass.attention_input.values).transposed(), view(scratch.qkv), view(w_qkv_.gradient),
           Into::kAdd);
  multiply(view(scratch.qkv), view(w_qkv_.weights).transposed(), view(input), Into::kReplace);
  normalise_backward(input, pass.attention_input, gradient);
}

template <class T>
void Block<T>::attend_backward(const BlockPass<T>& pass, BlockScratch<T>& scratch) const {
  const std::size_t n = model_.tokens;
  Matrix<T>&result = scratch.qkv, &scores = scratch.scores;
  shape(result, model_.rows(), 3 * model_.dimension);
  shape(scores, n, n);
  const Matrix<T>& qkv = pass.qkv;
  for (std::size_t sequence = 0; sequence < model_.sequences; ++sequence)
    for (std::size_t head = 0; head < model_.heads; ++head) {
      const T* start = pass.probabilities.row((sequence * model_.heads + head) * n);
      const View<const T> probabilities(start, n, n, n);
      const View<const T> out = head_view(scratch.mixed, model_, sequence, head, 0);
      multiply(out, head_view(qkv, model_, sequence, head, 2).transposed(), view(scores), Into::kReplace);
      multiply(probabilities.transposed(), out, head_view(result, model_, sequence, head, 2), Into::kReplace);
      for (std::size_t i = 0; i < n; ++i)
        softmax_backward(scores.row(i), start + i * n, i + 1, n, score_factor<T>(model_));
      const View<T> gradient = view(scores);
      multiply(gradient, head_view(qkv, model_, sequence, head, 1),
               head_view(result, model_, sequence, head, 0), Into::kReplace);
      multiply(gradient.transposed(), head_view(qkv, model_, sequence, head, 0),
               head_view(result, model_, sequence, head, 1), Into::kReplace);
    }
}

template class Block<float>;
template class Block<double>;

}  // namespace wafervp::training
