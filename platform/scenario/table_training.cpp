// SPDX-License-Identifier: Apache-2.0
#include "scenario/table.h"

#define FIELD(member) \
  [](Scenario & scenario) -> auto& { return scenario.workload.training.member; }

namespace wafervp {

void describe_functional_training(std::vector<Descriptor>& all) {
  Table<Scenario> table(all);
  table.object(
      "/workload/training",
      "kind training: a small decoder transformer that is really trained, `iterations` steps of it. Its "
      "stages are those of the parallelism, each with one block or more; samples_per_replica are "
      "sequences.");
  table.integer("/workload/training/dimension", "", 64, 1, 4096, "Width of the residual stream.",
                FIELD(dimension));
  table.integer("/workload/training/heads", "", 4, 1, 256, "Heads of the attention; must divide the width.",
                FIELD(heads));
  table.integer("/workload/training/hidden", "", 256, 1, 65536, "Width of the feed-forward part.",
                FIELD(hidden));
  table.integer("/workload/training/vocabulary", "tokens", 64, 4, 65536,
                "Tokens that there are, with data chain, each of which has four successors.",
                FIELD(vocabulary));
  table.integer("/workload/training/sequence", "tokens", 32, 2, 4096, "Length of a sequence.",
                FIELD(sequence));
  table.integer("/workload/training/blocks", "", 4, 1, 256, "Blocks, spread over the stages.", FIELD(blocks));
  table.word(
      "/workload/training/data", "chain",
      "chain: a synthetic chain of second order, whose entropy is known; text: the characters of a short "
      "text that comes with the program.",
      FIELD(data));
  table.word("/workload/training/type", "fp64", "Arithmetic: fp64 or fp32.", FIELD(type));
  table.integer("/workload/training/subspace_k", "", 0, 0, 4096,
                "Dimensions of the subspace that the residual stream is kept in (arXiv 2506.01260); 0: the "
                "unconstrained model.",
                FIELD(subspace_k));
  table.word(
      "/workload/training/stay", "row_wise",
      "What keeps the constrained weights in the subspace. row_wise: AdamW with one second moment a row; "
      "projected: AdamW, then a projection; reparametrised: their coefficients are what is trained; free: "
      "nothing does, the model is unconstrained, and a subspace codec drops what lies outside.",
      FIELD(stay));
  table.integer("/workload/training/project_every", "steps", 0, 0, 1000000,
                "row_wise: steps between projections that remove rounding; 0: none.", FIELD(project_every));
  table.number("/workload/training/learning_rate", "", 0.003, 0, 10,
               "After the warm-up; it falls to 0 with the last step.", FIELD(learning_rate));
  table.integer("/workload/training/warm_up", "steps", 50, 0, 1000000,
                "Steps in which the learning rate rises.", FIELD(warm_up));
  table.number("/workload/training/weight_decay", "", 0.01, 0, 10, "Of AdamW.", FIELD(weight_decay));
  table.integer(
      "/workload/training/update_every", "steps", 0, 0, 1000000,
      "Steps between updates of the subspace: the last stage makes the next U from its gradients and "
      "broadcasts it, uncompressed, while no microbatch is under way; 0: it stays as it is.",
      FIELD(update_every));
  table
      .number("/workload/training/update_step", "", 0.3, 0, 10,
              "How far an update turns U towards the gradients outside of it.", FIELD(update_step))
      .above_low = true;
}

}  // namespace wafervp
