// SPDX-License-Identifier: Apache-2.0
#include "topology/fred_tree.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace wafervp {

IoPlace io_place(std::uint32_t controllers, std::uint32_t l1s, std::uint32_t k) {
  const std::uint32_t few = controllers / l1s, longer = controllers % l1s;
  const std::uint32_t in_longer = longer * (few + 1);
  if (k < in_longer) return {k / (few + 1), k % (few + 1)};
  return {longer + (k - in_longer) / few, (k - in_longer) % few};
}

std::uint32_t FredTree::level(NodeId node) const {
  for (std::uint32_t level = 1; level <= topology_.fred_levels.size(); ++level) {
    const FredLevel& here = topology_.fred_levels[level - 1];
    if (node.value >= here.first && node.value < here.first + here.switches) return level;
  }
  throw std::invalid_argument("node " + std::to_string(node.value) + " is no FRED switch");
}

std::uint32_t FredTree::l1_of(NodeId end) const {
  if (!topology_.is_io(end)) return end.value / topology_.columns;
  return topology_.io[end.value - topology_.npus].at.value - topology_.fred_levels.front().first;
}

std::uint32_t FredTree::io_count(std::uint32_t l1) const {
  const auto controllers = static_cast<std::uint32_t>(topology_.io.size());
  return controllers / topology_.rows + (l1 < controllers % topology_.rows ? 1 : 0);
}

std::uint32_t FredTree::first_io(std::uint32_t l1) const {
  const auto controllers = static_cast<std::uint32_t>(topology_.io.size());
  return l1 * (controllers / topology_.rows) + std::min(l1, controllers % topology_.rows);
}

unsigned FredTree::port_of(NodeId end) const {
  if (!topology_.is_io(end)) return end.value % topology_.columns;
  return topology_.columns + (end.value - topology_.npus - first_io(l1_of(end)));
}

std::uint32_t FredTree::span_width(std::uint32_t level) const {
  std::uint32_t width = 1;
  for (std::uint32_t k = 2; k <= level; ++k) width *= topology_.fred_levels[k - 1].children;
  return width;
}

FredTree::Span FredTree::span(NodeId node) const {
  const std::uint32_t at = level(node);
  const std::uint32_t width = span_width(at);
  const std::uint32_t index = node.value - topology_.fred_levels[at - 1].first;
  return {index * width, (index + 1) * width};
}

unsigned FredTree::child_port(NodeId node, std::uint32_t l1) const {
  return (l1 - span(node).first) / span_width(level(node) - 1);
}

unsigned FredTree::up_port(NodeId node) const {
  const std::uint32_t at = level(node);
  const FredLevel& here = topology_.fred_levels[at - 1];
  return at == 1 ? here.children + io_count(node.value - here.first) : here.children;
}

unsigned FredTree::output(NodeId at, NodeId to) const {
  if (at.value < topology_.ends()) return 0;
  const std::uint32_t l1 = l1_of(to);
  if (!span(at).has(l1)) return up_port(at);
  return level(at) == 1 ? port_of(to) : child_port(at, l1);
}

}  // namespace wafervp
