// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "workload/algorithms.h"
#include "workload/communicators.h"
#include "workload/errors.h"
#include "workload/models.h"
#include "workload/stream_paces.h"
#include "workload/workload_kinds.h"

namespace wafervp {
namespace {

// Slots of an NPU's operations in flight, and of an I/O controller's.
constexpr unsigned kModelSlot = 0;
constexpr unsigned kReceiveSlot = 1;
constexpr unsigned kFirstSendSlot = 2;
constexpr unsigned kSendSlots = 4;
constexpr unsigned kFirstStoreSlot = kFirstSendSlot + kSendSlots;
constexpr unsigned kStoreSlots = 2;
constexpr unsigned kFirstLoadSlot = kFirstStoreSlot + kStoreSlots;
constexpr unsigned kLoadSlots = 4;
constexpr unsigned kFirstRequestSlot = kFirstLoadSlot + kLoadSlots;
static_assert(kFirstRequestSlot + kLoadSlots == WVP_SLOTS);

/// A request for weights is a control packet to each controller, and leave to store gradients one from each
/// (arXiv 2406.19580: 512 bytes).
constexpr std::uint64_t kControlBytes = 512;

/// One time that a round's weights come in, and what is done with them.
struct Load {
  bool backward;  ///< of the backward pass
  std::uint32_t round;
  bool forward_pass;  ///< activations, for the first time or again
  bool gradients;
};

/// What the ranks have in common.
struct Plan {
  const Scenario& scenario;
  const Topology& topology;
  const TransformerSpec& model;
  std::uint64_t activation_bytes;  // b s h 2: of an all_reduce of MP and of a hand-over of PP
  double layer_flops;              // forward, of one layer and microbatch on one NPU
  std::uint64_t layer_bytes;       // weights of a whole layer
  std::uint32_t rounds;
  std::vector<Load> loads;  // of one step, in order
  CommunicatorSet communicators;
  // First index of each family. Chains: by replica, then by sending stage. Streams: one, or one for each
  // stage and MP rank.
  std::uint16_t model_groups = 0, forward_chains = 0, backward_chains = 0;
  std::uint16_t forward_streams = 0, backward_streams = 0, gradient_streams = 0;

