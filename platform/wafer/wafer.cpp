// SPDX-License-Identifier: Apache-2.0
#include "wafer/wafer.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "topology/picoseconds.h"
#include "wafer/link_config.h"
#include "wafervp/hal.h"

namespace wafervp {

namespace {

std::string numbered(const char* name, std::size_t number) { return name + std::to_string(number); }

bool npus_route(const Topology& topology) {
  return topology.kind == FabricKind::kRing || topology.kind == FabricKind::kMesh2d;
}

/// Port of each link at one of its ends, from the order of the links of a node.
std::vector<unsigned> ports_by_link(const std::vector<std::vector<LinkId>>& links_of_node,
                                    std::size_t links) {
  std::vector<unsigned> ports(links, 0);
  for (const auto& list : links_of_node) {
    for (unsigned k = 0; k < list.size(); ++k) ports[list[k].value] = k;
  }
  return ports;
}

/// The way that the topology gives: a switch needs no table of all NPUs of its own.
class TopologyRouting final : public RoutingAlgorithm {
 public:
  TopologyRouting(const Topology& topology, NodeId here, const std::vector<unsigned>& port_of_link)
      : topology_(topology), here_(here), port_of_link_(port_of_link) {}
  unsigned output(NpuId destination) const override {
    return port_of_link_[next_link(topology_, here_, destination).value];
  }

 private:
  const Topology& topology_;
  NodeId here_;
  const std::vector<unsigned>& port_of_link_;
};

/// Of an NPU's router where there are several sites; port 0 is the accelerator.
class SitesRouting final : public RoutingAlgorithm {
 public:
  SitesRouting(const Topology& topology, NodeId here, const std::vector<unsigned>& port_of_link)
      : here_(here), links_(topology, here, port_of_link) {}
  unsigned output(NpuId destination) const override {
    return destination.value == here_.value ? 0 : links_.output(destination) + 1;
  }

