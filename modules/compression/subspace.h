// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "compression/matrix.h"

namespace wafervp::compression {

/// One version of U: d x k with orthonormal columns, shared by all stages of a pipeline. Never changes; an
/// update makes the next version, which is used when no message of the old one is on its way.
class Subspace {
 public:
  /// `u`: d x k. Throws CodecError kBadParameter unless 1 <= k <= d and the columns are orthonormal to 1e-9.
  Subspace(Matrix<double> u, std::uint64_t version);
  /// A seeded Gaussian matrix, orthonormalised: each stage can make it by itself. Version 1.
  static std::shared_ptr<const Subspace> random(std::size_t dimension, std::size_t rank, std::uint64_t seed);

  std::size_t dimension() const { return u_.rows; }
  std::size_t rank() const { return u_.columns; }
  std::uint64_t version() const { return version_; }
  const Matrix<double>& u() const { return u_; }
  /// What a broadcast of it carries, with elements of `element_bytes`.
  std::uint64_t broadcast_bytes(std::size_t element_bytes) const { return u_.values.size() * element_bytes; }

 private:
  Matrix<double> u_;
  std::uint64_t version_;
};

/// W <- W U U^T for the rows of `matrix` (columns: d). Throws kBadParameter for another width.
template <class T>
void project(const Subspace& subspace, Matrix<T>& matrix);

/// Sum of G^T G over gradients G (rows x d), and what of it lies outside a subspace.
class GradientEnergy {
 public:
  explicit GradientEnergy(std::size_t dimension) : sum_(dimension, dimension) {}
  /// Throws kBadParameter for another width.
  template <class T>
  void add(const Matrix<T>& gradient);
  const Matrix<double>& sum() const { return sum_; }
  /// tr((I - U U^T) C) / tr C, from 0 to 1; 0 while C is zero.
  double outside(const Subspace& subspace) const;

 private:
  Matrix<double> sum_;
};

/// One step of Riemannian gradient descent on the energy outside: R = (I - U U^T) C U, then
/// qf(U + step R / |R|), of the next version. U itself, of the next version, where R is zero.
std::shared_ptr<const Subspace> grassmann_step(const Subspace& subspace, const GradientEnergy& energy,
                                               double step);

/// What every stage knows and no link carries: F, one row a token, and PE, one row a position.
/// No positions (zero rows): models whose positions are not added to the residual stream.
struct FixedTables {
  Matrix<double> tokens;     ///< V x d
  Matrix<double> positions;  ///< n x d, or empty
};

}  // namespace wafervp::compression
