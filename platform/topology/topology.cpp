// SPDX-License-Identifier: Apache-2.0
#include "topology/topology.h"

#include <algorithm>

#include "scenario/errors.h"
#include "scenario/text.h"
#include "topology/picoseconds.h"

namespace wafervp {
namespace {

__extension__ using Wide = unsigned __int128;

/// ceil(rate * 2 * latency / 4096) + 2: a round trip of whole packets, the one being sent and the one
/// whose credit is on its way.
std::uint32_t default_buffer_packets(std::uint64_t bytes_per_s, Time latency_ps) {
  const Wide numerator = static_cast<Wide>(bytes_per_s) * 2 * latency_ps;
  const Wide denominator = static_cast<Wide>(kPsPerSecond) * kPacketBytes;
  const Wide packets = (numerator + denominator - 1) / denominator + 2;
  return packets > 0xffffffffu ? 0xffffffffu : static_cast<std::uint32_t>(packets);
}

void require(bool holds, const std::string& pointer, const std::string& text) {
  if (!holds) throw ScenarioError({Issue{"", 0, 0, pointer, text}});
}

/// Puts nodes and links together; rates of single links are laid over at the end.
class Builder {
 public:
  explicit Builder(const WaferSpec& wafer) : wafer_(wafer) {
    topology_.kind = wafer.fabric.kind;
    topology_.npus = wafer.npus;
  }

  void add_node(NodeKind kind, std::string name, std::uint32_t x = 0, std::uint32_t y = 0) {
    topology_.nodes.push_back({kind, std::move(name), x, y});
  }
  void add_npus(std::uint32_t columns) {
    for (std::uint32_t n = 0; n < wafer_.npus; ++n) {
      add_node(NodeKind::kNpu, "npu" + std::to_string(n), n % columns, n / columns);
    }
  }
  void add_link(std::uint32_t from, std::uint32_t to, std::uint64_t rate, Time latency) {
    add_link(from, to, rate, latency, topology_.nodes[from].name + "->" + topology_.nodes[to].name);
  }
  void add_link(std::uint32_t from, std::uint32_t to, std::uint64_t rate, Time latency, std::string name) {
    topology_.links.push_back({NodeId{from}, NodeId{to}, rate, latency, 0, std::move(name)});
  }
  Topology& topology() { return topology_; }

  Topology finish() {
    apply_link_rates();
    topology_.outputs.resize(topology_.nodes.size());
    topology_.inputs.resize(topology_.nodes.size());
    for (std::uint32_t i = 0; i < topology_.links.size(); ++i) {
      LinkSpec& link = topology_.links[i];
      link.buffer_packets = wafer_.fabric.buffer_packets != 0
                                ? wafer_.fabric.buffer_packets
                                : default_buffer_packets(link.bytes_per_s, link.latency_ps);
      topology_.outputs[link.from.value].push_back(LinkId{i});
      topology_.inputs[link.to.value].push_back(LinkId{i});
    }
    return std::move(topology_);
  }

 private:
  void apply_link_rates() {
    if (wafer_.fabric.link_rates.empty()) return;
    std::map<std::string, LinkSpec*> by_name;
    std::vector<std::string> names;
    for (LinkSpec& link : topology_.links) {
      by_name.emplace(link.name, &link);
      names.push_back(link.name);
    }
    std::vector<Issue> issues;
    for (const auto& [name, rate] : wafer_.fabric.link_rates) {
      const auto found = by_name.find(name);
      if (found == by_name.end()) {
        std::string text = "no link of this fabric has this name";
        const std::string nearest = nearest_word(name, names);
        if (!nearest.empty()) text += "; did you mean \"" + nearest + "\"?";
        issues.push_back({"", 0, 0, "/wafer/fabric/link_rates/" + pointer_token(name), text});
      } else if (rate == 0) {
        issues.push_back(
            {"", 0, 0, "/wafer/fabric/link_rates/" + pointer_token(name), "expected a rate above 0 bytes/s"});
      } else {
        found->second->bytes_per_s = rate;
      }
    }
    if (!issues.empty()) throw ScenarioError(std::move(issues));
  }

