// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "topology/topology.h"

namespace wafervp {

/// Throws ScenarioError at `pointer` unless `holds`.
void require(bool holds, const std::string& pointer, const std::string& text);

/// Puts nodes and links together; rates of single links are laid over at the end.
class TopologyBuilder {
 public:
  explicit TopologyBuilder(const WaferSpec& wafer);

  void add_node(NodeKind kind, std::string name, std::uint32_t x = 0, std::uint32_t y = 0);
  /// The NPUs, then the I/O controllers: nodes 0 and on.
  void add_ends(std::uint32_t columns);
  void add_link(std::uint32_t from, std::uint32_t to, std::uint64_t rate, Time latency);
  void add_link(std::uint32_t from, std::uint32_t to, std::uint64_t rate, Time latency, std::string name);
  /// Controller k to node `at` and back.
  void add_io(std::uint32_t k, NodeId at, bool row_first);
  /// From each gateway to the other ones.
  void add_site_links();
  Topology& topology() { return topology_; }

  Topology finish();

 private:
  void apply_link_rates();
  void check_script() const;
  std::uint32_t buffer_packets(const LinkSpec& link) const;

  const WaferSpec& wafer_;
  Topology topology_;
};

Topology build_mesh(const WaferSpec& wafer);
Topology build_fred(const WaferSpec& wafer);

}  // namespace wafervp