 private:
  NodeId here_;
  TopologyRouting links_;
};

/// SystemC looks for an object that goes away from the end of its registries.
template <class Module>
void destroy_backwards(std::vector<std::unique_ptr<Module>>& modules) {
  while (!modules.empty()) modules.pop_back();
}

}  // namespace

Wafer::Wafer(const Scenario& scenario, const Topology& topology, const Workload& workload)
    : topology_(topology),
      output_port_(ports_by_link(topology.outputs, topology.links.size())),
      calendar_("calendar"),
      tree_flows_(topology, workload.communicators),
      comm_table_(workload.communicators, tree_flows_) {
  if (topology.kind == FabricKind::kFred) {
    fred_routing_ = std::make_unique<FredRouting>(scenario, topology, workload, tree_flows_);
    const FredRouting& routing = *fred_routing_;
    fred_stages_ = std::make_unique<FredStages>(topology, tree_flows_, routing.use, routing.plan,
                                                routing.configurations ? &*routing.configurations : nullptr);
  }
  const CompressionPlan plan(scenario);
  if (!plan.classes().empty()) {
    plan.check(topology, workload);
    if (plan.at_npus()) make_compression_units(plan);
    if (plan.at_ports()) port_units_ = std::make_unique<PortUnits>(scenario, topology, plan);
  }
  make_accelerators(scenario, workload);
  for (std::size_t c = 0; c < workload.communicators.size(); ++c) set_pace(workload.communicators[c], c);
  make_links(scenario);
  if (npus_route(topology)) {
    make_routers();
  } else {
    make_switches(scenario);
  }
  wire();
  load_programs(scenario, workload);
}

Wafer::~Wafer() {
  destroy_backwards(switches_);
  destroy_backwards(routers_);
  destroy_backwards(links_);
  destroy_backwards(accelerators_);
  destroy_backwards(compression_units_);
}

void Wafer::make_compression_units(const CompressionPlan& plan) {
  for (std::uint32_t n = 0; n < topology_.ends(); ++n) {
    const bool is_io = n >= topology_.npus;
    if (is_io && !plan.at_io()) {
      compression_units_.push_back(nullptr);
      continue;
    }
    const std::string name = is_io ? numbered("io", n - topology_.npus) : numbered("npu", n);
    compression_units_.push_back(std::make_unique<CompressionUnit>(
        (name + "_compression").c_str(), plan.unit(NpuId(n), is_io, name_of(NpuId(n))), calendar_));
  }
}

void Wafer::make_accelerators(const Scenario& scenario, const Workload& workload) {
  AcceleratorConfig config;
  config.npus = topology_.npus;
  config.peak_flops_per_s = scenario.wafer.npu.peak_flops_per_s * scenario.wafer.npu.compute_efficiency;
  config.hbm_bytes_per_s = scenario.wafer.npu.hbm_bytes_per_s;
  config.reduce_bytes_per_s = scenario.wafer.npu.reduce_bytes_per_s;
  if (scenario.detail.data == DataMode::kValues) config.memory_bytes = workload.device_memory_bytes;
  hold_classes(scenario, config);
  for (std::uint32_t n = 0; n < topology_.npus; ++n) {
    config.npu = NpuId(n);
    if (!compression_units_.empty()) config.compression = compression_units_[n].get();
    accelerators_.push_back(std::make_unique<Accelerator>(numbered("npu", n).c_str(), config, calendar_,
                                                          messages_, flows_, arena_));
  }
  IoControllerConfig io;
  io.npus = topology_.npus;
  io.memory_bytes = config.memory_bytes;
  for (std::uint32_t k = 0; k < topology_.io.size(); ++k) {
    io.end = NpuId(topology_.npus + k);
    if (!compression_units_.empty()) io.compression = compression_units_[io.end.value].get();
    accelerators_.push_back(
        std::make_unique<IoController>(numbered("io", k).c_str(), io, calendar_, messages_, flows_, arena_));
  }
}

/// What all ends of loads and stores keep to: the channels one after the other.
void Wafer::set_pace(const Communicator& group, std::size_t index) {
  if (group.pace == 0) return;
  const auto n = static_cast<std::uint32_t>(group.members.size());
  for (std::uint32_t k = 0; k < group.io_controllers; ++k) {
    const std::uint32_t reduce = tree_flows_.first_handle(index) + 1 + k, multicast = reduce + n;
    const Rate rate(group.pace);
    const Pace pace{rate, k * rate.ps(kPacketBytes) / group.io_controllers};
    flows_.set_pace(reduce, pace);
    flows_.set_pace(multicast, pace);
  }
}

void Wafer::make_links(const Scenario& scenario) {
  std::map<std::uint32_t, std::shared_ptr<SiteWire>> wires;
  std::vector<Link*> wafer_links;  // null where a site link is
  const std::shared_ptr<PathHolders> holders = holders_of_wafer(scenario);
  for (std::size_t k = 0; k < topology_.links.size(); ++k) {
    const std::string name = numbered("link", k);
    const LinkId id(static_cast<std::uint32_t>(k));
    if (topology_.links[k].between_sites()) {
      auto& wire = wires[topology_.links[k].wire];
      if (wire == nullptr) wire = std::make_shared<SiteWire>();
      links_.push_back(std::make_unique<SiteLink>(name.c_str(), site_link_config(scenario, topology_, id),
                                                  calendar_, wire));
      wafer_links.push_back(nullptr);
      continue;
    }
    LinkConfig config = link_config(scenario, topology_, id);
    config.preemption.holders = holders;
    if (port_units_ != nullptr && port_units_->at(id)) port_units_->apply(config, topology_.link(id));
    auto link = std::make_unique<Link>(name.c_str(), config, calendar_, &arena_);
    wafer_links.push_back(link.get());
    links_.push_back(std::move(link));
  }
  if (scenario.wafer.fabric.flow_control.acknowledgements != Acknowledgements::kCharged) return;
  for (const auto& [one, back] : link_pairs(topology_)) {
    if (wafer_links[one.value] != nullptr) wafer_links[one.value]->set_reverse(*wafer_links[back.value]);
  }
}

void Wafer::make_routers() {
  for (std::uint32_t n = 0; n < topology_.npus; ++n) {
    const auto& outputs = topology_.outputs[n];
    RouterConfig config;
    config.accelerator = true;
    config.inputs = static_cast<unsigned>(topology_.inputs[n].size()) + 1;
    config.outputs = static_cast<unsigned>(outputs.size()) + 1;
    XyRouting::Ports sides;
    unsigned clockwise = 0, counter_clockwise = 0;
    for (unsigned k = 0; k < outputs.size(); ++k) {
      const std::uint32_t to = topology_.link(outputs[k]).to.value;
      const unsigned port = k + 1;
      if (topology_.is_io(NodeId(to)) || topology_.sites > 1) continue;
      if (topology_.kind == FabricKind::kRing) {
        (to == (n + 1) % topology_.npus ? clockwise : counter_clockwise) = port;
      } else if (to == n + 1) {
        sides.east = port;
      } else if (to + 1 == n) {
        sides.west = port;
      } else {
        (to > n ? sides.south : sides.north) = port;
      }
    }
    // On a mesh of one column the neighbours in y have the next numbers too.
    if (topology_.kind == FabricKind::kMesh2d && topology_.columns == 1) {
      std::swap(sides.east, sides.south);
      std::swap(sides.west, sides.north);
    }
    std::unique_ptr<RoutingAlgorithm> routing;
    if (topology_.sites > 1) {
      routing = std::make_unique<SitesRouting>(topology_, NodeId(n), output_port_);
    } else if (topology_.kind == FabricKind::kRing) {
      routing = std::make_unique<RingRouting>(NpuId(n), topology_.npus, clockwise, counter_clockwise);
    } else {
      routing = std::make_unique<XyRouting>(NpuId(n), topology_.columns, sides);
    }
    const std::string name = numbered("router", n);
    if (topology_.io.empty()) {
      routers_.push_back(std::make_unique<Router>(name.c_str(), config, std::move(routing)));
    } else {
      auto router = std::make_unique<TreeRouter>(name.c_str(), config, std::move(routing), NodeId(n),
                                                 tree_flows_, calendar_, messages_, flows_);
      trees_.push_back(router.get());
      routers_.push_back(std::move(router));
    }
  }
}

void Wafer::make_switches(const Scenario& scenario) {
  LinkId next_id(static_cast<std::uint32_t>(topology_.links.size()));
  for (std::size_t s = topology_.ends(); s < topology_.nodes.size(); ++s) {
    const NodeId node(static_cast<std::uint32_t>(s));
    RouterConfig config;
    config.inputs = static_cast<unsigned>(topology_.inputs[s].size());
    config.outputs = static_cast<unsigned>(topology_.outputs[s].size());
    config.latency = topology_.switch_latency_ps;
    auto routing = std::make_unique<TopologyRouting>(topology_, node, output_port_);
    const std::string& name = topology_.nodes[s].name;
    if (topology_.kind == FabricKind::kFred) {
      FredLanes lanes;
      for (const unsigned rounds : fred_stages_->lanes(node)) {
        lanes.bytes_per_s.push_back(
            std::max<std::uint64_t>(scenario.wafer.fabric.fred.npu_bytes_per_s / rounds, 1));
      }
      lanes.train_packets = scenario.detail.train_packets;
      lanes.packet_grain = scenario.detail.grain == Grain::kPacket;
      lanes.first_id = next_id;
      next_id = LinkId(next_id.value + static_cast<std::uint32_t>(lanes.bytes_per_s.size()));
      auto fred = std::make_unique<FredSwitch>(name.c_str(), config, std::move(routing), node, *fred_stages_,
                                               calendar_, messages_, flows_, lanes, &arena_);
      trees_.push_back(fred.get());
      switches_.push_back(std::move(fred));
    } else {
      switches_.push_back(std::make_unique<Router>(name.c_str(), config, std::move(routing)));
    }
  }
}

void Wafer::wire() {
  const bool routed = npus_route(topology_);
  const auto input_port = ports_by_link(topology_.inputs, topology_.links.size());
  const unsigned shift = routed ? 1 : 0;  // port 0 of an NPU's router is its accelerator
  const auto router_of = [&](NodeId node) -> Router& {
    if (routed) return *routers_[node.value];
    return *switches_[node.value - topology_.ends()];
  };
  for (std::uint32_t n = 0; n < topology_.npus; ++n) {
    Accelerator& accelerator = *accelerators_[n];
    if (routed) {
      accelerator.egress.bind(routers_[n]->in[0]);
      routers_[n]->out[0].bind(accelerator.ingress);
      flows_.set_entry(NpuId(n), *routers_[n], 0);
    } else {
      flows_.set_entry(NpuId(n), accelerator, 0);
    }
  }
  for (std::uint32_t n = topology_.npus; n < topology_.ends(); ++n) {
    flows_.set_entry(NpuId(n), *accelerators_[n], 0);
  }
  for (std::size_t k = 0; k < links_.size(); ++k) {
    const LinkSpec& spec = topology_.links[k];
    LinkModule& link = *links_[k];
    const auto is_end = [&](NodeId node) {
      return topology_.is_io(node) || (!routed && node.value < topology_.npus);
    };
    if (is_end(spec.from)) {
      accelerators_[spec.from.value]->egress.bind(link.in);
      accelerators_[spec.from.value]->set_egress_link(link);
    } else {
      Router& router = router_of(spec.from);
      router.out[output_port_[k] + shift].bind(link.in);
      router.set_output_link(output_port_[k] + shift, link);
    }
    if (is_end(spec.to)) {
      link.out.bind(accelerators_[spec.to.value]->ingress);
      link.set_target(*accelerators_[spec.to.value], 0);
    } else {
      Router& router = router_of(spec.to);
      link.out.bind(router.in[input_port[k] + shift]);
      link.set_target(router, input_port[k] + shift);
    }
  }
}

void Wafer::load_programs(const Scenario& scenario, const Workload& workload) {
  std::vector<std::vector<std::uint16_t>> local(topology_.ends());  // global numbers of each end's groups
  communicators_.resize(topology_.ends());
  for (std::size_t c = 0; c < workload.communicators.size(); ++c) {
    const Communicator& group = workload.communicators[c];
    for (std::uint32_t i = 0; i < group.members.size(); ++i) {
      communicators_[group.members[i].value].push_back(comm_table_.comm(c, i));
      local[group.members[i].value].push_back(static_cast<std::uint16_t>(c));
    }
  }
  const Time step_ps = ps_of_ns(scenario.wafer.firmware.step_ns);
  std::vector<std::uint16_t> index(workload.communicators.size(), 0xffff);  // local number, of one NPU
  for (std::uint32_t n = 0; n < topology_.ends(); ++n) {
    programs_.push_back(workload.programs[n].commands);
    for (std::size_t i = 0; i < local[n].size(); ++i) index[local[n][i]] = static_cast<std::uint16_t>(i);
    for (wvp_command& command : programs_.back()) {
      const bool grouped =
          command.kind == WVP_CMD_START && command.op != WVP_OP_SEND && command.op != WVP_OP_RECEIVE;
      if (grouped) command.comm = index.at(command.comm);
    }
    for (const std::uint16_t group : local[n]) index[group] = 0xffff;
    HostProcessor::Config config;
    config.npu = NpuId(n);
    config.program = programs_.back().data();
    config.comms = communicators_[n].data();
    config.comm_count = static_cast<std::uint32_t>(communicators_[n].size());
    config.step_ps = step_ps;
    processors_.push_back(arena_.make<HostProcessor>(config, *accelerators_[n], calendar_, arena_));
  }
}

LinkStatistics Wafer::link_statistics(LinkId id) const {
  LinkStatistics statistics = links_[id.value]->statistics();
  if (port_units_ == nullptr || !port_units_->at(id)) return statistics;
  for (std::uint64_t* bytes : {&statistics.bytes, &statistics.resent_bytes})
    *bytes = port_units_->wire_bytes(*bytes);
  for (std::uint64_t& bytes : statistics.class_bytes) bytes = port_units_->wire_bytes(bytes);
  return statistics;
}

std::optional<CompressionStatistics> Wafer::port_compression() const {
  if (port_units_ == nullptr) return std::nullopt;
  CompressionStatistics sum;
  for (std::uint32_t k = 0; k < links_.size(); ++k) {
    if (port_units_->at(LinkId(k))) port_units_->add(links_[k]->statistics(), sum);
  }
  return sum;
}

std::uint32_t Wafer::algorithm_of(NpuId npu, std::uint32_t index) const {
  const wvp_command& command = programs_[npu.value].at(index);
  return wvp_algorithm_of(&command, &communicators_[npu.value].at(command.comm));
}

void Wafer::set_observer(AcceleratorObserver& observer) {
  for (auto& accelerator : accelerators_) accelerator->set_observer(&observer);
}

void Wafer::release_passed() {
  for (TreeRouter* tree : trees_) tree->release_passed();
}

bool Wafer::has_pending_from(std::uint32_t group, NpuId source) const {
  return std::any_of(trees_.begin(), trees_.end(),
                     [&](const TreeRouter* tree) { return tree->has_pending_from(group, source); });
}

std::string Wafer::name_of(NpuId end) const {
  if (end.value < topology_.npus) return "NPU " + std::to_string(end.value);
  return "I/O controller " + std::to_string(end.value - topology_.npus);
}

}  // namespace wafervp
