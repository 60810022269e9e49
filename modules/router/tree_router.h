// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/unordered_map.hpp>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "router/collective_stage.h"
#include "router/router.h"

namespace wafervp {

/// Ranks put different messages into one in-network operation.
class CollectiveMismatch : public std::runtime_error {
 public:
  CollectiveMismatch(std::uint32_t group, const std::string& text)
      : std::runtime_error(text), group_(group) {}
  std::uint32_t group() const { return group_; }  ///< handle of the in-network flow

 private:
  std::uint32_t group_;
};

/// A router that also carries trees: unicast flows pass as through a plain router, and the flows that the
/// directory knows are summed over their inputs and copied to their outputs (CollectiveStage): multicast,
/// reduction at a merge, or both. A flow is configured when it is first used.
class TreeRouter : public Router {
 public:
  TreeRouter(sc_core::sc_module_name name, const RouterConfig& config,
             std::unique_ptr<RoutingAlgorithm> routing, NodeId node, const StageDirectory& directory,
             Calendar& calendar, MessagePool& messages, FlowTable& flows);

  /// Gives back the messages of everything that has passed; called at the end of a run.
  void release_passed();
  /// True when a message of `source` into flow `group` waits here for others.
  bool has_pending_from(std::uint32_t group, NpuId source) const;

  unsigned route(const Flow& flow, unsigned input) override;
  bool consumes(const Flow& flow) const override { return flow.group == 0; }
  tlm::tlm_sync_enum nb_transport_fw(Run& run, FabricPhase& phase, sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_bw(Run& run, FabricPhase& phase, sc_core::sc_time& delay) override;

 private:
  friend class CollectiveStage;
  bool is_accelerator(unsigned port) const { return port == 0 && config().accelerator; }
  CollectiveStage* stage_of(std::uint32_t group, unsigned input);
  void bind_output(const Flow& flow, CollectiveStage& stage);

  struct Sink {
    CollectiveStage* stage = nullptr;
    unsigned input = 0;
  };
  NodeId node_;
  const StageDirectory& directory_;
  Calendar& calendar_;
  MessagePool& messages_;
  FlowTable& flows_;
  std::vector<std::unique_ptr<CollectiveStage>> stages_;
  boost::unordered_map<std::uint64_t, CollectiveStage*> stage_index_;  ///< by group and input port
  std::vector<Sink> sinks_;                                            ///< by flow: where it ends in a stage
  std::vector<CollectiveStage*> sources_;  ///< by flow: where it begins in a stage
  sc_core::sc_time no_delay_;
};

}  // namespace wafervp