  const WaferSpec& wafer_;
  Topology topology_;
};

Topology build_ring(const WaferSpec& wafer) {
  const RingSpec& ring = wafer.fabric.ring;
  const Time latency = ps_of_ns(ring.link_latency_ns);
  Builder builder(wafer);
  builder.add_npus(wafer.npus);
  const std::uint32_t n = wafer.npus;
  for (std::uint32_t i = 0; i < n && n > 1; ++i) {
    builder.add_link(i, (i + 1) % n, ring.link_bytes_per_s, latency);
    if (n > 2) builder.add_link(i, (i + n - 1) % n, ring.link_bytes_per_s, latency);
  }
  return builder.finish();
}

Topology build_switch(const WaferSpec& wafer) {
  const SwitchSpec& spec = wafer.fabric.switch_;
  const Time latency = ps_of_ns(spec.link_latency_ns);
  Builder builder(wafer);
  builder.topology().switch_latency_ps = ps_of_ns(spec.switch_latency_ns);
  builder.add_npus(wafer.npus);
  builder.add_node(NodeKind::kSwitch, "switch");
  for (std::uint32_t i = 0; i < wafer.npus; ++i) {
    builder.add_link(i, wafer.npus, spec.link_bytes_per_s, latency);
    builder.add_link(wafer.npus, i, spec.link_bytes_per_s, latency);
  }
  return builder.finish();
}

Topology build_mesh(const WaferSpec& wafer) {
  const Mesh2dSpec& mesh = wafer.fabric.mesh2d;
  require(std::uint64_t{mesh.columns} * mesh.rows == wafer.npus, "/wafer/npus",
          "expected columns * rows = " + std::to_string(mesh.columns) + " * " + std::to_string(mesh.rows) +
              " of the mesh, found " + std::to_string(wafer.npus));
  const Time latency = ps_of_ns(mesh.link_latency_ns);
  Builder builder(wafer);
  builder.topology().columns = mesh.columns;
  builder.topology().rows = mesh.rows;
  builder.add_npus(mesh.columns);
  const auto place = [](std::uint32_t x, std::uint32_t y) {
    return "x" + std::to_string(x) + "y" + std::to_string(y);
  };
  const auto connect = [&](std::uint32_t x, std::uint32_t y, std::uint32_t to_x, std::uint32_t to_y) {
    builder.add_link(y * mesh.columns + x, to_y * mesh.columns + to_x, mesh.link_bytes_per_s, latency,
                     place(x, y) + "->" + place(to_x, to_y));
  };
  for (std::uint32_t y = 0; y < mesh.rows; ++y) {
    for (std::uint32_t x = 0; x < mesh.columns; ++x) {
      if (x + 1 < mesh.columns) connect(x, y, x + 1, y);
      if (x > 0) connect(x, y, x - 1, y);
      if (y + 1 < mesh.rows) connect(x, y, x, y + 1);
      if (y > 0) connect(x, y, x, y - 1);
    }
  }
  return builder.finish();
}

Topology build_fred(const WaferSpec& wafer) {
  const FredSpec& fred = wafer.fabric.fred;
  require(std::uint64_t{fred.l1_switches} * fred.npus_per_l1 == wafer.npus, "/wafer/npus",
          "expected l1_switches * npus_per_l1 = " + std::to_string(fred.l1_switches) + " * " +
              std::to_string(fred.npus_per_l1) + " of the fabric, found " + std::to_string(wafer.npus));
  const Time latency = ps_of_ns(fred.link_latency_ns);
  Builder builder(wafer);
  Topology& topology = builder.topology();
  topology.columns = fred.npus_per_l1;
  topology.rows = fred.l1_switches;
  topology.in_network = fred.in_network;
  topology.switch_latency_ps = ps_of_ns(fred.switch_latency_ns);
  builder.add_npus(fred.npus_per_l1);
  for (std::uint32_t s = 0; s < fred.l1_switches; ++s) {
    builder.add_node(NodeKind::kFredL1, "l1_" + std::to_string(s), 0, s);
  }
  const std::uint32_t l2 = wafer.npus + fred.l1_switches;
  builder.add_node(NodeKind::kFredL2, "l2");
  for (std::uint32_t i = 0; i < wafer.npus; ++i) {
    const std::uint32_t l1 = wafer.npus + i / fred.npus_per_l1;
    builder.add_link(i, l1, fred.npu_bytes_per_s, latency);
    builder.add_link(l1, i, fred.npu_bytes_per_s, latency);
  }
  for (std::uint32_t s = 0; s < fred.l1_switches; ++s) {
    builder.add_link(wafer.npus + s, l2, fred.uplink_bytes_per_s, latency);
    builder.add_link(l2, wafer.npus + s, fred.uplink_bytes_per_s, latency);
  }
  return builder.finish();
}

/// Output of a mesh node towards (to_x, to_y): x first.
std::size_t mesh_output(const Topology& topology, NodeId at, NpuId to) {
  const NodeSpec& here = topology.nodes[at.value];
  const NodeSpec& there = topology.nodes[to.value];
  std::size_t port = 0;
  if (there.x > here.x) return port;
  if (here.x + 1 < topology.columns) ++port;
  if (there.x < here.x) return port;
  if (here.x > 0) ++port;
  if (there.y > here.y) return port;
  if (here.y + 1 < topology.rows) ++port;
  return port;
}

/// Clockwise unless the other way is strictly shorter.
std::size_t ring_output(const Topology& topology, NodeId at, NpuId to) {
  const std::uint32_t clockwise = (to.value + topology.npus - at.value) % topology.npus;
  return clockwise <= topology.npus - clockwise ? 0 : 1;
}

std::size_t fred_output(const Topology& topology, NodeId at, NpuId to) {
  const std::uint32_t l1 = to.value / topology.columns;
  switch (topology.nodes[at.value].kind) {
    case NodeKind::kFredL1:
      return topology.nodes[at.value].y == l1 ? to.value % topology.columns : topology.columns;
    case NodeKind::kFredL2:
      return l1;
    default:
      return 0;
  }
}

}  // namespace

Topology build_topology(const WaferSpec& wafer) {
  require(wafer.npus > 0, "/wafer/npus", "expected at least 1, found 0");
  switch (wafer.fabric.kind) {
    case FabricKind::kRing:
      return build_ring(wafer);
    case FabricKind::kSwitch:
      return build_switch(wafer);
    case FabricKind::kMesh2d:
      return build_mesh(wafer);
    case FabricKind::kFred:
      break;
  }
  return build_fred(wafer);
}

LinkId next_link(const Topology& topology, NodeId at, NpuId to) {
  std::size_t port = 0;
  switch (topology.kind) {
    case FabricKind::kRing:
      port = ring_output(topology, at, to);
      break;
    case FabricKind::kSwitch:
      port = at.value == topology.npus ? to.value : 0;
      break;
    case FabricKind::kMesh2d:
      port = mesh_output(topology, at, to);
      break;
    case FabricKind::kFred:
      port = fred_output(topology, at, to);
      break;
  }
  return topology.outputs[at.value][port];
}

std::vector<LinkId> route(const Topology& topology, NpuId from, NpuId to) {
  std::vector<LinkId> links;
  NodeId at{from.value};
  while (at.value != to.value) {
    links.push_back(next_link(topology, at, to));
    at = topology.link(links.back()).to;
  }
  return links;
}

}  // namespace wafervp
