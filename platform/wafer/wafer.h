// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "accelerator/accelerator.h"
#include "compression/compression_unit.h"
#include "core/arena.h"
#include "core/calendar.h"
#include "core/flow_table.h"
#include "fred_switch/fred_switch.h"
#include "io_controller/io_controller.h"
#include "link/link.h"
#include "link/link_module.h"
#include "router/tree_router.h"
#include "scenario/scenario.h"
#include "topology/topology.h"
#include "wafer/comm_table.h"
#include "wafer/compression_plan.h"
#include "wafer/fred_routing.h"
#include "wafer/fred_stages.h"
#include "wafer/host_processor.h"
#include "wafer/port_units.h"
#include "wafer/tree_flows.h"
#include "workload/programs.h"

namespace wafervp {

/// The module hierarchy of one run: accelerators with their control processors, routers or switches, links,
/// wired as the topology says, with the workload's programs loaded. One a process.
class Wafer {
 public:
  Wafer(const Scenario& scenario, const Topology& topology, const Workload& workload);
  ~Wafer();
  Wafer(const Wafer&) = delete;
  Wafer& operator=(const Wafer&) = delete;

  Calendar& calendar() { return calendar_; }
  MessagePool& messages() { return messages_; }
  const std::vector<std::unique_ptr<LinkModule>>& links() const { return links_; }  ///< by LinkId
  /// With bytes as they are on the wire: the link itself counts values where units stand at its ends.
  LinkStatistics link_statistics(LinkId id) const;
  /// What all units at ports did; nothing where there are none.
  std::optional<CompressionStatistics> port_compression() const;
  /// Of an NPU, or of an I/O controller (they are numbered behind the NPUs), here and below.
  Accelerator& accelerator(NpuId end) { return *accelerators_[end.value]; }
  /// "NPU 7", "I/O controller 3".
  std::string name_of(NpuId end) const;
  /// Of an end; null where it has none.
  CompressionUnit* compression_unit(NpuId end) {
    return compression_units_.empty() ? nullptr : compression_units_[end.value].get();
  }
  const CompressionUnit* compression_unit(NpuId end) const {
    return compression_units_.empty() ? nullptr : compression_units_[end.value].get();
  }
  const HostProcessor& processor(NpuId npu) const { return *processors_[npu.value]; }
  /// Algorithm (enum wvp_algorithm) by which NPU `npu` runs its group operation of command `index`.
  std::uint32_t algorithm_of(NpuId npu, std::uint32_t index) const;
  const TreeFlows& tree_flows() const { return tree_flows_; }
  /// How the switches carry the in-network flows; null on other fabrics.
  const FredRouting* fred_routing() const { return fred_routing_.get(); }
  /// True when a message of `source` into the tree `group` waits somewhere for others.
  bool has_pending_from(std::uint32_t group, NpuId source) const;
  void set_observer(AcceleratorObserver& observer);
  /// Gives back what is kept of packets that have passed; afterwards only undelivered messages are out.
  void release_passed();

 private:
  void make_compression_units(const CompressionPlan& plan);
  void make_accelerators(const Scenario& scenario, const Workload& workload);
  void set_pace(const Communicator& group, std::size_t index);
  void make_links(const Scenario& scenario);
  void make_routers();
  void make_switches(const Scenario& scenario);
  void wire();
  void load_programs(const Scenario& scenario, const Workload& workload);

  const Topology& topology_;
  Arena arena_;
  std::vector<unsigned> output_port_;  ///< by LinkId, at the node where it begins
  Calendar calendar_;
  MessagePool messages_;
  FlowTable flows_;
  TreeFlows tree_flows_;
  CommTable comm_table_;
  std::unique_ptr<FredRouting> fred_routing_;  ///< of a FRED fabric
  std::unique_ptr<FredStages> fred_stages_;
  /// By NPU, then by I/O controller, where there are any; an accelerator needs its unit.
  std::vector<std::unique_ptr<CompressionUnit>> compression_units_;
  std::unique_ptr<PortUnits> port_units_;
  std::vector<std::unique_ptr<Accelerator>> accelerators_;  ///< by NPU, then by I/O controller
  std::vector<std::unique_ptr<Router>> routers_;            ///< by NPU, on fabrics whose NPUs route
  std::vector<std::unique_ptr<Router>> switches_;           ///< by node - ends
  std::vector<TreeRouter*> trees_;                          ///< of these, those that carry trees
  std::vector<std::unique_ptr<LinkModule>> links_;
  std::vector<std::vector<wvp_comm>> communicators_;  ///< by NPU: the groups that it belongs to
  std::vector<std::vector<wvp_command>> programs_;    ///< by NPU, with local communicator numbers
  std::vector<ArenaPointer<HostProcessor>> processors_;
};

}  // namespace wafervp