  const ParallelismSpec& parallelism() const { return scenario.workload.parallelism; }
  const StreamingSpec& streaming() const { return scenario.workload.streaming; }
  bool to_all() const { return streaming().reach == StreamReach::kAll; }
  std::uint32_t streams() const { return to_all() ? 1 : parallelism().pp * parallelism().mp; }
  /// Of the k-th request.
  const Load& load_or_last(std::size_t k) const { return loads[std::min(k, loads.size() - 1)]; }
  bool has_layer(std::uint32_t round, std::uint32_t stage) const {
    return round * parallelism().pp + stage < model.layers;
  }
  /// Of a round, by one stream; stage and MP rank matter where each has its own.
  std::uint64_t stream_bytes(std::uint32_t round, std::uint32_t stream) const {
    const ParallelismSpec& p = parallelism();
    if (to_all()) return layer_bytes * std::min(p.pp, model.layers - round * p.pp);
    return has_layer(round, stream / p.mp) ? shard_bytes() : 0;
  }
  /// Weights of a layer on one NPU.
  std::uint64_t shard_bytes() const {
    const std::uint64_t parameters = layer_bytes / kWeightBytes, mp = parallelism().mp;
    return (parameters + mp - 1) / mp * kWeightBytes;
  }
};

std::vector<Load> loads_of(const StreamingSpec& streaming, std::uint32_t rounds) {
  std::vector<Load> loads;
  for (std::uint32_t r = 0; r < rounds; ++r) loads.push_back({false, r, true, false});
  for (std::uint32_t r = rounds; r-- > 0;) {
    if (streaming.passes == 3) loads.push_back({true, r, true, false});
    loads.push_back({true, r, streaming.recompute && streaming.passes != 3, true});
  }
  return loads;
}

std::string place_name(const char* what, std::uint32_t dp, std::uint32_t from, std::uint32_t to) {
  return std::string(what) + "[dp=" + std::to_string(dp) + ",stage=" + std::to_string(from) + "->" +
         std::to_string(to) + "]";
}

void add_communicators(Plan& plan, const Placement& placement) {
  const ParallelismSpec& p = plan.parallelism();
  const auto npu = [&](std::uint32_t dp, std::uint32_t stage, std::uint32_t mp) {
    return placement.npu_of_rank[(dp * p.pp + stage) * p.mp + mp];
  };
  std::vector<GroupName> model, forward, backward, streams;
  const auto model_members = groups(p, placement, GroupKind::kMp);
  for (std::uint32_t i = 0; i < model_members.size() && p.mp > 1; ++i) {
    model.push_back(
        {"mp[dp=" + std::to_string(i / p.pp) + ",pp=" + std::to_string(i % p.pp) + "]", model_members[i]});
  }
  for (std::uint32_t dp = 0; dp < p.dp && p.pp > 1; ++dp) {
    for (std::uint32_t stage = 0; stage < p.pp; ++stage) {
      const auto chain = [&](std::uint32_t to) {
        GroupName group{place_name("pp", dp, stage, to), {npu(dp, stage, 0)}};
        for (std::uint32_t mp = 0; mp < p.mp; ++mp) group.members.push_back(npu(dp, to, mp));
        return group;
      };
      forward.push_back(chain((stage + 1) % p.pp));
      backward.push_back(chain((stage + p.pp - 1) % p.pp));
    }
  }
  if (plan.to_all()) {
    streams.push_back({"memory", placement.npu_of_rank});
  } else {
    for (std::uint32_t i = 0; i < plan.streams(); ++i) {
      GroupName group{"memory[pp=" + std::to_string(i / p.mp) + ",mp=" + std::to_string(i % p.mp) + "]", {}};
      for (std::uint32_t dp = 0; dp < p.dp; ++dp) group.members.push_back(npu(dp, i / p.mp, i % p.mp));
      streams.push_back(std::move(group));
    }
  }
  plan.model_groups =
      plan.communicators.add(TrafficKind::kMp, model, plan.scenario.wafer.firmware.all_reduce);
  plan.forward_chains =
      plan.communicators.add(TrafficKind::kPp, forward, Algorithm::kAuto, "pp forward", WVP_TENSOR_FORWARD);
  plan.backward_chains = plan.communicators.add(TrafficKind::kPp, backward, Algorithm::kAuto, "pp backward",
                                                WVP_TENSOR_BACKWARD);
  const StreamPaces paces = stream_paces(plan.scenario, plan.topology, streams);
  const bool overlap = plan.streaming().write_back == WriteBack::kOverlapped;
  const auto add = [&](const char* name, std::uint64_t pace) {
    std::vector<GroupName> named = streams;
    for (GroupName& group : named) group.name = name + ("/" + group.name);
    return plan.communicators.add_memory(named, pace);
  };
  plan.forward_streams = add("weights_forward", paces.load);
  plan.backward_streams = add("weights_backward", overlap ? paces.both : paces.load);
  plan.gradient_streams = add("gradients", overlap ? paces.both : paces.store);
}

/// A load or store of a stream.
wvp_command memory_operation(const Plan& plan, Operation operation, std::uint16_t comm, unsigned slot,
                             std::uint64_t bytes, std::uint64_t address) {
  wvp_command command =
      make_operation(plan.topology, operation, {}, plan.communicators[comm], comm, bytes, ElementType::kFp16);
  command.slot = static_cast<std::uint8_t>(slot);
  command.dst = address;
  return command;
}
wvp_command control(const Plan& plan, Operation operation, std::uint16_t comm, unsigned slot,
                    std::uint64_t address) {
  wvp_command command =
      memory_operation(plan, operation, comm, slot, kControlBytes * plan.topology.io.size(), address);
  command.traffic_class = WVP_CLASS_CONTROL;
  return command;
}

/// Writes the program of one rank.
class RankWriter {
 public:
  RankWriter(const Plan& plan, std::uint32_t dp, std::uint32_t stage, std::uint32_t mp,
             ProgramBuilder& program)
      : plan_(plan),
        p_(plan.parallelism()),
        workload_(plan.scenario.workload),
        dp_(dp),
        stage_(stage),
        mp_(mp),
        stream_(plan.to_all() ? 0 : stage * plan.parallelism().mp + mp),
        program_(program) {
    std::uint64_t most = 0;
    for (std::uint32_t r = 0; r < plan_.rounds; ++r) most = std::max(most, plan_.stream_bytes(r, stream_));
    for (std::uint64_t& address : weights_) address = program_.allocate(most);
    for (std::uint64_t& address : gradients_) address = program_.allocate(most);
    requests_ = program_.allocate(kControlBytes * plan_.topology.io.size());
    if (p_.mp > 1) layer_output_ = program_.allocate(plan_.activation_bytes);
    if (p_.pp == 1) return;
    for (std::uint64_t& address : received_) address = program_.allocate(plan_.activation_bytes);
    for (std::uint64_t& address : sent_) address = program_.allocate(plan_.activation_bytes);
  }

