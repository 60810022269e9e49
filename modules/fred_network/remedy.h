// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fred_network/routing.h"

namespace wafervp {

/// What a remedy makes of flows that cannot all be routed at the same time.
struct Remedied {
  FredShape shape;              ///< of the switch; with more middle networks where the remedy is that
  std::vector<FredFlow> flows;  ///< what is routed; some in parts where the remedy is that
  std::vector<Round> rounds;  ///< carry all of `flows`, one after the other; one round: the conflict is gone
  std::vector<std::string> notes;  ///< what was done, a sentence each; none where there was no conflict
};

/// A way out of a conflict (arXiv 2406.19580 names four; the fourth, to move workers, is a matter of
/// placement).
class Remedy {
 public:
  virtual ~Remedy() = default;
  /// Errors as route().
  virtual Remedied apply(const FredShape& shape, const std::vector<FredFlow>& flows,
                         const RoutingOptions& options) const = 0;
};

/// By name. `serialise`: flows wait for others, in rounds. `more_middles`: as many middle networks as it
/// takes; where two flows want one port none are enough, and they are serialised. `endpoint_ring`: the
/// smallest flow of each conflict becomes unicasts between its end points until all can be routed; where no
/// flow of a conflict can be taken apart they are serialised. Throws std::invalid_argument for another name.
std::unique_ptr<Remedy> make_remedy(const std::string& name);
std::vector<std::string> remedy_names();

}  // namespace wafervp
