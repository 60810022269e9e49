// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "compression/matrix.h"

namespace wafervp::compression {

/// Low-rank approximation of a stream of matrices M (m x n) as a protocol of two rounds (PowerSGD, Vogels et
/// al. 2019), so that P and then Q can be summed over replicas on their way:
///
///   begin(M) -> P = (M + residual) Q    -- sum of all P -->
///   middle(P) -> Q = M^T orth(P)        -- sum of all Q -->
///   end(Q) -> orth(P) Q^T, about the sum of all M
///
/// Every replica must be made with the same seed. Q starts a step where it ended the last (warm start); what
/// a replica's own share of the answer missed is added to its next matrix (error feedback). T: float or
/// double. NaN and infinity spread over the whole answer, and the memory starts anew behind them.
template <class T>
class PowerSgd {
 public:
  struct Options {
    std::size_t rank = 4;  ///< at most min(m, n) is used
    bool error_feedback = true;
    bool warm_start = true;
    std::uint64_t seed = 1;
  };

  /// Throws CodecError kBadParameter for rank 0.
  PowerSgd(std::size_t rows, std::size_t columns, const Options& options);

  std::size_t rank() const { return q_.columns; }
  /// P: rows x rank. `matrix`: rows x columns; throws kBadMessage otherwise.
  const Matrix<T>& begin(const T* matrix, std::size_t count);
  /// Q of this replica: columns x rank. `p`: sum (or mean) of the P of all replicas, which is orthonormalised
  /// here.
  const Matrix<T>& middle(const Matrix<T>& p);
  /// rows x columns. `q`: sum (or mean) of the Q of all replicas.
  Matrix<T> end(const Matrix<T>& q);
  /// What is still owed: rows x columns, zeros without error feedback.
  const Matrix<T>& residual() const { return residual_; }
  /// orth(P) of this step, valid after middle().
  const Matrix<T>& basis() const { return p_; }

 private:
  void restart();

  Options options_;
  Matrix<T> owed_;      // matrix and residual of this step
  Matrix<T> residual_;  // of the last step
  Matrix<T> p_, q_, own_q_;
};

}  // namespace wafervp::compression
