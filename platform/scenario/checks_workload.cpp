// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "scenario/checks.h"
#include "scenario/text.h"
#include "scenario/words.h"

namespace wafervp {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

/// The degrees cut down until they fit, the data parallel one first.
ParallelismSpec fitting(ParallelismSpec degrees, std::uint64_t npus) {
  const auto cut = [&](std::uint32_t& degree, std::uint64_t others) {
    degree = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(degree, std::max<std::uint64_t>(1, npus / others)));
  };
  cut(degrees.dp, std::uint64_t{degrees.mp} * degrees.pp);
  cut(degrees.pp, std::uint64_t{degrees.mp} * degrees.dp);
  cut(degrees.mp, std::uint64_t{degrees.pp} * degrees.dp);
  return degrees;
}

bool is_memory_operation(Operation operation) {
  return operation == Operation::kLoad || operation == Operation::kStore ||
         operation == Operation::kLoadAndStore;
}

std::string nearest_multiples(std::uint64_t value, std::uint64_t of) {
  const std::uint64_t below = value / of * of;
  return below == 0 ? number(of) : number(below) + ", " + number(below + of);
}

}  // namespace

void Checks::run(Scenario& scenario) {
  fill_defaults(scenario);
  fabric(scenario);
  firmware(scenario);
  if (!validator_.sound({"/workload/kind"})) return;
  parallelism(scenario);
  placement(scenario);
  training(scenario);
  collective(scenario);
  messages(scenario);
  compression(scenario);
}

void Checks::fill_defaults(Scenario& scenario) {
  WorkloadSpec& workload = scenario.workload;
  ParallelismSpec& degrees = workload.parallelism;
  if (!validator_.present("/workload/parallelism/dp")) {
    const std::uint64_t others = std::uint64_t{degrees.mp} * degrees.pp;
    degrees.dp = others == 0
                     ? 1
                     : static_cast<std::uint32_t>(std::max<std::uint64_t>(1, scenario.wafer.npus / others));
  }
  const bool is_collective = workload.kind == WorkloadKind::kCollective;
  workload.has_collective =
      is_collective && (validator_.present("/workload/collective") || workload.messages.empty());

  TransformerSpec& model = workload.transformer;
  const TransformerPreset* preset = nullptr;
  for (const TransformerPreset& known : transformer_presets()) {
    if (model.preset == known.name) preset = &known;
  }
  const bool is_needed = workload.kind == WorkloadKind::kTransformer;
  const auto fill = [&](const char* name, std::uint32_t& field, std::uint32_t value) {
    const std::string pointer = std::string("/workload/transformer/") + name;
    if (validator_.present(pointer)) return;
    field = value;
    if (preset == nullptr && is_needed && validator_.sound({"/workload/transformer/preset"})) {
      validator_.fault(
          "/workload/transformer",
          "required member " + quote(name) + " (integer) is missing: preset custom has no sizes of its own");
    }
  };
  fill("layers", model.layers, preset != nullptr ? preset->sizes.layers : 1);
  fill("hidden", model.hidden, preset != nullptr ? preset->sizes.hidden : 1);
  fill("sequence", model.sequence, preset != nullptr ? preset->sizes.sequence : 1);
  if (!validator_.present("/workload/transformer/parameters")) {
    // 12 h^2 weights a layer: 4 h^2 of the attention, 8 h^2 of the feed-forward part.
    model.parameters = preset != nullptr
                           ? preset->sizes.parameters
                           : 12.0 * model.layers * static_cast<double>(model.hidden) * model.hidden;
  }
}

void Checks::parallelism(const Scenario& scenario) {
  const ParallelismSpec& degrees = scenario.workload.parallelism;
  if (!validator_.sound({"/wafer/npus", "/workload/parallelism/mp", "/workload/parallelism/dp",
                         "/workload/parallelism/pp"})) {
    return;
  }
  const std::uint64_t product = std::uint64_t{degrees.mp} * degrees.dp * degrees.pp;
  if (product > scenario.wafer.npus) {
    const ParallelismSpec fit = fitting(degrees, scenario.wafer.npus);
    validator_.fault("/workload/parallelism",
                     "/workload/parallelism/mp " + number(degrees.mp) + " * /workload/parallelism/dp " +
                         number(degrees.dp) + " * /workload/parallelism/pp " + number(degrees.pp) + " = " +
                         number(product) + " ranks, but /wafer/npus is " + number(scenario.wafer.npus) +
                         "; a combination that fits: mp " + number(fit.mp) + ", dp " + number(fit.dp) +
                         ", pp " + number(fit.pp));
    return;
  }
  const WorkloadSpec& workload = scenario.workload;
  const bool by_degrees = workload.kind != WorkloadKind::kCollective ||
                          (workload.has_collective && workload.collective.ranks.empty());
  if (by_degrees && product < scenario.wafer.npus) {
    warn("/workload/parallelism", "mp " + number(degrees.mp) + " * dp " + number(degrees.dp) + " * pp " +
                                      number(degrees.pp) + " = " + number(product) +
                                      " ranks: " + number(scenario.wafer.npus - product) + " of " +
                                      number(scenario.wafer.npus) + " NPUs have no rank and stay idle");
  }
  if (scenario.workload.kind == WorkloadKind::kTransformer && validator_.sound({"/workload/transformer"}) &&
      degrees.pp > scenario.workload.transformer.layers) {
    validator_.fault("/workload/parallelism/pp",
                     "found " + number(degrees.pp) + " stages for /workload/transformer/layers " +
                         number(scenario.workload.transformer.layers) + "; each stage needs a layer");
  }
}

