// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "fred_network/configuration.h"
#include "fred_network/fred_flow.h"
#include "fred_network/network.h"

namespace wafervp {

/// A μswitch, or a port, that two flows want.
struct SharedPart {
  std::size_t first, second;  ///< the flows
  unsigned level;             ///< 0: the outermost μswitches
  MicroSwitchKind kind;       ///< kReduce: on the input side, kDistribute: on the output side
  unsigned index;  ///< it serves the ports index * 2^(level+1) and following; kSharedPort: the port
  std::vector<unsigned> ports;  ///< ports of the two flows that lead there, ascending
};

/// Why flows cannot run at the same time.
struct Conflict {
  enum class Kind {
    kSharedPort,  ///< two flows have an input or an output port in common
    kOddCycle,    ///< m = 2: each shares a μswitch with the next, and their number is odd
    kClique,      ///< each shares a μswitch with each other, and they are more than m
    kCritical,    ///< needs more than m colours in another way
    kDeeper,      ///< can be coloured on the outermost level, but then not further in, whatever the colours
    kUnproven     ///< the budget ran out; the flows are all
  };
  Kind kind;
  std::vector<std::size_t>
      flows;        ///< without any one of them the others can be routed; cycles in their order
  unsigned levels;  ///< that it takes to see the conflict, from the outside
  std::vector<SharedPart> shared;  ///< where each two of the flows meet first, within these levels
};

enum class RoutingStatus { kRouted, kConflict, kOutOfBudget };

/// The way of a flow through the switch.
struct FlowRoute {
  std::vector<unsigned> middles;  ///< middle network at each level, from the outside
  unsigned adds, copies;          ///< depth of its tree: additions, and copies, one after the other
};

struct Routing {
  RoutingStatus status;
  std::vector<FlowRoute> flows;      ///< by flow, where kRouted
  std::optional<Conflict> conflict;  ///< where not kRouted, if asked for
  std::uint64_t tried;               ///< colours given
};

struct RoutingOptions {
  /// Colours that may be given to flows before the search gives up; as many again to name a conflict.
  std::uint64_t budget = 100'000;
  /// Whether the flows of a conflict are named; not where routes are only tried out.
  bool name_conflicts = true;
};

/// Routes all flows at the same time. The result depends on nothing but the arguments. Throws
/// std::invalid_argument as check() of shape and flows.
Routing route(const FredShape& shape, const std::vector<FredFlow>& flows, const RoutingOptions& options = {});

/// The bits that make `network` carry the flows: both inputs of an R or RD in one flow add, both outputs of a
/// D or RD in one flow copy. Throws std::invalid_argument when `routing` is not a kRouted one of these flows.
ConfigurationBits configure(const FredNetwork& network, const std::vector<FredFlow>& flows,
                            const Routing& routing);

/// Flows that run at the same time, one set after the other.
struct Round {
  std::vector<std::size_t> flows;  ///< indices
  Routing routing;                 ///< of these, in their order; kRouted
};
/// Serialises what does not fit at once, in the fewest rounds that fewest_rounds() finds. One round when all
/// fit. Errors as route().
std::vector<Round> serialise(const FredShape& shape, const std::vector<FredFlow>& flows,
                             const RoutingOptions& options = {});

/// The flows of these indices.
std::vector<FredFlow> pick(const std::vector<FredFlow>& flows, const std::vector<std::size_t>& indices);

}  // namespace wafervp
