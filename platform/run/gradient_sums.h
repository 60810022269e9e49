// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "results/results.h"

namespace wafervp {

/// Sums of gradients over replicas as the platform made them, against what they should be.
class GradientSums {
 public:
  explicit GradientSums(std::size_t replicas) : replicas_(replicas) {}

  /// A replica's own gradients of a stage and step, before they are added.
  template <class T>
  void add(std::size_t stage, std::size_t step, const std::vector<T>& own) {
    Sum& sum = sums_[{stage, step}];
    sum.exact.resize(own.size());
    for (std::size_t i = 0; i < own.size(); ++i) sum.exact[i] += static_cast<double>(own[i]);
  }

  /// What a replica takes for the sum; all have added theirs.
  template <class T>
  void compare(std::size_t stage, std::size_t step, const std::vector<T>& found) {
    const auto place = sums_.find({stage, step});
    Sum& sum = place->second;
    Total* total = sum.first.empty() ? &totals_[stage] : nullptr;
    if (total != nullptr) {
      sum.first.assign(found.begin(), found.end());
      total->exact.resize(found.size());
      total->error.resize(found.size());
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double value = static_cast<double>(found[i]), exact = sum.exact[i];
      squares_ += exact * exact;
      errors_ += (value - exact) * (value - exact);
      differences_ += (value - sum.first[i]) * (value - sum.first[i]);
      if (total == nullptr) continue;
      total->exact[i] += exact;
      total->error[i] += value - exact;
    }
    ++count_;
    if (++sum.compared == replicas_) sums_.erase(place);
  }

  GradientSumError error() const;

 private:
  struct Sum {
    std::vector<double> exact, first;  ///< first: as the first replica has it
    std::size_t compared = 0;
  };
  struct Total {
    std::vector<double> exact, error;  ///< over the steps so far
  };

  std::size_t replicas_;
  std::map<std::pair<std::size_t, std::size_t>, Sum> sums_;  ///< by stage and step, until all have compared
  std::map<std::size_t, Total> totals_;                      ///< by stage, of the replica that was first
  std::uint64_t count_ = 0;
  double squares_ = 0, errors_ = 0, differences_ = 0;
};

}  // namespace wafervp
