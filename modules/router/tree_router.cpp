// SPDX-License-Identifier: Apache-2.0
#include "router/tree_router.h"

#include <string>
#include <utility>

namespace wafervp {

namespace {

std::uint64_t key_of(std::uint32_t group, unsigned input) {
  return (static_cast<std::uint64_t>(group) << 32) | input;
}

}  // namespace

TreeRouter::TreeRouter(sc_core::sc_module_name name, const RouterConfig& config,
                       std::unique_ptr<RoutingAlgorithm> routing, NodeId node,
                       const StageDirectory& directory, Calendar& calendar, MessagePool& messages,
                       FlowTable& flows)
    : Router(name, config, std::move(routing)),
      node_(node),
      directory_(directory),
      calendar_(calendar),
      messages_(messages),
      flows_(flows) {}

void TreeRouter::release_passed() {
  for (auto& stage : stages_) stage->release_passed(calendar_.now() + 1);
}

bool TreeRouter::has_pending_from(std::uint32_t group, NpuId source) const {
  for (const auto& stage : stages_) {
    if (stage->config().group == group && stage->has_pending_from(source)) return true;
  }
  return false;
}

CollectiveStage* TreeRouter::stage_of(std::uint32_t group, unsigned input) {
  const auto found = stage_index_.find(key_of(group, input));
  if (found != stage_index_.end()) return found->second;
  const StageConfig config = directory_.find(node_, group, input);
  if (config.inputs.empty()) {
    throw std::runtime_error(std::string(name()) + " has no configuration for flow " + std::to_string(group) +
                             " at input port " + std::to_string(input));
  }
  stages_.push_back(
      std::make_unique<CollectiveStage>(*this, config, calendar_, messages_, flows_, node_.value));
  for (unsigned port : config.inputs) stage_index_[key_of(group, port)] = stages_.back().get();
  return stages_.back().get();
}

void TreeRouter::bind_output(const Flow& flow, CollectiveStage& stage) {
  if (sources_.size() <= flow.id.value) sources_.resize(flow.id.value + 1, nullptr);
  sources_[flow.id.value] = &stage;
}

unsigned TreeRouter::route(const Flow& flow, unsigned input) {
  if (flow.group == 0) return Router::route(flow, input);
  if (sinks_.size() <= flow.id.value) sinks_.resize(flow.id.value + 1);
  sinks_[flow.id.value] = {stage_of(flow.group, input), input};
  return kEndsHere;
}

tlm::tlm_sync_enum TreeRouter::nb_transport_fw(Run& run, FabricPhase& phase, sc_core::sc_time& delay) {
  if (run.flow->group == 0) return Router::nb_transport_fw(run, phase, delay);
  const Sink& sink = sinks_[run.flow->id.value];
  sink.stage->head(sink.input, run);
  return tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum TreeRouter::nb_transport_bw(Run& run, FabricPhase& phase, sc_core::sc_time& delay) {
  if (run.flow->group == 0) return Router::nb_transport_bw(run, phase, delay);
  // The stage answers its inputs by itself.
  if (phase == FabricPhase::kCredit) sources_[run.flow->id.value]->credit(*run.flow, run);
  if (phase == FabricPhase::kNack) sources_[run.flow->id.value]->nack(run);
  return tlm::TLM_ACCEPTED;
}

}  // namespace wafervp
