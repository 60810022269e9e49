// SPDX-License-Identifier: Apache-2.0
#include "random_flows.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace wafervp::test {
namespace {

std::vector<unsigned> shuffled(std::mt19937& random, unsigned ports) {
  std::vector<unsigned> all(ports);
  std::iota(all.begin(), all.end(), 0u);
  // std::shuffle is not the same everywhere.
  for (unsigned i = ports; i > 1; --i) std::swap(all[i - 1], all[random() % i]);
  return all;
}

}  // namespace

std::vector<FredFlow> random_flows(std::mt19937& random, unsigned ports, unsigned most) {
  const unsigned count = 1 + random() % std::min(most, ports);
  std::vector<FredFlow> flows(count);
  const unsigned spare = random() % 2 == 0 ? 0 : 1 + random() % 3;
  const bool same = random() % 2 == 0;  // all-reduces
  const std::vector<unsigned> inputs = shuffled(random, ports), outputs = shuffled(random, ports);
  for (unsigned i = 0; i < ports; ++i) {
    // The first ports go round, so that no flow is without one.
    const unsigned in = i < count ? i : random() % (count + spare);
    const unsigned out = i < count ? i : random() % (count + spare);
    if (in < count) flows[in].inputs.push_back(inputs[i]);
    if (!same && out < count) flows[out].outputs.push_back(outputs[i]);
  }
  for (unsigned f = 0; f < count; ++f) {
    flows[f].name = "f" + std::to_string(f);
    if (same) flows[f].outputs = flows[f].inputs;
  }
  return flows;
}

std::vector<FredFlow> random_permutation(std::mt19937& random, unsigned ports) {
  std::vector<FredFlow> flows;
  const std::vector<unsigned> to = shuffled(random, ports);
  for (unsigned port = 0; port < ports; ++port) {
    flows.push_back({std::to_string(port), {port}, {to[port]}});
  }
  return flows;
}

bool routable_by_trying_all(const FredShape& shape, const std::vector<FredFlow>& flows) {
  if (shape.ports == 2 || flows.size() < 2) return true;
  std::vector<unsigned> middle(flows.size(), 0);
  while (true) {
    bool fits = true;
    for (unsigned j = 0; j < shape.middles && fits; ++j) {
      std::set<unsigned> inputs, outputs;
      std::vector<FredFlow> inside;
      for (std::size_t f = 0; f < flows.size(); ++f) {
        if (middle[f] != j) continue;
        std::set<unsigned> in, out;
        for (const unsigned port : flows[f].inputs) in.insert(port / 2);
        for (const unsigned port : flows[f].outputs) out.insert(port / 2);
        for (const unsigned port : in) fits = inputs.insert(port).second && fits;
        for (const unsigned port : out) fits = outputs.insert(port).second && fits;
        inside.push_back({flows[f].name, {in.begin(), in.end()}, {out.begin(), out.end()}});
      }
      fits = fits && routable_by_trying_all({middle_ports(shape.ports), shape.middles}, inside);
    }
    if (fits) return true;
    std::size_t digit = 0;
    while (digit < middle.size() && ++middle[digit] == shape.middles) middle[digit++] = 0;
    if (digit == middle.size()) return false;
  }
}

}  // namespace wafervp::test