  void step() {
    asked_ = 0;
    stores_ = sends_ = 0;
    for (std::uint32_t k = 0; k <= plan_.streaming().prefetch; ++k) ask();
    bool backward = false;
    const Load* waiting = nullptr;
    start_pass(false);
    for (std::uint32_t k = 0; k < plan_.loads.size(); ++k) {
      const Load& load = plan_.loads[k];
      if (load.backward && !backward) start_pass(backward = true);
      if (bytes(load) != 0) program_.wait(kFirstLoadSlot + k % kLoadSlots);
      use(load);
      if (plan_.streaming().prefetch == 0) await_sends();  // one after the other
      ask();
      // Nobody stores before all are there, or packets would wait in the wafer's buffers. Rounds that overlap
      // do not wait for that: their gradients go a round later.
      const Load* ready = load.gradients ? &load : nullptr;
      if (plan_.streaming().prefetch > 0) std::swap(ready, waiting);
      if (ready != nullptr) store(*ready);
    }
    if (waiting != nullptr) store(*waiting);
    for (unsigned i = 0; i < std::min(stores_, kStoreSlots); ++i) program_.wait(kFirstStoreSlot + i);
    await_sends();
    for (unsigned i = 0; i < std::min<std::size_t>(asked_, kLoadSlots); ++i) {
      program_.wait(kFirstRequestSlot + i);
    }
    program_.end_step(workload_.compute);
  }

 private:
  std::uint64_t bytes(const Load& load) const { return plan_.stream_bytes(load.round, stream_); }

  /// Asks for the next round's weights: there is room for them. Behind the last round it only tells that this
  /// rank has got so far.
  void ask() {
    const auto k = static_cast<unsigned>(asked_++);
    const Load& load = plan_.load_or_last(k);
    if (bytes(load) == 0) return;
    const auto comm = static_cast<std::uint16_t>(
        (load.backward ? plan_.backward_streams : plan_.forward_streams) + stream_);
    const unsigned turn = k % kLoadSlots;
    if (k >= kLoadSlots) program_.wait(kFirstRequestSlot + turn);
    program_.start(control(plan_, Operation::kStore, comm, kFirstRequestSlot + turn, requests_));
    if (k >= plan_.loads.size()) return;
    program_.start(
        memory_operation(plan_, Operation::kLoad, comm, kFirstLoadSlot + turn, bytes(load), weights_[turn]));
  }