void Checks::placement(const Scenario& scenario) {
  const PlacementSpec& spec = scenario.workload.placement;
  const ParallelismSpec& degrees = scenario.workload.parallelism;
  const std::string list = "/workload/placement/npus";
  if (!validator_.sound({"/wafer/npus", "/workload/placement/kind", "/workload/placement/npus"})) return;
  if (spec.kind != PlacementKind::kExplicit) {
    if (!spec.npus.empty()) warn(list, "has no effect: /workload/placement/kind is not explicit");
    return;
  }
  if (!npu_list(scenario, spec.npus, list, "NPU") || !validator_.sound({"/workload/parallelism"})) return;
  const std::uint64_t ranks = std::uint64_t{degrees.mp} * degrees.dp * degrees.pp;
  if (spec.npus.size() != ranks) {
    validator_.fault(list, "found " + number(spec.npus.size()) +
                               " NPUs; explicit placement needs one for each of the " + number(ranks) +
                               " ranks (mp " + number(degrees.mp) + " * dp " + number(degrees.dp) + " * pp " +
                               number(degrees.pp) + ")");
  }
}

void Checks::training(const Scenario& scenario) {
  const WorkloadSpec& spec = scenario.workload;
  if (spec.kind == WorkloadKind::kCollective) return;
  if (validator_.sound({"/workload/samples_per_replica", "/workload/microbatches"})) {
    if (const std::uint32_t rest = spec.samples_per_replica % spec.microbatches; rest != 0) {
      validator_.fault(
          "/workload/samples_per_replica",
          "found " + number(spec.samples_per_replica) + ", which /workload/microbatches " +
              number(spec.microbatches) + " does not divide: remainder " + number(rest) +
              "; nearest that divide: " + nearest_multiples(spec.samples_per_replica, spec.microbatches));
    }
  }
  streaming(scenario);
  gradients(scenario);
  functional_training(scenario);
  if (validator_.sound({"/workload/compute"})) {
    const bool is_fixed = spec.compute.mode == ComputeMode::kFixed;
    if (is_fixed && spec.compute.fixed_ns == 0) {
      warn("/workload/compute/mode", "fixed, and /workload/compute/fixed_ns is 0: computing takes no time");
    } else if (!is_fixed && spec.compute.fixed_ns != 0) {
      warn("/workload/compute/fixed_ns", "has no effect: /workload/compute/mode is physical");
    }
  }
  if (!spec.messages.empty()) {
    validator_.fault("/workload/messages",
                     "need /workload/kind collective, found " + std::string(to_word(spec.kind)));
  }
}

void Checks::streaming(const Scenario& scenario) {
  const WorkloadSpec& spec = scenario.workload;
  if (spec.weights == WeightMode::kStationary) {
    const StreamingSpec& unused = spec.streaming;
    for (const auto& [name, differs] :
         {std::pair("prefetch", unused.prefetch != 0), std::pair("passes", unused.passes != 2),
          std::pair("write_back", unused.write_back != WriteBack::kOverlapped),
          std::pair("reach", unused.reach != StreamReach::kAll), std::pair("recompute", unused.recompute)}) {
      if (!differs) continue;
      warn(std::string("/workload/streaming/") + name, "has no effect: /workload/weights is not streaming");
    }
    return;
  }
  if (spec.kind != WorkloadKind::kTransformer) {
    validator_.fault("/workload/weights",
                     "streaming needs /workload/kind transformer, found " + std::string(to_word(spec.kind)));
    return;
  }
  needs_io(scenario, "/workload/weights", "streaming");
  if (spec.streaming.passes == 3 && !spec.streaming.recompute) {
    validator_.fault("/workload/streaming/passes",
                     "found 3: the third pass computes activations again, which needs "
                     "/workload/streaming/recompute true");
  }
}

