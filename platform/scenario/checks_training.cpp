// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "scenario/checks.h"
#include "scenario/words.h"

namespace wafervp {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

}  // namespace

void Checks::gradients(const Scenario& scenario) {
  const WorkloadSpec& workload = scenario.workload;
  const std::string base = "/workload/gradients/";
  if (!validator_.sound({"/workload/gradients"})) return;
  if (workload.gradients.sum == GradientSum::kAllReduce) {
    const GradientSpec& unused = workload.gradients;
    for (const auto& [name, differs] :
         {std::pair("rank", unused.rank != 4), std::pair("error_feedback", !unused.error_feedback),
          std::pair("warm_start", !unused.warm_start)}) {
      if (differs) warn(base + name, "has no effect: " + base + "sum is all_reduce");
    }
    return;
  }
  const std::string found = "found power_sgd; ";
  if (workload.kind == WorkloadKind::kResnet152) {
    validator_.fault(base + "sum",
                     found +
                         "it factors the matrices of a model, of which /workload/kind resnet152 "
                         "has no sizes; it needs transformer or training");
  }
  if (workload.weights == WeightMode::kStreaming) {
    validator_.fault(base + "sum",
                     found +
                         "/workload/weights streaming adds gradients on their way to off-wafer memory, where "
                         "nobody makes them whole from factors; expected all_reduce");
  }
  if (workload.dp_sync == DpSync::kRsAg) {
    validator_.fault(base + "sum",
                     found +
                         "/workload/dp_sync rs_ag leaves each replica a part of the summed gradients, but "
                         "factors give all of them to all replicas, and each needs all of the first factor; "
                         "expected all_reduce");
  }
  if (validator_.sound({"/workload/parallelism"}) && workload.parallelism.dp == 1) {
    warn(base + "sum", "changes nothing: /workload/parallelism/dp is 1");
  }
}

void Checks::functional_training(const Scenario& scenario) {
  const WorkloadSpec& workload = scenario.workload;
  const TrainingSpec& spec = workload.training;
  const std::string base = "/workload/training/";
  if (workload.kind != WorkloadKind::kTraining || !validator_.sound({"/workload/training", "/detail/data"}))
    return;
  if (scenario.detail.data != DataMode::kValues) {
    validator_.fault("/detail/data",
                     "found none; /workload/kind training needs values, which it moves in its tensors");
  }
  if (spec.dimension % spec.heads != 0) {
    validator_.fault(base + "heads", "found " + number(spec.heads) + ", which does not divide " + base +
                                         "dimension " + number(spec.dimension));
  }
  if (spec.type != ElementType::kFp64 && spec.type != ElementType::kFp32) {
    validator_.fault(base + "type", "found " + std::string(to_word(spec.type)) + "; allowed: fp64, fp32");
  }
  if (spec.subspace_k > spec.dimension) {
    validator_.fault(base + "subspace_k", "found " + number(spec.subspace_k) + ", more than " + base +
                                              "dimension " + number(spec.dimension));
  }
  if (spec.update_every != 0 && spec.subspace_k == 0) {
    validator_.fault(base + "update_every", "found " + number(spec.update_every) + "; updates of U need " +
                                                base + "subspace_k, found 0: the unconstrained model");
  }
  if (spec.update_every != 0 && spec.stay == TrainingStay::kFree) {
    validator_.fault(base + "stay", "found free, in which no weights are in U; " + base + "update_every " +
                                        number(spec.update_every) +
                                        " needs row_wise, projected or reparametrised");
  }
  if (!validator_.sound({"/workload/parallelism"})) return;
  if (workload.parallelism.mp != 1) {
    validator_.fault("/workload/parallelism/mp", "found " + number(workload.parallelism.mp) +
                                                     "; a stage of /workload/kind training is one NPU");
  }
  if (workload.parallelism.pp > spec.blocks) {
    validator_.fault("/workload/parallelism/pp", "found " + number(workload.parallelism.pp) + " stages for " +
                                                     base + "blocks " + number(spec.blocks) +
                                                     "; each stage needs a block");
  }
  if (spec.update_every != 0 && workload.parallelism.pp < 2) {
    validator_.fault(base + "update_every", "found " + number(spec.update_every) +
                                                "; the next U is made from the gradients behind the last "
                                                "boundary, which needs /workload/parallelism/pp 2 or more");
  }
  if (spec.update_every == 0 && spec.update_step != 0.3) {
    warn(base + "update_step", "has no effect: " + base + "update_every is 0");
  }
}

}  // namespace wafervp
