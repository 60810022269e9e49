// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "accelerator/accelerator.h"
#include "compression/compression_unit.h"
#include "results/results.h"
#include "scenario/scenario.h"
#include "wafer/wafer.h"
#include "workload/programs.h"

namespace wafervp {

/// The model of a run of kind training: computes what the kernels of the NPUs stand for, on the tensors that
/// lie in their device memories, and keeps the loss curve.
class TrainingHost : public KernelHost, public TokenSource {
 public:
  /// So far.
  virtual const TrainingResult& result() const = 0;
  /// What the sums of gradients over replicas lost so far.
  virtual GradientSumError gradient_sum() const = 0;
};

/// Null for workloads of other kinds.
std::unique_ptr<TrainingHost> make_training_host(const Scenario& scenario, const Workload& workload,
                                                 Wafer& wafer);

}  // namespace wafervp
