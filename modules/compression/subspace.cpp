// SPDX-License-Identifier: Apache-2.0
#include "compression/subspace.h"

#include <cmath>
#include <string>
#include <utility>

#include "compression/codec_error.h"
#include "compression/gaussian.h"
#include "compression/orthonormal.h"
#include "compression/product.h"

namespace wafervp::compression {
namespace {

constexpr double kOrthonormal = 1e-9;

[[noreturn]] void refuse(const std::string& text) {
  throw CodecError(Refusal::kBadParameter, "subspace", text);
}

void check_width(std::size_t expected, std::size_t found) {
  if (expected != found) {
    refuse("expected a matrix of " + std::to_string(expected) + " columns, found " + std::to_string(found));
  }
}

template <class T>
Matrix<T> as(const Matrix<double>& matrix) {
  Matrix<T> copy(matrix.rows, matrix.columns);
  for (std::size_t i = 0; i < copy.values.size(); ++i) copy.values[i] = static_cast<T>(matrix.values[i]);
  return copy;
}

Matrix<double> product(const Matrix<double>& a, const Matrix<double>& b) {
  Matrix<double> c(a.rows, b.columns);
  multiply(a.rows, a.columns, b.columns, a.values.data(), b.values.data(), c.values.data());
  return c;
}

/// a^T b
Matrix<double> inner_product(const Matrix<double>& a, const Matrix<double>& b) {
  Matrix<double> c(a.columns, b.columns);
  transposed_multiply(a.rows, a.columns, b.columns, a.values.data(), b.values.data(), c.values.data());
  return c;
}

double trace(const Matrix<double>& matrix) {
  double sum = 0;
  for (std::size_t i = 0; i < matrix.rows; ++i) sum += matrix.row(i)[i];
  return sum;
}

}  // namespace

Subspace::Subspace(Matrix<double> u, std::uint64_t version) : u_(std::move(u)), version_(version) {
  if (u_.columns < 1 || u_.columns > u_.rows || u_.values.size() != u_.rows * u_.columns) {
    refuse("expected U of d x k with 1 <= k <= d, found " + std::to_string(u_.rows) + " x " +
           std::to_string(u_.columns));
  }
  const Matrix<double> gram = inner_product(u_, u_);
  for (std::size_t i = 0; i < gram.rows; ++i) {
    for (std::size_t j = 0; j < gram.columns; ++j) {
      if (!(std::abs(gram.row(i)[j] - (i == j ? 1 : 0)) <= kOrthonormal)) {
        refuse("expected U with orthonormal columns, found a product of columns " + std::to_string(i) +
               " and " + std::to_string(j) + " of " + std::to_string(gram.row(i)[j]));
      }
    }
  }
}

std::shared_ptr<const Subspace> Subspace::random(std::size_t dimension, std::size_t rank,
                                                 std::uint64_t seed) {
  Matrix<double> u = gaussian_matrix(dimension, rank, seed);
  orthonormalise(u);
  return std::make_shared<const Subspace>(std::move(u), 1);
}

template <class T>
void project(const Subspace& subspace, Matrix<T>& matrix) {
  check_width(subspace.dimension(), matrix.columns);
  const Matrix<T> u = as<T>(subspace.u());
  Matrix<T> coefficients(matrix.rows, u.columns);
  multiply(matrix.rows, u.rows, u.columns, matrix.values.data(), u.values.data(), coefficients.values.data());
  multiply_transposed(matrix.rows, u.columns, u.rows, coefficients.values.data(), u.values.data(),
                      matrix.values.data());
}

template void project(const Subspace&, Matrix<float>&);
template void project(const Subspace&, Matrix<double>&);

template <class T>
void GradientEnergy::add(const Matrix<T>& gradient) {
  check_width(sum_.columns, gradient.columns);
  Matrix<double> wide(gradient.rows, gradient.columns);
  for (std::size_t i = 0; i < wide.values.size(); ++i) wide.values[i] = gradient.values[i];
  const Matrix<double> energy = inner_product(wide, wide);
  for (std::size_t i = 0; i < sum_.values.size(); ++i) sum_.values[i] += energy.values[i];
}

template void GradientEnergy::add(const Matrix<float>&);
template void GradientEnergy::add(const Matrix<double>&);

double GradientEnergy::outside(const Subspace& subspace) const {
  check_width(sum_.columns, subspace.dimension());
  const double all = trace(sum_);
  if (all == 0) return 0;
  // tr((I - U U^T) C) = tr C - tr(U^T C U)
  const double inside = trace(inner_product(subspace.u(), product(sum_, subspace.u())));
  return (all - inside) / all;
}

std::shared_ptr<const Subspace> grassmann_step(const Subspace& subspace, const GradientEnergy& energy,
                                               double step) {
  check_width(energy.sum().columns, subspace.dimension());
  const Matrix<double>& u = subspace.u();
  Matrix<double> direction = product(energy.sum(), u);
  const Matrix<double> along = product(u, inner_product(u, direction));
  double square = 0;
  for (std::size_t i = 0; i < direction.values.size(); ++i) {
    direction.values[i] -= along.values[i];
    square += direction.values[i] * direction.values[i];
  }
  Matrix<double> next = u;
  if (square > 0) {
    const double share = step / std::sqrt(square);
    for (std::size_t i = 0; i < next.values.size(); ++i) next.values[i] += share * direction.values[i];
    orthonormalise(next);
  }
  return std::make_shared<const Subspace>(std::move(next), subspace.version() + 1);
}

}  // namespace wafervp::compression