  void store(const Load& load) {
    if (bytes(load) == 0) return;
    const unsigned turn = stores_ % kStoreSlots;
    const unsigned slot = kFirstStoreSlot + turn;
    const auto comm = static_cast<std::uint16_t>(plan_.gradient_streams + stream_);
    if (stores_++ >= kStoreSlots) program_.wait(slot);
    program_.run(control(plan_, Operation::kLoad, comm, slot, requests_));
    program_.start(memory_operation(plan_, Operation::kStore, comm, slot, bytes(load), gradients_[turn]));
    if (plan_.streaming().write_back == WriteBack::kSerial) program_.wait(slot);
  }

  /// Hand-overs of the pass: to and from the stages of the layers before and behind.
  void start_pass(bool backward) {
    const std::uint32_t before = (stage_ + p_.pp - 1) % p_.pp, behind = (stage_ + 1) % p_.pp;
    const std::uint16_t family = backward ? plan_.backward_chains : plan_.forward_chains;
    const auto chain = [&](std::uint32_t from) {
      return static_cast<std::uint16_t>(family + dp_ * p_.pp + from);
    };
    receive_comm_ = chain(backward ? behind : before);
    send_comm_ = chain(stage_);
    receives_left_ = 0;
    for (std::uint32_t r = 0; r < plan_.rounds && p_.pp > 1; ++r) {
      if (receives(r, backward)) receives_left_ += workload_.microbatches;
    }
    post_receive();
  }
  bool receives(std::uint32_t round, bool backward) const {
    const std::uint32_t layer = round * p_.pp + stage_;
    return p_.pp > 1 && plan_.has_layer(round, stage_) &&
           (backward ? layer + 1 < plan_.model.layers : layer > 0);
  }
  bool sends(std::uint32_t round, bool backward) const {
    const std::uint32_t layer = round * p_.pp + stage_;
    return p_.pp > 1 && mp_ == 0 && (backward ? layer > 0 : layer + 1 < plan_.model.layers);
  }

  wvp_command broadcast(std::uint16_t comm, unsigned slot, std::uint64_t address) const {
    wvp_command command =
        make_operation(plan_.topology, Operation::kBroadcast,
                       firmware_choice(plan_.scenario.wafer.firmware, Operation::kBroadcast),
                       plan_.communicators[comm], comm, plan_.activation_bytes, ElementType::kFp16);
    command.slot = static_cast<std::uint8_t>(slot);
    command.dst = address;
    return command;
  }
  /// Posted as soon as the one before is done, so that a relay goes on while this rank computes.
  void post_receive() {
    if (receives_left_ == 0) return;
    program_.start(broadcast(receive_comm_, kReceiveSlot, received_[receives_left_ % 2]));
  }
  void await_receive() {
    program_.wait(kReceiveSlot);
    --receives_left_;
    post_receive();
  }
  void send() {
    const unsigned turn = sends_ % kSendSlots;
    if (sends_++ >= kSendSlots) program_.wait(kFirstSendSlot + turn);
    program_.start(broadcast(send_comm_, kFirstSendSlot + turn, sent_[turn]));
  }

  void await_sends() {
    for (unsigned i = 0; i < std::min(sends_, kSendSlots); ++i) program_.wait(kFirstSendSlot + i);
  }

  /// Computes the round's layer for all microbatches, with what the load is for.
  void use(const Load& load) {
    if (!plan_.has_layer(load.round, stage_)) return;
    for (std::uint32_t m = 0; m < workload_.microbatches; ++m) {
      if (load.backward) {
        if (load.forward_pass) layer(1);  // its input has been kept
        if (!load.gradients) continue;
        if (receives(load.round, true)) await_receive();
        layer(kBackwardOverForward);
        if (sends(load.round, true)) send();
      } else {
        if (receives(load.round, false)) await_receive();
        layer(1);
        if (sends(load.round, false)) send();
      }
    }
  }

