// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "fred_network/store.h"
#include "topology/fred_routes.h"

namespace wafervp {

/// Flows that run at the same time.
struct CompiledRound {
  std::vector<std::size_t> flows;                   ///< indices into the phase's
  std::vector<std::optional<std::size_t>> entries;  ///< by chip: in its store; none where it carries nothing
};
struct CompiledPhase {
  std::string name;
  std::vector<CompiledRound> rounds;  ///< one, where all flows can be routed at once
};

/// What the control units of the switches hold for a training step (arXiv 2406.19580: made at compile time, a
/// phase is chosen by the index in a packet's header).
struct FredConfigurations {
  std::vector<CompiledPhase> phases;
  std::vector<ConfigurationStore> stores;  ///< by chip of a slice; those of all slices are alike
};

/// Routes each phase, in rounds where it has to be, and puts the configurations into the chips' stores.
/// Errors as route(); throws ConfigurationStoreFull with the name of the chip.
FredConfigurations compile(const FredWafer& wafer, const std::vector<FredPhase>& phases,
                           const FredRouteOptions& options = {},
                           std::size_t store_bytes = ConfigurationStore::kPaperBytes);

}  // namespace wafervp
