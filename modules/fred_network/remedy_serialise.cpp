// SPDX-License-Identifier: Apache-2.0
#include "fred_network/remedies.h"

namespace wafervp {

Remedied SerialiseRemedy::apply(const FredShape& shape, const std::vector<FredFlow>& flows,
                                const RoutingOptions& options) const {
  Remedied result{shape, flows, serialise(shape, flows, options), {}};
  for (std::size_t r = 1; r < result.rounds.size(); ++r) {
    std::string names;
    for (const std::size_t flow : result.rounds[r].flows) {
      names += (names.empty() ? "" : ", ") + flows[flow].name;
    }
    result.notes.push_back("round " + std::to_string(r + 1) + " of " + std::to_string(result.rounds.size()) +
                           " carries " + names);
  }
  return result;
}

}  // namespace wafervp