void Checks::collective(const Scenario& scenario) {
  if (!scenario.workload.has_collective || !validator_.sound({"/workload/collective"})) return;
  if (validator_.sound({"/workload/collective/operation", "/workload/collective/algorithm"})) {
    collective_algorithm(scenario);
  }
  if (validator_.sound({"/workload/collective/operation", "/workload/collective/type"})) {
    collective_sizes(scenario);
  }
  if (validator_.sound({"/wafer/npus"})) collective_members(scenario);
  collective_without_effect(scenario);
}

void Checks::needs_io(const Scenario& scenario, const std::string& pointer, const std::string& what) {
  if (!validator_.sound({"/wafer/io/controllers"}) || scenario.wafer.io.controllers != 0) return;
  validator_.fault(pointer, what + " needs off-wafer memory, and /wafer/io/controllers is 0");
}

void Checks::collective_algorithm(const Scenario& scenario) {
  const CollectiveSpec& spec = scenario.workload.collective;
  if (is_memory_operation(spec.operation)) {
    needs_io(scenario, "/workload/collective/operation", to_word(spec.operation));
  }
  std::vector<std::string> allowed{"auto"};
  switch (spec.operation) {
    case Operation::kAllReduce:
      allowed.insert(allowed.end(), {"ring", "ring_both", "hierarchical", "tree", "in_switch", "best"});
      break;
    case Operation::kReduceScatter:
    case Operation::kAllGather:
      allowed.insert(allowed.end(), {"ring", "ring_both", "hierarchical", "in_switch", "best"});
      break;
    case Operation::kBroadcast:
      allowed.insert(allowed.end(), {"in_switch", "direct", "relay"});
      break;
    case Operation::kAllToAll:
      allowed.emplace_back("direct");
      break;
    case Operation::kBarrier:
      allowed.emplace_back("in_switch");
      break;
    case Operation::kLoad:
    case Operation::kStore:
    case Operation::kLoadAndStore:
      allowed.emplace_back("in_switch");  // by the trees of the I/O controllers, which every fabric has
      break;
    case Operation::kSend:
      break;
  }
  const std::string word = to_word(spec.algorithm);
  const std::string pointer = "/workload/collective/algorithm";
  if (std::find(allowed.begin(), allowed.end(), word) == allowed.end()) {
    validator_.fault(pointer, "found \"" + word + "\", which does not do /workload/collective/operation " +
                                  to_word(spec.operation) + "; allowed: " + join_words(allowed));
  } else if (!is_memory_operation(spec.operation) &&
             validator_.sound({"/wafer/fabric/kind", "/wafer/fabric/fred/in_network"})) {
    const std::string refusal = fabric_refusal(scenario, spec.algorithm);
    if (!refusal.empty()) validator_.fault(pointer, refusal);
  }
}

void Checks::collective_sizes(const Scenario& scenario) {
  const CollectiveSpec& spec = scenario.workload.collective;
  if (spec.operation == Operation::kBarrier) return;
  const std::uint64_t element = element_bytes(spec.type);
  const auto check = [&](const std::string& pointer, std::uint64_t bytes) {
    if (bytes % element != 0) {
      validator_.fault(pointer,
                       "found " + number(bytes) + ", not a whole number of /workload/collective/type " +
                           to_word(spec.type) + " elements of " + number(element) + " bytes: remainder " +
                           number(bytes % element) + "; nearest: " + nearest_multiples(bytes, element));
    }
  };
  if (validator_.sound({"/workload/collective/bytes"})) {
    check("/workload/collective/bytes", spec.bytes);
    if (spec.bytes == 0) {
      warn("/workload/collective/bytes",
           std::string(to_word(spec.operation)) + " of 0 bytes: it ends when it starts and sends nothing");
    }
  }
  if (validator_.sound({"/workload/collective/bytes_of"})) {
    for (const auto& [npu, bytes] : spec.bytes_of) check("/workload/collective/bytes_of/" + npu, bytes);
  }
}

