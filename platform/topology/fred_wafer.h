// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fred_network/fred_flow.h"
#include "fred_network/report.h"
#include "fred_network/shape.h"

namespace wafervp {

/// What hangs on one L1 switch.
struct FredL1 {
  unsigned npus = 0, io_controllers = 0;
};

/// Switches between L1 and the root.
struct FredUpperLevel {
  unsigned switches = 0;  ///< each with as many of the switches below as the others, in their order
  unsigned up_ports = 0;  ///< of each
};

/// A wafer's FRED fabric for routing (arXiv 2406.19580): an almost fat tree of two or more levels, each
/// switch of which is cut into slices. Each slice is a chip of its own that carries whole collectives by
/// itself, configured like the others. One L1 without up ports is a flat Fred_m(P).
struct FredWafer {
  std::vector<FredL1> l1s;
  unsigned up_ports = 0;  ///< of an L1 chip
  unsigned l2_chips = 1;  ///< of the root, a slice; up port k goes to chip k / (up_ports / l2_chips)
  unsigned middles = 3;   ///< m of all chips
  unsigned slices = 1;
  std::vector<FredUpperLevel> between;  ///< from below; none where the root is the L2 switch

  unsigned npus() const;
  unsigned io_controllers() const;
};

/// All NPUs at one switch.
FredWafer flat_fred(unsigned npus, unsigned middles);
/// The paper's: 5 L1 of 4 NPUs and 4, 4, 4, 3, 3 I/O controllers, 4 up ports, 5 slices; one or two L2 chips a
/// slice.
FredWafer paper_fred(unsigned middles, unsigned l2_chips);

/// Throws std::invalid_argument when a chip has fewer than 2 ports, the root's chips do not divide the up
/// ports that lead to them, a level does not divide the one below, or there are several L1 without up ports.
void check(const FredWafer& wafer);

/// A switch chip of a slice.
struct FredChip {
  std::string name;  ///< "l1_0", "l2", "l2_1"
  FredShape shape;
  PortNames ports;  ///< L1: NPUs, then I/O controllers, then up ports; above: by child and its up port
};
/// The chips of one slice: L1s, then the levels above; the root's last.
std::vector<FredChip> chips_of_slice(const FredWafer& wafer);
/// Chips of the wafer by size, over all slices.
std::map<FredShape, unsigned> count_chips(const FredWafer& wafer);

/// Where an end of the wafer hangs. Ends are numbered NPUs first, then I/O controllers, each L1 by L1.
struct FredPlace {
  unsigned l1, port;
};
/// Throws std::out_of_range for an end that is not there.
FredPlace place_of(const FredWafer& wafer, unsigned end);

/// A flow between several L1s, and the switches that its data go up from and come down to. Switches are
/// numbered as in FredSlice: L1s first, then the levels above.
struct Crossing {
  std::size_t flow;
  std::vector<bool> up, down;  ///< by switch, without the root
};
/// The flows whose ends are not all at one L1. Data go up from each switch with inputs, as far as the lowest
/// one that all ends hang on, and are summed on the way; a switch that has all the inputs below it copies to
/// its own outputs, and the data come down to the others only.
std::vector<Crossing> crossings(const FredWafer& wafer, const std::vector<FredFlow>& flows);

/// The up ports of crossing flows: [crossing][switch]; meaningful where the crossing goes up, or comes down.
struct UpPorts {
  std::vector<std::vector<unsigned>> up, down;
};

/// What each chip of a slice has to do for the flows of a wafer, in the order of chips_of_slice(). `split`
/// throws std::invalid_argument when flows cross a wafer without up ports.
struct ChipFlows {
  std::vector<FredFlow> flows;
  std::vector<std::size_t> of;  ///< the wafer's flow of each
};
std::vector<ChipFlows> split(const FredWafer& wafer, const std::vector<FredFlow>& flows,
                             const std::vector<Crossing>& crossings, const UpPorts& up_ports);

}  // namespace wafervp
