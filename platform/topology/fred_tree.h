// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "topology/topology.h"

namespace wafervp {

/// The switches of a FRED topology as a tree. Ports of an L1 switch: its NPUs, its I/O controllers, up. Ports
/// of a switch above: its children, up.
class FredTree {
 public:
  explicit FredTree(const Topology& topology) : topology_(topology) {}

  /// Level of a switch, from 1.
  std::uint32_t level(NodeId node) const;
  /// L1 switch, by its number, of an NPU or I/O controller.
  std::uint32_t l1_of(NodeId end) const;
  /// Port of an NPU or I/O controller at its L1 switch.
  unsigned port_of(NodeId end) const;
  /// L1 switches under a switch: [first, last).
  struct Span {
    std::uint32_t first, last;
    bool has(std::uint32_t l1) const { return l1 >= first && l1 < last; }
  };
  Span span(NodeId node) const;
  /// Child port of a switch above level 1 that leads to an L1 switch of its span.
  unsigned child_port(NodeId node, std::uint32_t l1) const;
  /// Its port upwards; the switch of the last level has none.
  unsigned up_port(NodeId node) const;
  /// I/O controllers of an L1 switch, from controller `first_io` on.
  std::uint32_t io_count(std::uint32_t l1) const;
  std::uint32_t first_io(std::uint32_t l1) const;
  /// Port on which a packet for end `to` leaves switch `at`.
  unsigned output(NodeId at, NodeId to) const;

 private:
  std::uint32_t span_width(std::uint32_t level) const;

  const Topology& topology_;
};

/// L1 switch and place in it of controller k, where `controllers` are dealt out over `l1s` switches.
struct IoPlace {
  std::uint32_t l1, index;
};
IoPlace io_place(std::uint32_t controllers, std::uint32_t l1s, std::uint32_t k);

}  // namespace wafervp
