// SPDX-License-Identifier: Apache-2.0
#include "compression/power_sgd.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "compression/codec_error.h"
#include "compression/gaussian.h"
#include "compression/orthonormal.h"
#include "compression/product.h"
#include "compression/values.h"

namespace wafervp::compression {
namespace {

template <class T>
bool finite(const Matrix<T>& matrix) {
  return std::all_of(matrix.values.begin(), matrix.values.end(),
                     [](T value) { return std::isfinite(value); });
}

template <class T>
void check_size(const char* what, const Matrix<T>& matrix, std::size_t rows, std::size_t columns) {
  if (matrix.rows == rows && matrix.columns == columns) return;
  throw CodecError(Refusal::kBadMessage, "low_rank",
                   std::string("expected ") + what + " of " + std::to_string(rows) + " x " +
                       std::to_string(columns) + ", found " + std::to_string(matrix.rows) + " x " +
                       std::to_string(matrix.columns));
}

/// To what the elements of the wire hold.
template <class T>
void round_to(Element element, Matrix<T>& matrix) {
  if (element_bytes(element) >= sizeof(T)) return;
  std::byte bytes[8];
  for (T& value : matrix.values) {
    narrow(element, &value, bytes, 1);
    widen(element, bytes, &value, 1);
  }
}

}  // namespace

template <class T>
PowerSgd<T>::PowerSgd(std::size_t rows, std::size_t columns, const Options& options)
    : options_(options),
      owed_(rows, columns),
      residual_(rows, columns),
      p_(rows, std::min({options.rank, rows, columns})),
      q_(columns, p_.columns),
      own_q_(columns, p_.columns),
      start_(columns, p_.columns) {
  if (options_.rank == 0) {
    throw CodecError(Refusal::kBadParameter, "low_rank", "expected rank: 1 or more, found 0");
  }
  const Matrix<double> start = gaussian_matrix(q_.rows, q_.columns, options_.seed);
  std::transform(start.values.begin(), start.values.end(), start_.values.begin(),
                 [](double value) { return static_cast<T>(value); });
  q_ = start_;
}

template <class T>
const Matrix<T>& PowerSgd<T>::begin(const T* matrix, std::size_t count) {
  if (count != owed_.values.size()) {
    throw CodecError(Refusal::kBadMessage, "low_rank",
                     "expected a matrix of " + std::to_string(owed_.values.size()) + " elements, found " +
                         std::to_string(count));
  }
  for (std::size_t i = 0; i < count; ++i) owed_.values[i] = matrix[i] + residual_.values[i];
  multiply(owed_.rows, owed_.columns, rank(), owed_.values.data(), q_.values.data(), p_.values.data());
  round_to(options_.wire, p_);
  return p_;
}

template <class T>
const Matrix<T>& PowerSgd<T>::middle(const Matrix<T>& p) {
  check_size("P", p, owed_.rows, rank());
  if (&p != &p_) p_ = p;
  orthonormalise(p_);
  transposed_multiply(owed_.rows, owed_.columns, rank(), owed_.values.data(), p_.values.data(),
                      own_q_.values.data());
  round_to(options_.wire, own_q_);
  return own_q_;
}

template <class T>
Matrix<T> PowerSgd<T>::end(const Matrix<T>& q) {
  check_size("Q", q, owed_.columns, rank());
  Matrix<T> answer(owed_.rows, owed_.columns);
  if (options_.error_feedback) {
    multiply_transposed(owed_.rows, rank(), owed_.columns, p_.values.data(), own_q_.values.data(),
                        answer.values.data());
    for (std::size_t i = 0; i < answer.values.size(); ++i) {
      residual_.values[i] = owed_.values[i] - answer.values[i];
    }
    if (!finite(residual_)) std::fill(residual_.values.begin(), residual_.values.end(), T(0));
  }
  multiply_transposed(owed_.rows, rank(), owed_.columns, p_.values.data(), q.values.data(),
                      answer.values.data());
  q_ = start_;
  if (options_.warm_start && finite(q)) keep_directions(q);
  return answer;
}

/// A direction that came back as zero would stay so: such a column keeps its first value.
template <class T>
void PowerSgd<T>::keep_directions(const Matrix<T>& q) {
  for (std::size_t j = 0; j < q.columns; ++j) {
    bool zero = true;
    for (std::size_t i = 0; i < q.rows; ++i) zero = zero && q.row(i)[j] == 0;
    for (std::size_t i = 0; i < q.rows && !zero; ++i) q_.row(i)[j] = q.row(i)[j];
  }
}

template class PowerSgd<float>;
template class PowerSgd<double>;

}  // namespace wafervp::compression
