// SPDX-License-Identifier: Apache-2.0
#include "topology/topology.h"

#include "topology/deadlock.h"
#include "topology/fred_tree.h"
#include "topology/picoseconds.h"
#include "topology/topology_builder.h"

namespace wafervp {
namespace {

Topology build_ring(const WaferSpec& wafer) {
  const RingSpec& ring = wafer.fabric.ring;
  const Time latency = ps_of_ns(ring.link_latency_ns);
  TopologyBuilder builder(wafer);
  const std::uint32_t n = builder.topology().npus_per_site();
  builder.add_ends(n);
  for (std::uint32_t first = 0; first < wafer.npus && n > 1; first += n) {
    for (std::uint32_t i = 0; i < n; ++i) {
      builder.add_link(first + i, first + (i + 1) % n, ring.link_bytes_per_s, latency);
      if (n > 2) builder.add_link(first + i, first + (i + n - 1) % n, ring.link_bytes_per_s, latency);
    }
  }
  builder.add_site_links();
  return builder.finish();
}

Topology build_switch(const WaferSpec& wafer) {
  const SwitchSpec& spec = wafer.fabric.switch_;
  const Time latency = ps_of_ns(spec.link_latency_ns);
  TopologyBuilder builder(wafer);
  builder.topology().switch_latency_ps = ps_of_ns(spec.switch_latency_ns);
  builder.add_ends(wafer.npus);
  builder.add_node(NodeKind::kSwitch, "switch");
  for (std::uint32_t i = 0; i < wafer.npus; ++i) {
    builder.add_link(i, wafer.npus, spec.link_bytes_per_s, latency);
    builder.add_link(wafer.npus, i, spec.link_bytes_per_s, latency);
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
  const std::uint32_t n = topology.npus_per_site();
  const std::uint32_t clockwise = (to.value + n - at.value) % n;  // both are of one site
  return clockwise <= n - clockwise ? 0 : 1;
}

}  // namespace

Topology build_topology(const WaferSpec& wafer) {
  require(wafer.npus > 0, "/wafer/npus", "expected at least 1, found 0");
  require(wafer.sites.count <= 1 || wafer.fabric.kind == FabricKind::kMesh2d ||
              wafer.fabric.kind == FabricKind::kRing,
          "/wafer/sites/count", "sites need a fabric of kind mesh2d or ring");
  const bool has_io = wafer.fabric.kind == FabricKind::kMesh2d || wafer.fabric.kind == FabricKind::kFred;
  require(has_io || wafer.io.controllers == 0, "/wafer/io/controllers",
          "I/O controllers need a fabric of kind mesh2d or fred");
  switch (wafer.fabric.kind) {
    case FabricKind::kRing:
      return build_ring(wafer);
    case FabricKind::kSwitch:
      return build_switch(wafer);
    case FabricKind::kMesh2d: {
      Topology mesh = build_mesh(wafer);
      refuse_deadlock(mesh, wafer);
      return mesh;
    }
    case FabricKind::kFred:
      break;
  }
  return build_fred(wafer);
}

namespace {

/// The gateway's link to another site; they come behind its links in the site.
LinkId site_link(const Topology& topology, NodeId gateway, std::uint32_t to_site) {
  const std::vector<LinkId>& outputs = topology.outputs[gateway.value];
  const std::uint32_t site = topology.site_of(gateway);
  return outputs[outputs.size() - (topology.sites - 1) + to_site - (to_site > site ? 1 : 0)];
}

}  // namespace

LinkId next_link(const Topology& topology, NodeId at, NpuId to) {
  const std::uint32_t site = topology.site_of(at), to_site = topology.site_of(NodeId(to.value));
  if (site != to_site) {
    const NodeId gateway(site * topology.npus_per_site() + topology.gateway);
    if (at == gateway) return site_link(topology, at, to_site);
    to = NpuId(gateway.value);
  }
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
      port = FredTree(topology).output(at, NodeId{to.value});
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
