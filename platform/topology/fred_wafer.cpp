// SPDX-License-Identifier: Apache-2.0
#include "topology/fred_wafer.h"

#include <stdexcept>

#include "topology/fred_slice.h"

namespace wafervp {
namespace {

/// Ports of one chip of a switch.
unsigned ports_of_chip(const FredSlice& tree, unsigned node) {
  return tree[node].below / (tree.is_split(node) ? tree.root_chips() : 1) + tree[node].up_ports;
}

/// Ends of a flow below each switch.
std::vector<unsigned> count_below(const FredSlice& tree, const std::vector<unsigned>& ends) {
  std::vector<unsigned> count(tree.nodes().size());
  for (const unsigned end : ends) ++count[tree.place_of(end).l1];
  for (unsigned node = 0; node < tree.root(); ++node) count[tree[node].parent] += count[node];
  return count;
}

/// Ports of an L1 at which ends of a flow hang, for all L1s.
std::vector<std::vector<unsigned>> ports_of_ends(const FredSlice& tree, const std::vector<unsigned>& ends) {
  std::vector<std::vector<unsigned>> ports(tree.l1s());
  for (const unsigned end : ends) ports[tree.place_of(end).l1].push_back(tree.place_of(end).port);
  return ports;
}

}  // namespace

unsigned FredWafer::npus() const {
  unsigned sum = 0;
  for (const FredL1& l1 : l1s) sum += l1.npus;
  return sum;
}
unsigned FredWafer::io_controllers() const {
  unsigned sum = 0;
  for (const FredL1& l1 : l1s) sum += l1.io_controllers;
  return sum;
}

FredWafer flat_fred(unsigned npus, unsigned middles) { return {{{npus, 0}}, 0, 1, middles, 1, {}}; }

FredWafer paper_fred(unsigned middles, unsigned l2_chips) {
  return {{{4, 4}, {4, 4}, {4, 4}, {4, 3}, {4, 3}}, 4, l2_chips, middles, 5, {}};
}

void check(const FredWafer& wafer) {
  if (wafer.l1s.empty() || (wafer.l1s.size() > 1 && wafer.up_ports == 0)) {
    throw std::invalid_argument("a FRED wafer needs an L1 switch, and up ports where there are several");
  }
  std::size_t below = wafer.l1s.size();
  unsigned up_ports = wafer.up_ports;
  for (const FredUpperLevel& level : wafer.between) {
    if (level.switches == 0 || level.up_ports == 0 || below % level.switches != 0) {
      throw std::invalid_argument("the switches of a FRED level must divide those below and have up ports: " +
                                  std::to_string(level.switches) + " switches with " +
                                  std::to_string(level.up_ports) + " up ports above " +
                                  std::to_string(below));
    }
    below = level.switches;
    up_ports = level.up_ports;
  }
  if (wafer.l2_chips == 0 || wafer.slices == 0 || up_ports % wafer.l2_chips != 0) {
    throw std::invalid_argument("the L2 chips of a slice must divide the up ports of an L1 switch: " +
                                std::to_string(up_ports) + " over " + std::to_string(wafer.l2_chips));
  }
  for (const FredChip& chip : chips_of_slice(wafer)) check(chip.shape);
}

std::vector<FredChip> chips_of_slice(const FredWafer& wafer) {
  const FredSlice tree(wafer);
  std::vector<FredChip> chips;
  unsigned npu = 0, io = 0;
  for (unsigned node = 0; node < tree.nodes().size(); ++node) {
    const FredNode& here = tree[node];
    const unsigned parts = tree.is_split(node) ? tree.root_chips() : 1;
    for (unsigned part = 0; part < parts; ++part) {
      FredChip chip{here.name + (parts == 1 ? "" : "_" + std::to_string(part)),
                    {ports_of_chip(tree, node), wafer.middles},
                    {}};
      if (here.level == 1) {
        for (unsigned i = 0; i < wafer.l1s[node].npus; ++i)
          chip.ports.push_back("npu" + std::to_string(npu++));
        for (unsigned i = 0; i < wafer.l1s[node].io_controllers; ++i)
          chip.ports.push_back("io" + std::to_string(io++));
      }
      for (unsigned child = here.first_child; child < here.first_child + here.children; ++child) {
        const unsigned each = tree[child].up_ports / parts;
        for (unsigned k = 0; k < each; ++k) {
          chip.ports.push_back(tree[child].name + ".up" + std::to_string(part * each + k));
        }
      }
      for (unsigned k = 0; k < here.up_ports; ++k) chip.ports.push_back("up" + std::to_string(k));
      chips.push_back(std::move(chip));
    }
  }
  return chips;
}

std::map<FredShape, unsigned> count_chips(const FredWafer& wafer) {
  std::map<FredShape, unsigned> count;
  for (const FredChip& chip : chips_of_slice(wafer)) count[chip.shape] += wafer.slices;
  return count;
}

FredPlace place_of(const FredWafer& wafer, unsigned end) { return FredSlice(wafer).place_of(end); }

std::vector<Crossing> crossings(const FredWafer& wafer, const std::vector<FredFlow>& flows) {
  return crossings(FredSlice(wafer), flows);
}

std::vector<Crossing> crossings(const FredSlice& tree, const std::vector<FredFlow>& flows) {
  std::vector<Crossing> found;
  for (std::size_t f = 0; f < flows.size(); ++f) {
    const auto inputs = static_cast<unsigned>(flows[f].inputs.size());
    const auto outputs = static_cast<unsigned>(flows[f].outputs.size());
    const std::vector<unsigned> in = count_below(tree, flows[f].inputs);
    const std::vector<unsigned> out = count_below(tree, flows[f].outputs);
    Crossing crossing{f, std::vector<bool>(tree.root()), std::vector<bool>(tree.root())};
    bool crosses = false;
    for (unsigned node = 0; node < tree.root(); ++node) {
      if (in[node] == inputs && out[node] == outputs) continue;  // they turn round here or below
      crossing.up[node] = in[node] > 0;
      crossing.down[node] = out[node] > 0 && in[node] < inputs;
      crosses = crosses || crossing.up[node] || crossing.down[node];
    }
    if (crosses) found.push_back(std::move(crossing));
  }
  return found;
}

std::vector<ChipFlows> split(const FredWafer& wafer, const std::vector<FredFlow>& flows,
                             const std::vector<Crossing>& crossings, const UpPorts& up_ports) {
  return split(FredSlice(wafer), flows, crossings, up_ports);
}

std::vector<ChipFlows> split(const FredSlice& tree, const std::vector<FredFlow>& flows,
                             const std::vector<Crossing>& crossings, const UpPorts& up_ports) {
  std::vector<ChipFlows> chips(tree.root() + tree.root_chips());
  std::size_t next = 0;
  for (std::size_t f = 0; f < flows.size(); ++f) {
    const auto add = [&](unsigned chip, std::vector<unsigned> inputs, std::vector<unsigned> outputs) {
      chips[chip].flows.push_back({flows[f].name, std::move(inputs), std::move(outputs)});
      chips[chip].of.push_back(f);
    };
    std::vector<std::vector<unsigned>> inputs = ports_of_ends(tree, flows[f].inputs);
    std::vector<std::vector<unsigned>> outputs = ports_of_ends(tree, flows[f].outputs);
    if (next == crossings.size() || crossings[next].flow != f) {
      const unsigned l1 = tree.place_of(flows[f].inputs.front()).l1;
      add(l1, std::move(inputs[l1]), std::move(outputs[l1]));
      continue;
    }
    if (tree.root() == 0) throw std::invalid_argument("a wafer without up ports has no crossing flows");
    const Crossing& crossing = crossings[next];
    const std::vector<unsigned>& up = up_ports.up[next];
    const std::vector<unsigned>& down = up_ports.down[next];
    ++next;
    inputs.resize(tree.nodes().size());
    outputs.resize(tree.nodes().size());
    unsigned root_chip = 0;
    for (unsigned node = 0; node < tree.nodes().size(); ++node) {
      const bool goes_up = node < tree.root() && crossing.up[node];
      const bool comes_down = node < tree.root() && crossing.down[node];
      if (goes_up) {
        inputs[tree[node].parent].push_back(tree.port_at_parent(node, up[node]));
        root_chip = tree[node].parent == tree.root() ? tree.chip_at_parent(node, up[node]) : root_chip;
        // The outputs of a switch with all the inputs get their copy on the way up.
        std::vector<unsigned> to = comes_down ? std::vector<unsigned>{} : outputs[node];
        to.push_back(tree.own_up_port(node, up[node]));
        add(node, std::move(inputs[node]), std::move(to));
      }
      if (comes_down) {
        outputs[tree[node].parent].push_back(tree.port_at_parent(node, down[node]));
        add(node, {tree.own_up_port(node, down[node])}, std::move(outputs[node]));
      }
      if (goes_up || comes_down || inputs[node].empty() || outputs[node].empty()) continue;
      add(tree.is_split(node) ? node + root_chip : node, std::move(inputs[node]), std::move(outputs[node]));
    }
  }
  return chips;
}

}  // namespace wafervp
