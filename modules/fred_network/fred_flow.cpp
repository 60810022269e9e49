// SPDX-License-Identifier: Apache-2.0
#include "fred_network/fred_flow.h"

#include <algorithm>
#include <stdexcept>

namespace wafervp {
namespace {

void check_ports(const FredFlow& flow, const std::vector<unsigned>& of_flow, unsigned ports,
                 const char* direction) {
  const auto fail = [&](const std::string& what) {
    throw std::invalid_argument("flow " + flow.name + ": " + what);
  };
  if (of_flow.empty()) fail(std::string("it has no ") + direction + " port");
  std::vector<unsigned> sorted = of_flow;
  std::sort(sorted.begin(), sorted.end());
  if (sorted.back() >= ports) {
    fail(std::string("expected ") + direction + " ports below " + std::to_string(ports) + ", found " +
         std::to_string(sorted.back()));
  }
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    fail(std::string(direction) + " port " + std::to_string(*twice) + " comes twice");
}

}  // namespace

void check(const std::vector<FredFlow>& flows, unsigned ports) {
  for (const FredFlow& flow : flows) {
    check_ports(flow, flow.inputs, ports, "input");
    check_ports(flow, flow.outputs, ports, "output");
  }
}

unsigned tree_depth(std::vector<unsigned> ports) {
  std::sort(ports.begin(), ports.end());
  std::vector<unsigned> depths(ports.size(), 0);
  while (ports.size() > 1) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < ports.size(); ++i) {
      const bool paired = i + 1 < ports.size() && ports[i] / 2 == ports[i + 1] / 2;
      const unsigned depth = paired ? std::max(depths[i], depths[i + 1]) + 1 : depths[i];
      ports[kept] = ports[i] / 2;
      depths[kept++] = depth;
      if (paired) ++i;
    }
    ports.resize(kept);
    depths.resize(kept);
  }
  return depths.empty() ? 0 : depths.front();
}

}  // namespace wafervp