  /// Each of its two halves, attention and MLP, ends in an all_reduce over the MP group (Shoeybi et al.
  /// 2019).
  void layer(double factor) {
    const double flops = plan_.layer_flops * factor;
    const double weights = static_cast<double>(plan_.shard_bytes()) * factor / workload_.microbatches;
    if (p_.mp == 1) return program_.compute(flops, weights);
    const auto comm = static_cast<std::uint16_t>(plan_.model_groups + dp_ * p_.pp + stage_);
    wvp_command all_reduce =
        make_operation(plan_.topology, Operation::kAllReduce,
                       firmware_choice(plan_.scenario.wafer.firmware, Operation::kAllReduce),
                       plan_.communicators[comm], comm, plan_.activation_bytes, ElementType::kFp16);
    all_reduce.slot = kModelSlot;
    all_reduce.dst = layer_output_;
    for (unsigned half = 0; half < 2; ++half) {
      program_.compute(flops / 2, weights / 2);
      program_.run(all_reduce);
    }
  }

  const Plan& plan_;
  const ParallelismSpec& p_;
  const WorkloadSpec& workload_;
  const std::uint32_t dp_, stage_, mp_, stream_;
  ProgramBuilder& program_;
  std::uint64_t weights_[kLoadSlots] = {}, gradients_[kStoreSlots] = {};
  std::uint64_t requests_ = 0, layer_output_ = 0, received_[2] = {}, sent_[kSendSlots] = {};
  std::size_t asked_ = 0;
  unsigned stores_ = 0, sends_ = 0;
  std::uint16_t receive_comm_ = 0, send_comm_ = 0;
  std::uint32_t receives_left_ = 0;
};

/// An I/O controller serves the streams in their order: waits until a round is asked for, and sends it. The
/// same request tells that the round before what is prefetched has been computed, and that its gradients may
/// come. A step begins when all gradients of the one before are in.
void write_controller(const Plan& plan, ProgramBuilder& program) {
  constexpr unsigned kRequestSlot = 0, kFirstWeightSlot = 1, kFirstGradientSlot = 8;
  constexpr unsigned kWeightSlots = kFirstGradientSlot - kFirstWeightSlot;
  constexpr unsigned kGradientSlots = WVP_SLOTS - kFirstGradientSlot;
  std::uint64_t most = 0;
  for (std::uint32_t s = 0; s < plan.streams(); ++s) {
    for (std::uint32_t r = 0; r < plan.rounds; ++r) most = std::max(most, plan.stream_bytes(r, s));
  }
  const std::uint64_t packets = program.allocate(kControlBytes * plan.topology.io.size());
  const std::uint64_t weights = program.allocate(most), gradients = program.allocate(most);
  const std::size_t ahead = 1 + plan.streaming().prefetch;
  for (std::uint32_t i = 0; i < plan.scenario.workload.iterations; ++i) {
    unsigned sends = 0, stores = 0;
    const auto send = [&](std::uint16_t comm, std::uint64_t bytes) {
      const unsigned slot = kFirstWeightSlot + sends % kWeightSlots;
      if (sends++ >= kWeightSlots) program.wait(slot);
      program.start(memory_operation(plan, Operation::kLoad, comm, slot, bytes, weights));
    };
    const auto take = [&](std::uint16_t comm, std::uint64_t bytes) {
      const unsigned slot = kFirstGradientSlot + stores % kGradientSlots;
      if (stores++ >= kGradientSlots) program.wait(slot);
      program.run(control(plan, Operation::kLoad, comm, slot, packets));
      program.start(memory_operation(plan, Operation::kStore, comm, slot, bytes, gradients));
    };
    for (std::size_t k = 0; k < plan.loads.size() + ahead; ++k) {
      const Load& load = plan.load_or_last(k);
      for (std::uint32_t s = 0; s < plan.streams(); ++s) {
        const auto comm =
            static_cast<std::uint16_t>((load.backward ? plan.backward_streams : plan.forward_streams) + s);
        const std::uint64_t bytes = plan.stream_bytes(load.round, s);
        if (bytes != 0) program.run(control(plan, Operation::kStore, comm, kRequestSlot, packets));
        if (bytes != 0 && k < plan.loads.size()) send(comm, bytes);
        if (k < ahead || !plan.loads[k - ahead].gradients) continue;
        const std::uint64_t stored = plan.stream_bytes(plan.loads[k - ahead].round, s);
        if (stored != 0) take(static_cast<std::uint16_t>(plan.gradient_streams + s), stored);
      }
    }
    for (unsigned k = 0; k < std::min(sends, kWeightSlots); ++k) program.wait(kFirstWeightSlot + k);
    for (unsigned k = 0; k < std::min(stores, kGradientSlots); ++k) program.wait(kFirstGradientSlot + k);
  }
}

MemoryNeed memory_need(const Plan& plan) {
  const WorkloadSpec& workload = plan.scenario.workload;
  const ParallelismSpec& p = workload.parallelism;
  MemoryNeed need;
  need.weights = plan.shard_bytes() * (1 + plan.streaming().prefetch);
  need.gradients = plan.shard_bytes() * kStoreSlots;
  // A layer keeps 34 b s h bytes / MP (as with stationary weights), or its input of 2 b s h bytes, if the
  // rest is computed again.
  const double tokens = static_cast<double>(workload.samples_per_replica) * plan.model.sequence;
  const double unit = tokens * plan.model.hidden, whole = 34 * unit / p.mp;
  need.activations = static_cast<std::uint64_t>(plan.streaming().recompute
                                                    ? 2 * unit * plan.rounds + whole / workload.microbatches
                                                    : whole * plan.rounds);
  return need;
}

}  // namespace

Draft build_streaming(const Scenario& scenario, const Topology& topology, const Placement& placement) {
  const WorkloadSpec& workload = scenario.workload;
  const ParallelismSpec& p = workload.parallelism;
  const TransformerSpec& model = workload.transformer;
  check_transformer(workload, model);
  const std::uint64_t tokens =
      std::uint64_t{workload.samples_per_replica / workload.microbatches} * model.sequence;
  const std::uint32_t rounds = (model.layers + p.pp - 1) / p.pp;
  Plan plan{scenario,
            topology,
            model,
            tokens * model.hidden * 2,
            layer_flops_per_token(model) * static_cast<double>(tokens) / p.mp,
            static_cast<std::uint64_t>(std::ceil(model.parameters / model.layers)) * kWeightBytes,
            rounds,
            loads_of(workload.streaming, rounds),
            CommunicatorSet(topology, scenario.wafer.firmware)};
  add_communicators(plan, placement);
  const double of_a_rank = static_cast<double>(plan.loads.size()) * (10 + 12.0 * workload.microbatches);
  check_commands("/workload",
                 workload.iterations * (of_a_rank * p.mp * p.dp * p.pp +
                                        6.0 * static_cast<double>(plan.loads.size()) * plan.streams() *
                                            static_cast<double>(topology.io.size())));

  Draft draft(topology);
  for (std::uint32_t dp = 0; dp < p.dp; ++dp) {
    for (std::uint32_t stage = 0; stage < p.pp; ++stage) {
      for (std::uint32_t mp = 0; mp < p.mp; ++mp) {
        const NpuId npu = placement.npu_of_rank[(dp * p.pp + stage) * p.mp + mp];
        RankWriter writer(plan, dp, stage, mp, draft.builders[npu.value]);
        for (std::uint32_t i = 0; i < workload.iterations; ++i) writer.step();
        draft.memory[npu.value] = memory_need(plan);
      }
    }
  }
  for (std::uint32_t k = 0; k < topology.io.size(); ++k) {
    write_controller(plan, draft.builders[topology.npus + k]);
  }
  draft.communicators = plan.communicators.take();
  return draft;
}

}  // namespace wafervp
