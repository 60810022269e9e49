// SPDX-License-Identifier: Apache-2.0
#include "topology/deadlock.h"

#include <algorithm>

namespace wafervp {
namespace {

/// For each link, the links that a packet holding it may wait for.
using Dependencies = std::vector<std::vector<LinkId>>;

void add_dependency(Dependencies& dependencies, LinkId holds, LinkId wants) {
  auto& list = dependencies[holds.value];
  if (std::find(list.begin(), list.end(), wants) == list.end()) list.push_back(wants);
}

std::vector<LinkId> find_cycle(const Dependencies& dependencies) {
  enum class Colour : std::uint8_t { kWhite, kOnPath, kDone };
  std::vector<Colour> colour(dependencies.size(), Colour::kWhite);
  struct Frame {
    LinkId link;
    std::size_t next;
  };
  std::vector<Frame> path;
  for (std::uint32_t start = 0; start < dependencies.size(); ++start) {
    if (colour[start] != Colour::kWhite) continue;
    path.push_back({LinkId{start}, 0});
    colour[start] = Colour::kOnPath;
    while (!path.empty()) {
      Frame& top = path.back();
      const auto& list = dependencies[top.link.value];
      if (top.next == list.size()) {
        colour[top.link.value] = Colour::kDone;
        path.pop_back();
        continue;
      }
      const LinkId next = list[top.next++];
      if (colour[next.value] == Colour::kOnPath) {
        std::vector<LinkId> cycle;
        auto frame = path.begin();
        while (frame->link != next) ++frame;
        for (; frame != path.end(); ++frame) cycle.push_back(frame->link);
        return cycle;
      }
      if (colour[next.value] == Colour::kWhite) {
        colour[next.value] = Colour::kOnPath;
        path.push_back({next, 0});
      }
    }
  }
  return {};
}

}  // namespace

std::vector<LinkId> find_dependency_cycle(const Topology& topology,
                                          const std::vector<std::vector<LinkId>>& routes) {
  Dependencies dependencies(topology.links.size());
  for (const auto& links : routes) {
    for (std::size_t i = 1; i < links.size(); ++i) add_dependency(dependencies, links[i - 1], links[i]);
  }
  return find_cycle(dependencies);
}

std::vector<LinkId> find_dependency_cycle(const Topology& topology) {
  Dependencies dependencies(topology.links.size());
  // Per destination, only links that some packet for it really takes may wait: walk the tree of next
  // links from the sources, each node once.
  std::vector<std::uint8_t> seen(topology.nodes.size());
  for (std::uint32_t to = 0; to < topology.npus; ++to) {
    std::fill(seen.begin(), seen.end(), std::uint8_t{0});
    for (std::uint32_t from = 0; from < topology.npus; ++from) {
      NodeId at{from};
      LinkId previous;
      while (at.value != to) {
        const LinkId next = next_link(topology, at, NpuId{to});
        if (previous.valid()) add_dependency(dependencies, previous, next);
        const bool again = seen[at.value] != 0;
        seen[at.value] = 1;
        previous = next;
        at = topology.link(next).to;
        if (again) break;  // from here on the walk repeats an earlier one
      }
    }
  }
  return find_cycle(dependencies);
}

}  // namespace wafervp
