// SPDX-License-Identifier: Apache-2.0
#include "scenario/table.h"

#define FIELD(member) \
  [](Scenario & scenario) -> auto& { return scenario.member; }
#define MESSAGE(member) \
  [](MessageSpec & message) -> auto& { return message.member; }

namespace wafervp {
namespace {

constexpr std::uint64_t kMaxNpu = 65535;
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 50;
constexpr double kMaxStart = 1e12;  // 1000 s

void describe_training(Table<Scenario>& table) {
  table.object("/workload/parallelism", "Ranks: rank = (dp * PP + pp) * MP + mp.");
  table.integer("/workload/parallelism/mp", "", 1, 1, 65536, "Model (tensor) parallel degree.",
                FIELD(workload.parallelism.mp));
  table
      .integer("/workload/parallelism/dp", "", Json(), 1, 65536, "Data parallel degree.",
               FIELD(workload.parallelism.dp))
      .default_note = "floor(npus / (mp * pp))";
  table.integer("/workload/parallelism/pp", "", 1, 1, 65536, "Pipeline parallel degree.",
                FIELD(workload.parallelism.pp));
  table.object("/workload/placement", "Which NPU each rank gets.");
  table.word(
      "/workload/placement/kind", "mp_pp_dp",
      "mp_pp_dp: consecutive NPUs, MP innermost; row_major: the same along the rows of a mesh; searched: "
      "fewest rings on the most loaded link; explicit: as `npus` says.",
      FIELD(workload.placement.kind));
  table.list("/workload/placement/npus", "NPU", kMaxNpu, "explicit: NPU of each rank.",
             FIELD(workload.placement.npus));
  table.integer("/workload/placement/seed", "", 1, 0, ~std::uint64_t{0}, "searched: seed of the search.",
                FIELD(workload.placement.seed));
  table.integer("/workload/placement/iterations", "", 20000, 0, 10000000, "searched: length of the search.",
                FIELD(workload.placement.iterations));
  table.object("/workload/compute", "Compute time of an NPU.");
  table.word("/workload/compute/mode", "physical",
             "physical: FLOPs of the model at the NPU's rate; fixed: `fixed_ns`.",
             FIELD(workload.compute.mode));
  table.number("/workload/compute/fixed_ns", "ns", 0, 0, 1e13,
               "fixed: compute time of one NPU in one step (its share of forward and backward).",
               FIELD(workload.compute.fixed_ns));
  table.object("/workload/transformer", "Sizes of the model of kind transformer.");
  std::vector<std::string> presets;
  for (const TransformerPreset& preset : transformer_presets()) presets.emplace_back(preset.name);
  presets.emplace_back("custom");
  table.name("/workload/transformer/preset", "transformer_17b", std::move(presets),
             "A known model, or custom; each size that is given beside it replaces the preset's.",
             FIELD(workload.transformer.preset));
  table
      .integer("/workload/transformer/layers", "layers", Json(), 1, 100000, "Layers; required for custom.",
               FIELD(workload.transformer.layers))
      .default_note = "of the preset";
  table
      .integer("/workload/transformer/hidden", "", Json(), 1, 10000000, "Hidden size; required for custom.",
               FIELD(workload.transformer.hidden))
      .default_note = "of the preset";
  table
      .integer("/workload/transformer/sequence", "tokens", Json(), 1, 100000000,
               "Sequence length; required for custom.", FIELD(workload.transformer.sequence))
      .default_note = "of the preset";
  Descriptor& parameters =
      table.number("/workload/transformer/parameters", "", Json(), 0, 1e18, "Parameters of the whole model.",
                   FIELD(workload.transformer.parameters));
  parameters.default_note = "of the preset; custom: 12 * layers * hidden^2";
  parameters.above_low = true;
  table.number("/workload/transformer/attention_flops_factor", "", 4, 0, 1000,
               "a in the forward FLOPs of a layer and token, 24 h^2 + a s h.",
               FIELD(workload.transformer.attention_flops_factor));
  table.word("/workload/weights", "stationary",
             "stationary: the NPUs keep the model; streaming (transformer): its layers come from off-wafer "
             "memory one after the other, and gradients go there.",
             FIELD(workload.weights));
  table.object("/workload/streaming", "weights streaming: how. A round is one layer on each pipeline stage.");
  table.integer(
      "/workload/streaming/prefetch", "rounds", 0, 0, 3,
      "Rounds of weights that are loaded ahead of the one that is computed; 0: one after the other.",
      FIELD(workload.streaming.prefetch));
  table.integer(
      "/workload/streaming/passes", "", 2, 2, 3,
      "Times that the model is loaded in a step: forward and backward; 3: in the backward pass twice, "
      "for the activations and for the gradients.",
      FIELD(workload.streaming.passes));
  table.word("/workload/streaming/write_back", "overlapped",
             "Gradients of a round go out beside the weights of the next one, or before they are asked for.",
             FIELD(workload.streaming.write_back));
  table.word("/workload/streaming/reach", "all",
             "all: each controller's tree reaches all NPUs with a rank, which keep their part, and add zeros "
             "to gradients that are not theirs; group: a tree for each set of data-parallel ranks.",
             FIELD(workload.streaming.reach));
  table.boolean("/workload/streaming/recompute", false,
                "Activations are computed again in the backward pass, and only layer inputs are kept.",
                FIELD(workload.streaming.recompute));
  table.integer(
      "/workload/samples_per_replica", "samples", 16, 1, 1048576,
      "Images (resnet152) or sequences (transformer, training) of one data-parallel replica in a step.",
      FIELD(workload.samples_per_replica));
  table.integer("/workload/microbatches", "", 1, 1, 65536,
                "Parts that a replica's samples are cut into; must divide samples_per_replica.",
                FIELD(workload.microbatches));
  table.word("/workload/schedule", "1f1b", "Pipeline schedule.", FIELD(workload.schedule));
  table.word("/workload/dp_sync", "all_reduce",
             "Gradients: one all-reduce, or reduce-scatter and all-gather of weights (ZeRO-2).",
             FIELD(workload.dp_sync));
  table.object("/workload/gradients", "How gradients of data-parallel replicas are added.");
  table.word("/workload/gradients/sum", "all_reduce",
             "all_reduce: as they are (through the codec of their traffic class, if it has one); power_sgd "
             "(transformer, training): each matrix as two factors, each with an all-reduce of its own "
             "(Vogels et al. 2019); what would not shrink goes as it is.",
             FIELD(workload.gradients.sum));
  table.integer("/workload/gradients/rank", "", 4, 1, 65536, "power_sgd: columns of a factor.",
                FIELD(workload.gradients.rank));
  table.boolean("/workload/gradients/error_feedback", true,
                "power_sgd: what a replica's factors missed is added to its next gradients.",
                FIELD(workload.gradients.error_feedback));
  table.boolean("/workload/gradients/warm_start", true,
                "power_sgd: a step begins with the second factor of the last one, else with random numbers.",
                FIELD(workload.gradients.warm_start));
  table.integer("/workload/iterations", "steps", 1, 1, 10000, "Training steps.", FIELD(workload.iterations));
}

void describe_collective(Table<Scenario>& table) {
  table.object(
      "/workload/collective",
      "kind collective: one collective, run by one or more groups at the same time. When it is absent and "
      "`messages` is not, only the messages run.");
  table.word("/workload/collective/operation", "all_reduce", "What is done.",
             FIELD(workload.collective.operation));
  table.word("/workload/collective/algorithm", "auto", "How; auto: as the firmware chooses.",
             FIELD(workload.collective.algorithm));
  table.integer(
      "/workload/collective/bytes", "bytes", 419430400, 0, kMaxBytes,
      "Whole buffer of one rank: vector of all_reduce and broadcast, input of reduce_scatter, output of "
      "all_gather, send buffer of all_to_all, the message of send.",
      FIELD(workload.collective.bytes));
  table.word("/workload/collective/type", "fp16", "Element type.", FIELD(workload.collective.type));
  table.integer("/workload/collective/chunks", "", 0, 0, 65536, "Chunks. 0: as the firmware says.",
                FIELD(workload.collective.chunks));
  table.integer("/workload/collective/active_chunks", "", 0, 0, 65536,
                "Chunks in flight together. 0: as the firmware says.",
                FIELD(workload.collective.active_chunks));
  table.integer("/workload/collective/repeats", "", 1, 1, 1000000, "How often, one after the other.",
                FIELD(workload.collective.repeats));
  table.name("/workload/collective/groups", "all", {"all", "mp", "dp", "pp"},
             "Groups that run it at the same time: all NPUs of the wafer as one, or those of the "
             "parallelism. pp with "
             "broadcast: one member to all of the next stage.",
             FIELD(workload.collective.groups));
  table.list("/workload/collective/ranks", "NPU", kMaxNpu,
             "One explicit group, as NPU numbers; empty: as `groups` says.",
             FIELD(workload.collective.ranks));
  table.integer("/workload/collective/root", "", 0, 0, kMaxNpu,
                "broadcast: index of the root in the group; send: sender, to index root + 1.",
                FIELD(workload.collective.root));
  table.number_map("/workload/collective/start_ns", KeyKind::kNpu, "ns", 0, kMaxStart,
                   "Late ranks: NPU number and when it enters.", FIELD(workload.collective.start_ns));
  table.list("/workload/collective/absent", "NPU", kMaxNpu,
             "NPUs that never enter, to see the deadlock report.", FIELD(workload.collective.absent));
  table.integer_map("/workload/collective/bytes_of", KeyKind::kNpu, "bytes", 0, kMaxBytes,
                    "NPUs that enter with another size, to see the report of it.",
                    FIELD(workload.collective.bytes_of));
}

void describe_messages(Table<Scenario>& table) {
  table.records<MessageSpec>(
      "/workload/messages", 65536, "kind collective: single messages that run beside each other.",
      FIELD(workload.messages), [](Table<MessageSpec> members) {
        members.integer("/from", "NPU", Json(), 0, kMaxNpu, "Sender.", MESSAGE(from)).required = true;
        members.integer("/to", "NPU", Json(), 0, kMaxNpu, "Receiver.", MESSAGE(to)).required = true;
        members.integer("/bytes", "bytes", Json(), 0, kMaxBytes, "Size.", MESSAGE(bytes)).required = true;
        members.number("/start_ns", "ns", 0, 0, kMaxStart, "When it is sent.", MESSAGE(start_ns));
      });
}

}  // namespace

void describe_workload(std::vector<Descriptor>& all) {
  Table<Scenario> table(all);
  table.object("/workload", "What runs on the wafer.").required = true;
  table.word("/workload/kind", Json(), "A training step, or a micro-benchmark.", FIELD(workload.kind))
      .required = true;
  describe_training(table);
  describe_functional_training(all);
  describe_collective(table);
  describe_messages(table);
}

}  // namespace wafervp
