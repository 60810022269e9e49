// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topology/fred_wafer.h"

namespace wafervp {

/// A logical switch of a slice of a FRED wafer.
struct FredNode {
  std::string name;          ///< "l1_0", "l2_3"; the root is "l2" above L1s, "l3" above L2s
  unsigned level = 1;        ///< 1: NPUs hang on it
  unsigned parent = 0;       ///< its number; its own one at the root
  unsigned child = 0;        ///< which of the parent's
  unsigned first_child = 0;  ///< number of its first child; meaningless in L1
  unsigned children = 0;     ///< 0 in L1
  unsigned ends = 0;         ///< NPUs and I/O controllers of an L1
  unsigned below = 0;        ///< ports towards ends or children
  unsigned up_ports = 0;     ///< 0 at the root
};

/// The switches of a slice as a tree: L1s first, then the levels above, the root last. Ports of a switch:
/// those of its NPUs and I/O controllers, or by child and the child's up port; then its own up ports. Where
/// the root is several chips, chip c has the ports of up_ports / chips of each child.
class FredSlice {
 public:
  explicit FredSlice(const FredWafer& wafer);

  const std::vector<FredNode>& nodes() const { return nodes_; }
  const FredNode& operator[](unsigned node) const { return nodes_[node]; }
  unsigned root() const { return static_cast<unsigned>(nodes_.size()) - 1; }
  unsigned l1s() const { return l1s_; }
  unsigned ends() const { return static_cast<unsigned>(places_.size()); }
  /// Throws std::out_of_range for an end that is not there.
  const FredPlace& place_of(unsigned end) const;
  /// A root of one L1 has no chips of its own: it is the L1.
  unsigned root_chips() const { return root_chips_; }
  bool is_split(unsigned node) const { return node == root() && root_chips_ > 1; }

  /// Port of `parent` to which up port `up` of child `node` leads, in the chip that it leads to.
  unsigned port_at_parent(unsigned node, unsigned up) const;
  /// The root's chip to which up port `up` of its child `node` leads; 0 below the root.
  unsigned chip_at_parent(unsigned node, unsigned up) const;
  unsigned own_up_port(unsigned node, unsigned up) const { return nodes_[node].below + up; }

 private:
  std::vector<FredNode> nodes_;
  std::vector<FredPlace> places_;
  unsigned l1s_, npus_ = 0, root_chips_;
};

/// A budget of searches, made smaller for larger wafers, since a step costs as much as there are switches:
/// all of it for the paper's six.
std::uint64_t scaled(std::uint64_t budget, const FredSlice& slice);

/// As those of a FredWafer.
std::vector<Crossing> crossings(const FredSlice& tree, const std::vector<FredFlow>& flows);
std::vector<ChipFlows> split(const FredSlice& tree, const std::vector<FredFlow>& flows,
                             const std::vector<Crossing>& crossings, const UpPorts& up_ports);

}  // namespace wafervp
