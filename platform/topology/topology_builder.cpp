// SPDX-License-Identifier: Apache-2.0
#include "topology/topology_builder.h"

#include <algorithm>
#include <map>

#include "scenario/errors.h"
#include "scenario/text.h"
#include "topology/picoseconds.h"

namespace wafervp {
namespace {

__extension__ using Wide = unsigned __int128;

/// ceil(rate * round trip / 4096) + 2: a round trip of whole packets, the one being sent and the one
/// whose credit is on its way. The round trip: link, node at its end, and back.
std::uint32_t default_buffer_packets(std::uint64_t bytes_per_s, Time link_ps, Time node_ps) {
  const Wide numerator = static_cast<Wide>(bytes_per_s) * (2 * link_ps + node_ps);
  const Wide denominator = static_cast<Wide>(kPsPerSecond) * kPacketBytes;
  const Wide packets = (numerator + denominator - 1) / denominator + 2;
  return packets > 0xffffffffu ? 0xffffffffu : static_cast<std::uint32_t>(packets);
}

/// The buffers of arXiv 2406.19580: 24 KiB a data channel of a port of 600 GB/s. The ports that a link of
/// FRED merges are taken to be as many as its rate needs; another link has one.
std::uint32_t paper_buffer_packets(FabricKind kind, std::uint64_t bytes_per_s) {
  constexpr std::uint64_t kPortRate = 600'000'000'000, kPackets = 24 * 1024 / kPacketBytes;
  const std::uint64_t ports = kind == FabricKind::kFred ? (bytes_per_s + kPortRate - 1) / kPortRate : 1;
  return static_cast<std::uint32_t>(kPackets * ports);
}

Issue unknown_link(const std::string& pointer, const std::string& name,
                   const std::vector<std::string>& names) {
  std::string text = "no link of this fabric has this name";
  const std::string nearest = nearest_word(name, names);
  if (!nearest.empty()) text += "; did you mean \"" + nearest + "\"?";
  return {"", 0, 0, pointer, text};
}

}  // namespace

void require(bool holds, const std::string& pointer, const std::string& text) {
  if (!holds) throw ScenarioError({Issue{"", 0, 0, pointer, text}});
}

TopologyBuilder::TopologyBuilder(const WaferSpec& wafer) : wafer_(wafer) {
  topology_.kind = wafer.fabric.kind;
  topology_.npus = wafer.npus;
  topology_.sites = std::max(wafer.sites.count, 1u);  // 0: a wafer that no file was read for
  topology_.gateway = wafer.sites.gateway;
  require(wafer.npus % topology_.sites == 0, "/wafer/sites/count", "expected a divisor of /wafer/npus");
}

void TopologyBuilder::add_node(NodeKind kind, std::string name, std::uint32_t x, std::uint32_t y) {
  topology_.nodes.push_back({kind, std::move(name), x, y});
}

void TopologyBuilder::add_ends(std::uint32_t columns) {
  for (std::uint32_t n = 0; n < wafer_.npus; ++n) {
    const std::uint32_t local = n % topology_.npus_per_site();
    add_node(NodeKind::kNpu, "npu" + std::to_string(n), local % columns, local / columns);
  }
  for (std::uint32_t k = 0; k < wafer_.io.controllers; ++k) {
    add_node(NodeKind::kIoController, "io" + std::to_string(k));
  }
}

void TopologyBuilder::add_link(std::uint32_t from, std::uint32_t to, std::uint64_t rate, Time latency) {
  add_link(from, to, rate, latency, topology_.nodes[from].name + "->" + topology_.nodes[to].name);
}

void TopologyBuilder::add_link(std::uint32_t from, std::uint32_t to, std::uint64_t rate, Time latency,
                               std::string name) {
  topology_.links.push_back({NodeId{from}, NodeId{to}, rate, latency, 0, std::move(name)});
}

void TopologyBuilder::add_site_links() {
  const SitesSpec& sites = wafer_.sites;
  const Time latency = ps_of_ns(sites.latency_ns);
  const auto gateway = [&](std::uint32_t site) { return site * topology_.npus_per_site() + sites.gateway; };
  for (std::uint32_t from = 0; from < topology_.sites; ++from) {
    for (std::uint32_t to = 0; to < topology_.sites; ++to) {
      if (from == to) continue;
      add_link(gateway(from), gateway(to), sites.bytes_per_s, latency,
               "site" + std::to_string(from) + "->site" + std::to_string(to));
      const bool shared = sites.wires == SiteWires::kSharedInbound;
      topology_.links.back().wire = shared ? to : from * topology_.sites + to;
    }
  }
}

void TopologyBuilder::add_io(std::uint32_t k, NodeId at, bool row_first) {
  const Time latency = ps_of_ns(wafer_.io.link_latency_ns);
  const std::uint32_t node = topology_.npus + k;
  topology_.io.push_back({at, row_first});
  add_link(node, at.value, wafer_.io.channel_bytes_per_s, latency);
  add_link(at.value, node, wafer_.io.channel_bytes_per_s, latency);
}

std::uint32_t TopologyBuilder::buffer_packets(const LinkSpec& link) const {
  if (link.between_sites()) return ~std::uint32_t{0};
  if (wafer_.fabric.buffer_packets != 0) return wafer_.fabric.buffer_packets;
  if (wafer_.fabric.flow_control.buffers == BufferRule::kPaper) {
    return paper_buffer_packets(topology_.kind, link.bytes_per_s);
  }
  const Time node_ps = link.to.value < topology_.ends() ? 0 : topology_.switch_latency_ps;
  return default_buffer_packets(link.bytes_per_s, link.latency_ps, node_ps);
}

Topology TopologyBuilder::finish() {
  apply_link_rates();
  check_script();
  topology_.outputs.resize(topology_.nodes.size());
  topology_.inputs.resize(topology_.nodes.size());
  for (std::uint32_t i = 0; i < topology_.links.size(); ++i) {
    LinkSpec& link = topology_.links[i];
    link.buffer_packets = buffer_packets(link);
    topology_.outputs[link.from.value].push_back(LinkId{i});
    topology_.inputs[link.to.value].push_back(LinkId{i});
  }
  return std::move(topology_);
}

/// The scripted errors name links that are there.
void TopologyBuilder::check_script() const {
  const std::vector<ScriptedError>& script = wafer_.fabric.errors.script;
  if (script.empty()) return;
  std::vector<std::string> names;
  for (const LinkSpec& link : topology_.links) names.push_back(link.name);
  std::vector<Issue> issues;
  for (std::size_t i = 0; i < script.size(); ++i) {
    if (std::find(names.begin(), names.end(), script[i].link) != names.end()) continue;
    const std::string pointer = "/wafer/fabric/errors/script/" + std::to_string(i) + "/link";
    issues.push_back(unknown_link(pointer, script[i].link, names));
  }
  if (!issues.empty()) throw ScenarioError(std::move(issues));
}

void TopologyBuilder::apply_link_rates() {
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
      issues.push_back(unknown_link("/wafer/fabric/link_rates/" + pointer_token(name), name, names));
    } else if (rate == 0) {
      issues.push_back(
          {"", 0, 0, "/wafer/fabric/link_rates/" + pointer_token(name), "expected a rate above 0 bytes/s"});
    } else {
      found->second->bytes_per_s = rate;
    }
  }
  if (!issues.empty()) throw ScenarioError(std::move(issues));
}

}  // namespace wafervp
