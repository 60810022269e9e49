// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fred_network/network.h"
#include "fred_network/store.h"
#include "topology/fred_plan.h"

namespace wafervp {

/// A phase as the control units of a slice's chips hold it.
struct CompiledPhase {
  std::string name;
  /// By set of flows that may pass at once (PlannedPhase::sets) and chip: the entry in the chip's store; none
  /// where it carries nothing.
  std::vector<std::vector<std::optional<std::size_t>>> entries;
};

/// What the control units of the switches hold for a training step (arXiv 2406.19580: made at compile time, a
/// phase is chosen by the index in a packet's header).
struct FredConfigurations {
  std::vector<FredChip> chips;  ///< of a slice; those of all slices are alike
  std::map<FredShape, std::shared_ptr<const FredNetwork>> networks;
  std::vector<CompiledPhase> phases;
  std::vector<ConfigurationStore> stores;  ///< by chip
  /// By chip: the bytes that all configurations take. More than `store_bytes` is an error; see
  /// check_stores().
  std::vector<std::size_t> bytes;
  std::size_t store_bytes;
};

/// Puts the configurations of all sets of flows of a plan into the chips' stores, however many bytes that
/// takes.
FredConfigurations compile(const FredPlan& plan, std::size_t store_bytes = ConfigurationStore::kPaperBytes);

/// Throws ConfigurationStoreFull when a store has more than `store_bytes`, with the chip, the phase that was
/// one too many, and the bytes that all take.
void check_stores(const FredConfigurations& configurations);

}  // namespace wafervp
