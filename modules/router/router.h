// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <systemc>
#include <vector>

#include "core/fabric_protocol.h"
#include "router/routing.h"

namespace wafervp {

struct RouterConfig {
  unsigned inputs = 0, outputs = 0;  ///< sockets, with the accelerator's where there is one
  bool accelerator = false;          ///< port 0 is the NPU's accelerator: flows begin and end there
  Time latency = 0;                  ///< ps from input to output
};

/// Forwards each unicast flow by its route, packet by packet without storing (the queues are those of the
/// links behind it). An NPU's mesh or ring router, or a plain switch.
class Router : public sc_core::sc_module,
               public FabricFwInterface,
               public FabricBwInterface,
               public FabricNode,
               public FabricRelay {
 public:
  sc_core::sc_vector<FabricTargetSocket> in;
  sc_core::sc_vector<FabricInitiatorSocket> out;

  Router(sc_core::sc_module_name name, const RouterConfig& config, std::unique_ptr<RoutingAlgorithm> routing);

  /// The link that `out[output]` is bound to.
  void set_output_link(unsigned output, FabricLink& link);

  unsigned route(const Flow& flow, unsigned input) override;
  FabricLink& output_link(unsigned output) override;
  Time latency() const override { return config_.latency; }

  FabricFw* next_of(const Flow& flow, std::uint16_t hop) override;
  FabricBw* previous_of(const Flow& flow, std::uint16_t hop) override;

  tlm::tlm_sync_enum nb_transport_fw(Run& run, FabricPhase& phase, sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_bw(Run& run, FabricPhase& phase, sc_core::sc_time& delay) override;

 protected:
  void end_of_elaboration() override;
  FabricFw& output(unsigned port) { return *outputs_[port]; }
  FabricBw& input(unsigned port) { return *inputs_[port]; }
  const RouterConfig& config() const { return config_; }

 private:
  RouterConfig config_;
  std::unique_ptr<RoutingAlgorithm> routing_;
  std::vector<FabricLink*> links_;
  std::vector<FabricFw*> outputs_;
  std::vector<FabricBw*> inputs_;
};

}  // namespace wafervp
