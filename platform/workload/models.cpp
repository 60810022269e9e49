// SPDX-License-Identifier: Apache-2.0
#include "workload/models.h"

#include "workload/errors.h"

namespace wafervp {

void check_transformer(const WorkloadSpec& workload, const TransformerSpec& model) {
  const ParallelismSpec& p = workload.parallelism;
  if (model.layers == 0 || model.hidden == 0 || model.sequence == 0 || !(model.parameters > 0)) {
    refuse("/workload/transformer", "expected layers, hidden, sequence and parameters above 0");
  }
  if (p.pp > model.layers) {
    refuse("/workload/parallelism/pp", "expected at most one stage a layer (" + std::to_string(model.layers) +
                                           "), found " + std::to_string(p.pp));
  }
  if (workload.microbatches == 0 || workload.samples_per_replica % workload.microbatches != 0) {
    refuse("/workload/microbatches", "expected a divisor of samples_per_replica (" +
                                         std::to_string(workload.samples_per_replica) + "), found " +
                                         std::to_string(workload.microbatches));
  }
  // 2^62: all sums of bytes and FLOPs stay exact enough and inside 64 bits.
  constexpr double kBeyond = 4.6e18;
  const double samples = workload.samples_per_replica;
  if (layer_flops_per_token(model) * model.layers * model.sequence * samples * 3 > kBeyond ||
      34.0 * samples * model.sequence * model.hidden * model.layers > kBeyond ||
      model.parameters * kOptimiserBytes > kBeyond) {
    refuse("/workload/transformer", "the model's FLOPs or bytes on one NPU are beyond 2^62");
  }
}

}  // namespace wafervp
