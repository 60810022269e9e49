// SPDX-License-Identifier: Apache-2.0
#include "fred_network/store.h"

#include <algorithm>
#include <string>

namespace wafervp {

std::size_t ConfigurationStore::add(const ConfigurationBits& configuration) {
  if (configuration.size() != bits_) {
    throw std::invalid_argument("a configuration of " + std::to_string(configuration.size()) +
                                " bits does not belong to a switch of " + std::to_string(bits_));
  }
  const auto found = std::find(entries_.begin(), entries_.end(), configuration);
  if (found != entries_.end()) return static_cast<std::size_t>(found - entries_.begin());
  if (entries_.size() == capacity()) {
    throw ConfigurationStoreFull("the configuration store is full: " + std::to_string(capacity_bytes_) +
                                 " bytes hold " + std::to_string(capacity()) + " configurations of " +
                                 std::to_string(entry_bytes()) + " bytes");
  }
  entries_.push_back(configuration);
  return entries_.size() - 1;
}

}  // namespace wafervp
