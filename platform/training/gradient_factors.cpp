// SPDX-License-Identifier: Apache-2.0
#include "training/gradient_factors.h"

#include <algorithm>

#include "core/split_mix.h"

namespace wafervp::training {

using compression::Matrix;

FactorLayout::FactorLayout(const std::vector<MatrixSize>& matrices, std::size_t rank) {
  for (const MatrixSize& matrix : matrices) {
    Part part;
    part.rows = matrix.rows;
    part.columns = matrix.columns;
    part.offset = size_;
    part.first = first_size_;
    part.second = second_size_;
    const std::size_t elements = matrix.rows * matrix.columns;
    const std::size_t used = std::min({rank, matrix.rows, matrix.columns});
    if (used * (matrix.rows + matrix.columns) < elements) part.rank = used;
    size_ += elements;
    first_size_ += part.rank ? matrix.rows * part.rank : elements;
    second_size_ += matrix.columns * part.rank;
    parts_.push_back(part);
  }
}

KernelCost factor_cost(const FactorLayout& layout, bool error_feedback, Kernel kernel,
                       std::size_t element_bytes) {
  KernelCost cost;
  for (const FactorLayout::Part& part : layout.parts()) {
    const std::uint64_t m = part.rows, n = part.columns, r = part.rank;
    const std::uint64_t matrix = m * n, p = m * r, q = n * r, product = 2 * m * n * r;
    if (r == 0) {
      // Into the first buffer, and back.
      if (kernel != Kernel::kFactorQ) cost.bytes += 2 * matrix;
      continue;
    }
    switch (kernel) {
      case Kernel::kFactorP:
        cost.flops += product + (error_feedback ? matrix : 0);
        cost.bytes += (error_feedback ? 3 : 1) * matrix + q + p;
        break;
      case Kernel::kFactorQ:
        cost.flops += 4 * p * (r + 1) + product;
        cost.bytes += matrix + 4 * p + p + q;  // orth(P) reads and writes P twice
        break;
      case Kernel::kExpandFactors:
        cost.flops += product + (error_feedback ? product + matrix : 0);
        cost.bytes += matrix + p + q + (error_feedback ? 2 * matrix + q : 0);
        break;
      default:
        break;
    }
  }
  cost.bytes *= element_bytes;
  return cost;
}

template <class T>
GradientFactors<T>::GradientFactors(const FactorLayout& layout, const FactorConfig& config)
    : layout_(layout) {
  std::uint64_t number = 0;
  for (const FactorLayout::Part& part : layout_.parts()) {
    matrices_.emplace_back();
    const std::uint64_t seed = SplitMix(config.seed + number++).next();
    if (part.rank == 0) continue;
    typename compression::PowerSgd<T>::Options options;
    options.rank = part.rank;
    options.error_feedback = config.error_feedback;
    options.warm_start = config.warm_start;
    options.seed = seed;
    matrices_.back() = std::make_unique<compression::PowerSgd<T>>(part.rows, part.columns, options);
  }
}

template <class T>
void GradientFactors<T>::factor_p(const T* gradients, T* first) {
  for (std::size_t i = 0; i < matrices_.size(); ++i) {
    const FactorLayout::Part& part = layout_.parts()[i];
    const T* from = gradients + part.offset;
    const std::size_t elements = part.rows * part.columns;
    if (matrices_[i] == nullptr) {
      std::copy(from, from + elements, first + part.first);
      continue;
    }
    const Matrix<T>& p = matrices_[i]->begin(from, elements);
    std::copy(p.values.begin(), p.values.end(), first + part.first);
  }
}

template <class T>
void GradientFactors<T>::factor_q(const T* first, T* second) {
  for (std::size_t i = 0; i < matrices_.size(); ++i) {
    if (matrices_[i] == nullptr) continue;
    const FactorLayout::Part& part = layout_.parts()[i];
    Matrix<T> p(part.rows, part.rank);
    std::copy(first + part.first, first + part.first + p.values.size(), p.values.begin());
    const Matrix<T>& q = matrices_[i]->middle(p);
    std::copy(q.values.begin(), q.values.end(), second + part.second);
  }
}

template <class T>
void GradientFactors<T>::expand(const T* first, const T* second, T* gradients) {
  for (std::size_t i = 0; i < matrices_.size(); ++i) {
    const FactorLayout::Part& part = layout_.parts()[i];
    T* to = gradients + part.offset;
    if (matrices_[i] == nullptr) {
      std::copy(first + part.first, first + part.first + part.rows * part.columns, to);
      continue;
    }
    Matrix<T> q(part.columns, part.rank);
    std::copy(second + part.second, second + part.second + q.values.size(), q.values.begin());
    const Matrix<T> answer = matrices_[i]->end(q);
    std::copy(answer.values.begin(), answer.values.end(), to);
  }
}

template class GradientFactors<float>;
template class GradientFactors<double>;

}  // namespace wafervp::training
