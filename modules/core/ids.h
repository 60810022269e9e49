// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace wafervp {

/// An index that cannot be mixed with an index of another kind.
template <class Tag>
struct Id {
  std::uint32_t value = 0xffffffffu;
  constexpr Id() = default;
  explicit constexpr Id(std::uint32_t v) : value(v) {}
  constexpr bool valid() const { return value != 0xffffffffu; }
  friend constexpr bool operator==(Id a, Id b) { return a.value == b.value; }
  friend constexpr bool operator!=(Id a, Id b) { return a.value != b.value; }
  friend constexpr bool operator<(Id a, Id b) { return a.value < b.value; }
};

using NpuId = Id<struct NpuTag>;    ///< an accelerator, 0 .. npus-1
using NodeId = Id<struct NodeTag>;  ///< a node of the topology: the NPUs first, then switches
using LinkId = Id<struct LinkTag>;  ///< a directed link of the topology
using FlowId = Id<struct FlowTag>;  ///< a flow, in order of opening

}  // namespace wafervp
