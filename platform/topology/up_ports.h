// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fred_network/routing.h"
#include "topology/fred_wafer.h"

namespace wafervp {

/// The up ports that a policy found for the crossing flows of a wafer.
struct UpPortChoice {
  std::optional<UpPorts> ports;  ///< none where the flows do not find room at all
  std::string problem;           ///< why not; empty where `ports` are there
  std::uint64_t tried = 0;       ///< assignments held against the chips
  bool proved = false;           ///< no up ports at all would do: only after a search that saw all there is
};

/// How crossing flows get up ports.
class UpPortPolicy {
 public:
  virtual ~UpPortPolicy() = default;
  virtual UpPortChoice choose(const FredWafer& wafer, const std::vector<FredFlow>& flows,
                              const std::vector<Crossing>& crossings,
                              const RoutingOptions& options) const = 0;
};

/// By name. `in_order`: at each L1 the k-th flow that goes up gets up port k, and the k-th that comes down.
/// `searched`: the same where the chips can route it, otherwise an assignment that they can route, by a
/// search with a budget of assignments, in which a flow that goes up and comes down at an L1 keeps to one
/// port there. `searched_apart`: the same with ports of their own for the two directions, which takes longer
/// and can prove that there are none. Where a search finds none the ports are those of `in_order`. Throws
/// std::invalid_argument for another name.
std::unique_ptr<UpPortPolicy> make_up_port_policy(const std::string& name);
std::vector<std::string> up_port_policy_names();

/// True when all chips can route their parts at the same time.
bool routable(const FredWafer& wafer, const std::vector<FredFlow>& flows,
              const std::vector<Crossing>& crossings, const UpPorts& ports, const RoutingOptions& options);

}  // namespace wafervp
