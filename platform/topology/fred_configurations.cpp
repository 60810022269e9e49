// SPDX-License-Identifier: Apache-2.0
#include "topology/fred_configurations.h"

#include <map>

namespace wafervp {
namespace {

/// The chips of a slice with their networks and stores.
class Chips {
 public:
  Chips(const FredWafer& wafer, std::size_t store_bytes) : chips_(chips_of_slice(wafer)) {
    for (const FredChip& chip : chips_) {
      const auto network = networks_.try_emplace(chip.shape, chip.shape).first;
      stores_.emplace_back(network->second.configuration_bits(), store_bytes);
    }
  }

  std::vector<std::optional<std::size_t>> store(const FredRoutes& routes) {
    std::vector<std::optional<std::size_t>> entries(chips_.size());
    for (std::size_t c = 0; c < chips_.size(); ++c) {
      if (routes.parts[c].flows.empty()) continue;
      const FredNetwork& network = networks_.at(chips_[c].shape);
      try {
        entries[c] = stores_[c].add(configure(network, routes.parts[c].flows, routes.routings[c]));
      } catch (const ConfigurationStoreFull& full) {
        throw ConfigurationStoreFull(chips_[c].name + ", " + name_of(chips_[c].shape) + ": " + full.what());
      }
    }
    return entries;
  }

  std::vector<ConfigurationStore> take_stores() { return std::move(stores_); }

 private:
  std::vector<FredChip> chips_;
  std::map<FredShape, FredNetwork> networks_;
  std::vector<ConfigurationStore> stores_;
};

}  // namespace

FredConfigurations compile(const FredWafer& wafer, const std::vector<FredPhase>& phases,
                           const FredRouteOptions& options, std::size_t store_bytes) {
  check(wafer);
  Chips chips(wafer, store_bytes);
  FredConfigurations result;
  for (const FredPhase& phase : phases) {
    CompiledPhase compiled{phase.name, {}};
    for (std::vector<std::size_t>& round : serialise(wafer, phase.flows, options)) {
      const FredRoutes routes = route(wafer, pick(phase.flows, round), options);
      compiled.rounds.push_back({std::move(round), chips.store(routes)});
    }
    result.phases.push_back(std::move(compiled));
  }
  result.stores = chips.take_stores();
  return result;
}

}  // namespace wafervp
