// SPDX-License-Identifier: Apache-2.0
#include "run/gradient_sums.h"

#include <cmath>

namespace wafervp {

GradientSumError GradientSums::error() const {
  GradientSumError error;
  error.count = count_;
  if (!(squares_ > 0)) return error;
  error.relative = std::sqrt(errors_ / squares_);
  error.between_replicas = std::sqrt(differences_ / squares_);
  double squares = 0, errors = 0;
  for (const auto& [stage, total] : totals_) {
    for (const double value : total.exact) squares += value * value;
    for (const double value : total.error) errors += value * value;
  }
  if (squares > 0) error.of_all_steps = std::sqrt(errors / squares);
  return error;
}

}  // namespace wafervp