void Checks::collective_without_effect(const Scenario& scenario) {
  const CollectiveSpec& spec = scenario.workload.collective;
  const std::string base = "/workload/collective/";
  const std::uint64_t elements = spec.bytes / element_bytes(spec.type);
  if (spec.operation == Operation::kBarrier) return;
  if (elements > 0 && spec.chunks > elements) {
    warn(base + "chunks",
         "found " + number(spec.chunks) + " for " + number(elements) + " elements: an element is not cut");
  }
  if (spec.chunks > 0 && spec.active_chunks > spec.chunks) {
    warn(base + "active_chunks",
         "found " + number(spec.active_chunks) + " of " + number(spec.chunks) + " chunks: all are in flight");
  }
  if (spec.root != 0 && spec.operation != Operation::kBroadcast && spec.operation != Operation::kSend) {
    warn(base + "root", std::string("has no effect: ") + to_word(spec.operation) + " has no root");
  }
  if (!spec.ranks.empty() && spec.groups != "all") {
    warn(base + "groups", "has no effect: /workload/collective/ranks names the group");
  }
}

void Checks::collective_members(const Scenario& scenario) {
  const CollectiveSpec& spec = scenario.workload.collective;
  const std::string base = "/workload/collective/";
  const std::uint32_t npus = scenario.wafer.npus;
  if (!validator_.sound({"/workload/collective/ranks"}) ||
      !npu_list(scenario, spec.ranks, base + "ranks", "rank")) {
    return;
  }
  const bool is_explicit = !spec.ranks.empty();
  const auto check_npu = [&](const std::string& pointer, std::uint32_t npu) {
    if (npu >= npus) {
      validator_.fault(pointer, "found " + number(npu) + "; the wafer has NPUs 0.." + number(npus - 1));
    } else if (is_explicit && std::find(spec.ranks.begin(), spec.ranks.end(), npu) == spec.ranks.end()) {
      validator_.fault(pointer, "NPU " + number(npu) + " is not in " + base + "ranks");
    }
  };
  if (validator_.sound({"/workload/collective/absent"}) &&
      npu_list(scenario, spec.absent, base + "absent", "NPU")) {
    for (std::size_t i = 0; i < spec.absent.size(); ++i)
      check_npu(base + "absent/" + number(i), spec.absent[i]);
  }
  if (validator_.sound({"/workload/collective/start_ns"})) {
    for (const auto& item : spec.start_ns) {
      check_npu(base + "start_ns/" + item.first, static_cast<std::uint32_t>(std::stoul(item.first)));
    }
  }
  if (validator_.sound({"/workload/collective/bytes_of"})) {
    for (const auto& item : spec.bytes_of) {
      check_npu(base + "bytes_of/" + item.first, static_cast<std::uint32_t>(std::stoul(item.first)));
    }
  }
  if (!validator_.sound({"/workload/collective/root", "/workload/collective/groups",
                         "/workload/collective/operation", "/workload/parallelism"})) {
    return;
  }
  const ParallelismSpec& degrees = scenario.workload.parallelism;
  const bool is_send = spec.operation == Operation::kSend;
  const bool is_broadcast = spec.operation == Operation::kBroadcast;
  std::uint64_t size = npus;
  if (is_explicit) {
    size = spec.ranks.size();
  } else if (spec.groups == "mp") {
    size = degrees.mp;
  } else if (spec.groups == "dp") {
    size = degrees.dp;
  } else if (spec.groups == "pp") {
    // A hand-over between stages goes from one member to all of the next stage.
    size = is_broadcast ? std::uint64_t{degrees.mp} + 1 : degrees.pp;
  }
  const std::uint64_t last = is_send ? spec.root + std::uint64_t{1} : spec.root;
  if ((is_send || is_broadcast) && last >= size) {
    validator_.fault(
        base + "root",
        "found " + number(spec.root) + (is_send ? " (sender, to index root + 1)" : "") + "; the group has " +
            number(size) + " members" +
            (is_send && size < 2 ? ", send needs two" : ", allowed 0.." + number(size - (is_send ? 2 : 1))));
  }
}

void Checks::messages(const Scenario& scenario) {
  if (!validator_.sound({"/wafer/npus", "/workload/messages"})) return;
  const auto& list = scenario.workload.messages;
  const std::uint32_t npus = scenario.wafer.npus;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string at = "/workload/messages/" + number(i);
    for (const auto& [name, npu] : {std::pair("/from", list[i].from), std::pair("/to", list[i].to)}) {
      if (npu >= npus) {
        validator_.fault(at + name, "found " + number(npu) + "; the wafer has NPUs 0.." + number(npus - 1));
      }
    }
    if (list[i].from == list[i].to) {
      validator_.fault(at, "message joins NPU " + number(list[i].from) + " to itself");
    }
    if (list[i].bytes == 0)
      warn(at + "/bytes", "message of 0 bytes: an empty packet, which takes the latency only");
  }
}

}  // namespace wafervp
