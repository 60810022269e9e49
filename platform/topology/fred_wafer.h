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

/// A wafer's FRED fabric for routing (arXiv 2406.19580): a two-level almost fat tree, each switch of which is
/// cut into slices. Each slice is a chip of its own that carries whole collectives by itself, configured like
/// the others. One L1 without up ports is a flat Fred_m(P).
struct FredWafer {
  std::vector<FredL1> l1s;
  unsigned up_ports = 0;  ///< of an L1 chip, towards L2
  unsigned l2_chips = 1;  ///< a slice; up port k goes to chip k / (up_ports / l2_chips)
  unsigned middles = 3;   ///< m of all chips
  unsigned slices = 1;

  unsigned npus() const;
  unsigned io_controllers() const;
};

/// All NPUs at one switch.
FredWafer flat_fred(unsigned npus, unsigned middles);
/// The paper's: 5 L1 of 4 NPUs and 4, 4, 4, 3, 3 I/O controllers, 4 up ports, 5 slices; one or two L2 chips a
/// slice.
FredWafer paper_fred(unsigned middles, unsigned l2_chips);

/// Throws std::invalid_argument when a chip has fewer than 2 ports, the L2 chips do not divide the up ports,
/// or there are several L1 without up ports.
void check(const FredWafer& wafer);

/// A switch chip of a slice.
struct FredChip {
  std::string name;  ///< "l1_0", "l2", "l2_1"
  FredShape shape;
  PortNames ports;  ///< L1: NPUs, then I/O controllers, then up ports; L2: by L1, then by up port
};
/// The chips of one slice: L1s, then L2s.
std::vector<FredChip> chips_of_slice(const FredWafer& wafer);
/// Chips of the wafer by size, over all slices.
std::map<FredShape, unsigned> count_chips(const FredWafer& wafer);

/// Where an end of the wafer hangs. Ends are numbered NPUs first, then I/O controllers, each L1 by L1.
struct FredPlace {
  unsigned l1, port;
};
/// Throws std::out_of_range for an end that is not there.
FredPlace place_of(const FredWafer& wafer, unsigned end);

/// A flow between several L1s, and the L1s that its data go up from and come down to.
struct Crossing {
  std::size_t flow;
  std::vector<bool> up, down;  ///< by L1
};
/// The flows whose ends are not all at one L1. Data go up from each L1 with inputs and are summed at L2;
/// where one L1 has all the inputs, its own outputs get their copy there, and it comes down to the others
/// only.
std::vector<Crossing> crossings(const FredWafer& wafer, const std::vector<FredFlow>& flows);

/// The up ports of crossing flows: [crossing][L1]; meaningful where the crossing goes up, or comes down.
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
