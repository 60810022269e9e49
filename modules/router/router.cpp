// SPDX-License-Identifier: Apache-2.0
#include "router/router.h"

#include <utility>

namespace wafervp {

Router::Router(sc_core::sc_module_name name, const RouterConfig& config,
               std::unique_ptr<RoutingAlgorithm> routing)
    : sc_module(name),
      in("in", config.inputs),
      out("out", config.outputs),
      config_(config),
      routing_(std::move(routing)),
      links_(config.outputs, nullptr) {
  for (auto& socket : in) socket.bind(*this);
  for (auto& socket : out) socket.bind(*this);
}

void Router::set_output_link(unsigned output, FabricLink& link) { links_.at(output) = &link; }

void Router::end_of_elaboration() {
  for (auto& socket : out) outputs_.push_back(socket.operator->());
  for (auto& socket : in) inputs_.push_back(socket.operator->());
}

unsigned Router::route(const Flow& flow, unsigned) {
  const unsigned port = routing_->output(flow.destination);
  return port == 0 && config_.accelerator ? kEndsHere : port;
}

FabricLink& Router::output_link(unsigned output) { return *links_.at(output); }

FabricFw* Router::next_of(const Flow& flow, std::uint16_t hop) {
  if (flow.group != 0 || config_.latency != 0) return nullptr;
  return outputs_[hop == flow.hops.size() ? 0u : flow.hops[hop].output];
}

FabricBw* Router::previous_of(const Flow& flow, std::uint16_t hop) {
  return flow.group != 0 ? nullptr : inputs_[flow.hops[hop].input];
}

tlm::tlm_sync_enum Router::nb_transport_fw(Run& run, FabricPhase& phase, sc_core::sc_time& delay) {
  const Flow& flow = *run.flow;
  const unsigned port = run.hop == flow.hops.size() ? 0u : flow.hops[run.hop].output;
  if (run.rate != nullptr) run.origin += config_.latency;
  return outputs_[port]->nb_transport_fw(run, phase, delay);
}

tlm::tlm_sync_enum Router::nb_transport_bw(Run& run, FabricPhase& phase, sc_core::sc_time& delay) {
  const auto answer = inputs_[run.flow->hops[run.hop].input]->nb_transport_bw(run, phase, delay);
  if (phase == FabricPhase::kNack) run.origin += config_.latency;  // of what is sent again
  return answer;
}

}  // namespace wafervp
