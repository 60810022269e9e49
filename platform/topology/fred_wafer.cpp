// SPDX-License-Identifier: Apache-2.0
#include "topology/fred_wafer.h"

#include <algorithm>
#include <stdexcept>

namespace wafervp {
namespace {

unsigned ports_of(const FredWafer& wafer, const FredL1& l1) {
  return l1.npus + l1.io_controllers + wafer.up_ports;
}
unsigned first_up_port(const FredWafer& wafer, unsigned l1) {
  return wafer.l1s[l1].npus + wafer.l1s[l1].io_controllers;
}
/// Up ports of one L1 that go to one L2 chip.
unsigned up_ports_a_chip(const FredWafer& wafer) { return wafer.up_ports / wafer.l2_chips; }

std::vector<unsigned> members(const FredWafer& wafer, const std::vector<unsigned>& ends, unsigned l1) {
  std::vector<unsigned> ports;
  for (const unsigned end : ends) {
    const FredPlace place = place_of(wafer, end);
    if (place.l1 == l1) ports.push_back(place.port);
  }
  return ports;
}

std::vector<bool> touched(const FredWafer& wafer, const std::vector<unsigned>& ends) {
  std::vector<bool> l1s(wafer.l1s.size());
  for (const unsigned end : ends) l1s[place_of(wafer, end).l1] = true;
  return l1s;
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

FredWafer flat_fred(unsigned npus, unsigned middles) { return {{{npus, 0}}, 0, 1, middles, 1}; }

FredWafer paper_fred(unsigned middles, unsigned l2_chips) {
  return {{{4, 4}, {4, 4}, {4, 4}, {4, 3}, {4, 3}}, 4, l2_chips, middles, 5};
}

void check(const FredWafer& wafer) {
  if (wafer.l1s.empty() || (wafer.l1s.size() > 1 && wafer.up_ports == 0)) {
    throw std::invalid_argument("a FRED wafer needs an L1 switch, and up ports where there are several");
  }
  if (wafer.l2_chips == 0 || wafer.slices == 0 || wafer.up_ports % wafer.l2_chips != 0) {
    throw std::invalid_argument("the L2 chips of a slice must divide the up ports of an L1 switch: " +
                                std::to_string(wafer.up_ports) + " over " + std::to_string(wafer.l2_chips));
  }
  for (const FredChip& chip : chips_of_slice(wafer)) check(chip.shape);
}

std::vector<FredChip> chips_of_slice(const FredWafer& wafer) {
  std::vector<FredChip> chips;
  unsigned npu = 0, io = 0;
  for (unsigned l1 = 0; l1 < wafer.l1s.size(); ++l1) {
    FredChip chip{"l1_" + std::to_string(l1), {ports_of(wafer, wafer.l1s[l1]), wafer.middles}, {}};
    for (unsigned i = 0; i < wafer.l1s[l1].npus; ++i) chip.ports.push_back("npu" + std::to_string(npu++));
    for (unsigned i = 0; i < wafer.l1s[l1].io_controllers; ++i)
      chip.ports.push_back("io" + std::to_string(io++));
    for (unsigned i = 0; i < wafer.up_ports; ++i) chip.ports.push_back("up" + std::to_string(i));
    chips.push_back(std::move(chip));
  }
  if (wafer.up_ports == 0) return chips;
  const unsigned each = up_ports_a_chip(wafer);
  for (unsigned c = 0; c < wafer.l2_chips; ++c) {
    FredChip chip{wafer.l2_chips == 1 ? "l2" : "l2_" + std::to_string(c),
                  {static_cast<unsigned>(wafer.l1s.size()) * each, wafer.middles},
                  {}};
    for (unsigned l1 = 0; l1 < wafer.l1s.size(); ++l1) {
      for (unsigned k = 0; k < each; ++k) {
        chip.ports.push_back("l1_" + std::to_string(l1) + ".up" + std::to_string(c * each + k));
      }
    }
    chips.push_back(std::move(chip));
  }
  return chips;
}

std::map<FredShape, unsigned> count_chips(const FredWafer& wafer) {
  std::map<FredShape, unsigned> count;
  for (const FredChip& chip : chips_of_slice(wafer)) count[chip.shape] += wafer.slices;
  return count;
}

FredPlace place_of(const FredWafer& wafer, unsigned end) {
  unsigned npu = end;
  for (unsigned l1 = 0; l1 < wafer.l1s.size(); ++l1) {
    if (npu < wafer.l1s[l1].npus) return {l1, npu};
    npu -= wafer.l1s[l1].npus;
  }
  unsigned io = npu;
  for (unsigned l1 = 0; l1 < wafer.l1s.size(); ++l1) {
    if (io < wafer.l1s[l1].io_controllers) return {l1, wafer.l1s[l1].npus + io};
    io -= wafer.l1s[l1].io_controllers;
  }
  throw std::out_of_range("the wafer has " + std::to_string(wafer.npus()) + " NPUs and " +
                          std::to_string(wafer.io_controllers()) + " I/O controllers, and no end " +
                          std::to_string(end));
}

std::vector<Crossing> crossings(const FredWafer& wafer, const std::vector<FredFlow>& flows) {
  std::vector<Crossing> found;
  for (std::size_t f = 0; f < flows.size(); ++f) {
    Crossing crossing{f, touched(wafer, flows[f].inputs), touched(wafer, flows[f].outputs)};
    const auto inputs = std::count(crossing.up.begin(), crossing.up.end(), true);
    if (inputs == 1) {
      if (crossing.up == crossing.down) continue;  // stays inside
      const auto only = std::find(crossing.up.begin(), crossing.up.end(), true);
      crossing.down[static_cast<std::size_t>(only - crossing.up.begin())] = false;
    }
    found.push_back(std::move(crossing));
  }
  return found;
}

std::vector<ChipFlows> split(const FredWafer& wafer, const std::vector<FredFlow>& flows,
                             const std::vector<Crossing>& crossings, const UpPorts& up_ports) {
  const auto l1s = static_cast<unsigned>(wafer.l1s.size());
  std::vector<ChipFlows> chips(l1s + (wafer.up_ports == 0 ? 0 : wafer.l2_chips));
  const auto add = [&](unsigned chip, std::size_t of, std::vector<unsigned> inputs,
                       std::vector<unsigned> outputs) {
    chips[chip].flows.push_back({flows[of].name, std::move(inputs), std::move(outputs)});
    chips[chip].of.push_back(of);
  };
  std::size_t next = 0;
  for (std::size_t f = 0; f < flows.size(); ++f) {
    if (next == crossings.size() || crossings[next].flow != f) {
      const unsigned l1 = place_of(wafer, flows[f].inputs.front()).l1;
      add(l1, f, members(wafer, flows[f].inputs, l1), members(wafer, flows[f].outputs, l1));
      continue;
    }
    const Crossing& crossing = crossings[next];
    if (wafer.up_ports == 0) throw std::invalid_argument("a wafer without up ports has no crossing flows");
    const unsigned each = up_ports_a_chip(wafer);
    std::vector<unsigned> l2_inputs, l2_outputs;
    unsigned l2 = 0;
    for (unsigned l1 = 0; l1 < l1s; ++l1) {
      const unsigned up = up_ports.up[next][l1], down = up_ports.down[next][l1];
      const std::vector<unsigned> outputs = members(wafer, flows[f].outputs, l1);
      if (crossing.up[l1]) {
        // Outputs of the only L1 with inputs get their copy on the way up.
        std::vector<unsigned> to = crossing.down[l1] ? std::vector<unsigned>{} : outputs;
        to.push_back(first_up_port(wafer, l1) + up);
        add(l1, f, members(wafer, flows[f].inputs, l1), std::move(to));
        l2_inputs.push_back(l1 * each + up % each);
        l2 = up / each;
      }
      if (crossing.down[l1]) {
        add(l1, f, {first_up_port(wafer, l1) + down}, outputs);
        l2_outputs.push_back(l1 * each + down % each);
      }
    }
    add(l1s + l2, f, std::move(l2_inputs), std::move(l2_outputs));
    ++next;
  }
  return chips;
}

}  // namespace wafervp
