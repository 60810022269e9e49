// SPDX-License-Identifier: Apache-2.0
#include "topology/fred_slice.h"

#include <algorithm>
#include <stdexcept>

namespace wafervp {

FredSlice::FredSlice(const FredWafer& wafer)
    : l1s_(static_cast<unsigned>(wafer.l1s.size())), root_chips_(wafer.up_ports == 0 ? 1 : wafer.l2_chips) {
  for (unsigned s = 0; s < l1s_; ++s) {
    const FredL1& l1 = wafer.l1s[s];
    const unsigned ends = l1.npus + l1.io_controllers;
    nodes_.push_back({"l1_" + std::to_string(s), 1, 0, 0, 0, 0, ends, ends, wafer.up_ports});
    for (unsigned i = 0; i < l1.npus; ++i) places_.push_back({s, i});
  }
  npus_ = static_cast<unsigned>(places_.size());
  for (unsigned s = 0; s < l1s_; ++s) {
    const FredL1& l1 = wafer.l1s[s];
    for (unsigned i = 0; i < l1.io_controllers; ++i) places_.push_back({s, l1.npus + i});
  }
  if (wafer.up_ports == 0) return;
  std::vector<FredUpperLevel> above = wafer.between;
  above.push_back({1, 0});
  unsigned first = 0, count = l1s_, up_ports = wafer.up_ports, level = 2;
  for (const FredUpperLevel& here : above) {
    const unsigned children = here.switches == 0 ? 0 : count / here.switches;
    const auto begin = static_cast<unsigned>(nodes_.size());
    for (unsigned s = 0; s < here.switches; ++s) {
      const std::string number = here.switches == 1 ? "" : "_" + std::to_string(s);
      nodes_.push_back({"l" + std::to_string(level) + number, level, 0, 0, first + s * children, children, 0,
                        children * up_ports, here.up_ports});
      for (unsigned c = 0; c < children; ++c) {
        nodes_[first + s * children + c].parent = begin + s;
        nodes_[first + s * children + c].child = c;
      }
    }
    first = begin;
    count = here.switches;
    up_ports = here.up_ports;
    ++level;
  }
  nodes_.back().parent = root();
}

const FredPlace& FredSlice::place_of(unsigned end) const {
  if (end < places_.size()) return places_[end];
  throw std::out_of_range("the wafer has " + std::to_string(npus_) + " NPUs and " +
                          std::to_string(places_.size() - npus_) + " I/O controllers, and no end " +
                          std::to_string(end));
}

unsigned FredSlice::port_at_parent(unsigned node, unsigned up) const {
  const FredNode& child = nodes_[node];
  const unsigned each = child.up_ports / (is_split(child.parent) ? root_chips_ : 1);
  return child.child * each + up % each;
}

unsigned FredSlice::chip_at_parent(unsigned node, unsigned up) const {
  const FredNode& child = nodes_[node];
  return is_split(child.parent) ? up / (child.up_ports / root_chips_) : 0;
}

std::uint64_t scaled(std::uint64_t budget, const FredSlice& slice) {
  constexpr std::uint64_t kPaperSwitches = 6;
  return budget * kPaperSwitches / std::max<std::uint64_t>(kPaperSwitches, slice.nodes().size());
}

}  // namespace wafervp
