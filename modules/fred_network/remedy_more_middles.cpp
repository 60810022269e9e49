// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "fred_network/remedies.h"

namespace wafervp {

Remedied MoreMiddlesRemedy::apply(const FredShape& shape, const std::vector<FredFlow>& flows,
                                  const RoutingOptions& options) const {
  RoutingOptions naming = options;
  naming.name_conflicts = true;
  Routing routing = route(shape, flows, naming);
  FredShape larger = shape;
  // With a middle network for each flow there is nothing left to share.
  while (routing.status != RoutingStatus::kRouted && routing.conflict->kind != Conflict::Kind::kSharedPort &&
         larger.middles < flows.size()) {
    ++larger.middles;
    routing = route(larger, flows, naming);
  }
  if (routing.status != RoutingStatus::kRouted) return SerialiseRemedy().apply(shape, flows, options);
  std::vector<std::size_t> all(flows.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  Remedied result{larger, flows, {{std::move(all), std::move(routing)}}, {}};
  if (larger != shape) {
    result.notes.push_back(name_of(larger) + " instead of " + name_of(shape) + " carries all flows at once");
  }
  return result;
}

}  // namespace wafervp
