// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "compression/power_sgd.h"
#include "training/kernel_cost.h"

namespace wafervp::training {

/// Of PowerSGD.
struct FactorConfig {
  std::size_t rank = 4;
  bool error_feedback = true;
  bool warm_start = true;
  std::uint64_t seed = 1;  ///< of the first Q; the same on all replicas
};

/// Which matrices of a flat gradient go as P and Q, and where these stand in the two buffers that are added
/// over replicas: first all P, and the matrices that go as they are; then all Q. A matrix goes as it is where
/// rank (rows + columns) elements are no fewer than its own: so does every vector.
class FactorLayout {
 public:
  struct Part {
    std::size_t rows = 0, columns = 0;
    std::size_t rank = 0;    ///< 0: as it is
    std::size_t offset = 0;  ///< in the flat gradient, elements
    std::size_t first = 0;   ///< of P, or the matrix, in the first buffer
    std::size_t second = 0;  ///< of Q in the second one
  };
  /// The matrices stand in the flat gradient one behind the other.
  FactorLayout(const std::vector<MatrixSize>& matrices, std::size_t rank);

  const std::vector<Part>& parts() const { return parts_; }
  /// Elements of the flat gradient and of the two buffers.
  std::size_t size() const { return size_; }
  std::size_t first_size() const { return first_size_; }
  std::size_t second_size() const { return second_size_; }

 private:
  std::vector<Part> parts_;
  std::size_t size_ = 0, first_size_ = 0, second_size_ = 0;
};

/// Of kFactorP, kFactorQ and kExpandFactors, for all matrices. Each goes once over the matrix: what is still
/// owed is added as it is read, and orth(P) is 2 rows r (r + 1) multiply-accumulate operations.
KernelCost factor_cost(const FactorLayout& layout, bool error_feedback, Kernel kernel,
                       std::size_t element_bytes);

/// PowerSGD of one replica's flat gradient. All replicas call in this order, and add what is in between:
///
///   factor_p -- sum of first --> factor_q -- sum of second --> expand
///
/// T: float or double.
template <class T>
class GradientFactors {
 public:
  GradientFactors(const FactorLayout& layout, const FactorConfig& config);

  /// `gradients`: size() elements; `first`: first_size() elements.
  void factor_p(const T* gradients, T* first);
  /// `first`: the sum over replicas; `second`: second_size() elements.
  void factor_q(const T* first, T* second);
  /// `second`: the sum over replicas; `gradients`: about the sum of all replicas' gradients.
  void expand(const T* first, const T* second, T* gradients);

 private:
  FactorLayout layout_;
  std::vector<std::unique_ptr<compression::PowerSgd<T>>> matrices_;  ///< by part; null: as it is
};

extern template class GradientFactors<float>;
extern template class GradientFactors<double>;

}  // namespace wafervp::training
