// SPDX-License-Identifier: Apache-2.0
#include "topology/deadlock.h"

#include <algorithm>

namespace wafervp {
namespace {

/// Which link a packet that holds another one may wait for: at each node a table of inputs by outputs.
class Dependencies {
 public:
  explicit Dependencies(const Topology& topology)
      : topology_(topology),
        tables_(topology.nodes.size()),
        input_port_(topology.links.size()),
        output_port_(topology.links.size()) {
    for (std::size_t node = 0; node < topology.nodes.size(); ++node) {
      const auto& inputs = topology.inputs[node];
      const auto& outputs = topology.outputs[node];
      tables_[node].resize(inputs.size() * outputs.size());
      for (std::size_t i = 0; i < inputs.size(); ++i) input_port_[inputs[i].value] = i;
      for (std::size_t i = 0; i < outputs.size(); ++i) output_port_[outputs[i].value] = i;
    }
  }

  void add(LinkId holds, LinkId wants) {
    tables_[topology_.link(holds).to.value][row(holds) + output_port_[wants.value]] = true;
  }

  std::vector<LinkId> find_cycle() const {
    enum class Colour : std::uint8_t { kWhite, kOnPath, kDone };
    std::vector<Colour> colour(topology_.links.size(), Colour::kWhite);
    struct Frame {
      LinkId link;
      std::size_t next;  // output port to look at
    };
    std::vector<Frame> path;
    for (std::uint32_t start = 0; start < colour.size(); ++start) {
      if (colour[start] != Colour::kWhite) continue;
      path.push_back({LinkId{start}, 0});
      colour[start] = Colour::kOnPath;
      while (!path.empty()) {
        Frame& top = path.back();
        const std::uint32_t node = topology_.link(top.link).to.value;
        const auto& outputs = topology_.outputs[node];
        while (top.next < outputs.size() && !tables_[node][row(top.link) + top.next]) ++top.next;
        if (top.next == outputs.size()) {
          colour[top.link.value] = Colour::kDone;
          path.pop_back();
          continue;
        }
        const LinkId next = outputs[top.next++];
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

 private:
  std::size_t row(LinkId holds) const {
    return input_port_[holds.value] * topology_.outputs[topology_.link(holds).to.value].size();
  }

  const Topology& topology_;
  std::vector<std::vector<bool>> tables_;
  std::vector<std::size_t> input_port_, output_port_;
};

}  // namespace

std::vector<LinkId> find_dependency_cycle(const Topology& topology,
                                          const std::vector<std::vector<LinkId>>& routes) {
  Dependencies dependencies(topology);
  for (const auto& links : routes) {
    for (std::size_t i = 1; i < links.size(); ++i) dependencies.add(links[i - 1], links[i]);
  }
  return dependencies.find_cycle();
}

std::vector<LinkId> find_dependency_cycle(const Topology& topology) {
  Dependencies dependencies(topology);
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
        if (previous.valid()) dependencies.add(previous, next);
        const bool again = seen[at.value] != 0;
        seen[at.value] = 1;
        previous = next;
        at = topology.link(next).to;
        if (again) break;  // from here on the walk repeats an earlier one
      }
    }
  }
  return dependencies.find_cycle();
}

std::string describe_cycles(const Topology& topology) {
  constexpr std::uint32_t kMostNpus = 4096;
  constexpr std::size_t kMostNames = 6;
  if (topology.npus > kMostNpus) {
    return "cycles are not looked for beyond " + std::to_string(kMostNpus) + " NPUs";
  }
  const std::vector<LinkId> cycle = find_dependency_cycle(topology);
  if (cycle.empty()) return "free of cycles";
  std::string text = "a cycle of " + std::to_string(cycle.size()) + " links that wait for the next: ";
  for (std::size_t i = 0; i < std::min(cycle.size(), kMostNames); ++i) {
    text += topology.link(cycle[i]).name + ", ";
  }
  text += cycle.size() > kMostNames ? "..., " : "";
  return text + topology.link(cycle.front()).name +
         "; each flow has buffers of its own, so that it cannot deadlock";
}

}  // namespace wafervp
