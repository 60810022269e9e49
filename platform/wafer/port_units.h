// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "compression/compression_unit.h"
#include "link/link_engine.h"
#include "scenario/scenario.h"
#include "topology/topology.h"
#include "wafer/compression_plan.h"
#include "workload/programs.h"

namespace wafervp {

/// Compression units at both ends of links of a FRED fabric (placement fred_ports). A packet is compressed by
/// itself when it enters such a link, and is as it was at the far end; all traffic goes through one codec.
/// What they do is a property of the link: its rate, in bytes of values, and its latency. README.md has the
/// law.
class PortUnits {
 public:
  /// `plan` has classes, and its units stand at ports.
  PortUnits(const Scenario& scenario, const Topology& topology, const CompressionPlan& plan);

  bool at(LinkId id) const { return compressed_[id.value]; }
  /// Makes `config`, of a link that is in the scenario without units, that of a link with them.
  void apply(LinkConfig& config, const LinkSpec& link) const;
  /// On the wire, of `bytes` of values on one link.
  std::uint64_t wire_bytes(std::uint64_t bytes) const;
  /// Adds what the units at both ends of a link did.
  void add(const LinkStatistics& link, CompressionStatistics& sum) const;
  /// Throws ScenarioError where traffic over the links has more than one codec.
  void check(const CompressionPlan& plan, const Workload& workload) const;

 private:
  const Topology& topology_;
  std::vector<bool> compressed_;  ///< by link
  bool own_buffers_;              ///< the scenario does not say how large they are
  std::uint64_t packet_bytes_;    ///< of a full packet on the wire
  Time packet_ps_;                ///< that a unit takes for one
  Time latency_;                  ///< of the two units
};

}  // namespace wafervp
