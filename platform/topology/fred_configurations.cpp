// SPDX-License-Identifier: Apache-2.0
#include "topology/fred_configurations.h"

#include <algorithm>
#include <limits>

namespace wafervp {

FredConfigurations compile(const FredPlan& plan, std::size_t store_bytes) {
  FredConfigurations result{chips_of_slice(plan.wafer), {}, {}, {}, {}, store_bytes};
  for (const FredChip& chip : result.chips) {
    auto& network = result.networks[chip.shape];
    if (network == nullptr) network = std::make_shared<const FredNetwork>(chip.shape);
    result.stores.emplace_back(network->configuration_bits(), std::numeric_limits<std::size_t>::max());
  }
  for (const PlannedPhase& phase : plan.phases) {
    CompiledPhase compiled{phase.phase.name, {}};
    for (const PlannedPhase::Set& set : phase.sets) {
      std::vector<std::optional<std::size_t>> entries(result.chips.size());
      for (std::size_t c = 0; c < result.chips.size(); ++c) {
        if (set.routes.parts[c].flows.empty()) continue;
        entries[c] = result.stores[c].add(configure(*result.networks.at(result.chips[c].shape),
                                                    set.routes.parts[c].flows, set.routes.routings[c]));
      }
      compiled.entries.push_back(std::move(entries));
    }
    result.phases.push_back(std::move(compiled));
  }
  for (const ConfigurationStore& store : result.stores) {
    result.bytes.push_back(store.size() * store.entry_bytes());
  }
  return result;
}

void check_stores(const FredConfigurations& configurations) {
  for (std::size_t c = 0; c < configurations.chips.size(); ++c) {
    const ConfigurationStore& store = configurations.stores[c];
    const std::size_t room = configurations.store_bytes / store.entry_bytes();
    if (store.size() <= room) continue;
    // The phase of the first entry that finds no room.
    const auto over = [&](const CompiledPhase& phase) {
      return std::any_of(phase.entries.begin(), phase.entries.end(),
                         [&](const auto& set) { return set[c] && *set[c] >= room; });
    };
    const auto phase = std::find_if(configurations.phases.begin(), configurations.phases.end(), over);
    throw ConfigurationStoreFull(
        "switch " + configurations.chips[c].name + ", " + name_of(configurations.chips[c].shape) +
        ": no room for phase " + phase->name + ": expected at most " +
        std::to_string(configurations.store_bytes) + " bytes, which hold " + std::to_string(room) +
        " configurations of " + std::to_string(store.entry_bytes()) + " bytes, found " +
        std::to_string(store.size()) + " of them, " + std::to_string(configurations.bytes[c]) + " bytes");
  }
}

}  // namespace wafervp
