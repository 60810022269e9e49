// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "core/ids.h"
#include "fred_network/shape.h"

namespace wafervp {

using MicroSwitchId =
    Id<struct MicroSwitchTag>;                  ///< a μswitch, demultiplexer or multiplexer of a FredNetwork
using WireId = Id<struct WireTag>;              ///< a wire of a FredNetwork
using SubnetworkId = Id<struct SubnetworkTag>;  ///< a Fred_m(k) inside a FredNetwork; 0 is the whole

enum class MicroSwitchKind {
  kReduce,            ///< R: 2 inputs, an output to each middle network; can add its inputs
  kDistribute,        ///< D: an input from each middle network, 2 outputs; can copy
  kReduceDistribute,  ///< RD: Fred_m(2), 2 x 2; can add and copy
  kDemux,             ///< the last input port of an odd network, to one middle network
  kMux                ///< the last output port of an odd network, from one middle network
};
/// "R", "D", "RD", "demux", "mux".
const char* name_of(MicroSwitchKind kind);

struct MicroSwitch {
  MicroSwitchKind kind;
  SubnetworkId network;  ///< the network whose input, output or innermost stage it stands in
  unsigned index;        ///< among its kind in the network: R and D k serve the ports 2k and 2k + 1
  unsigned stage;        ///< 0 ... FredNetwork::stages() - 1, from the inputs to the outputs
  std::vector<WireId> inputs, outputs;
  std::size_t first_bit;  ///< of its field in the configuration
  unsigned bits;          ///< width of that field
};

/// An end of a wire: a port of a μswitch, or one of the whole network where `part` is not valid.
struct WireEnd {
  MicroSwitchId part;
  unsigned port;
};
struct Wire {
  WireEnd from, to;
};

/// A Fred_m(k): the whole, or a middle network at some depth.
struct Subnetwork {
  unsigned ports;
  std::vector<unsigned> path;             ///< middle network taken at each level, from the outside
  std::vector<MicroSwitchId> reduce;      ///< R by index; empty in Fred_m(2)
  std::vector<MicroSwitchId> distribute;  ///< D by index; empty in Fred_m(2)
  MicroSwitchId demux, mux;               ///< valid where `ports` is odd
  MicroSwitchId innermost;                ///< RD; valid in Fred_m(2)
  std::vector<SubnetworkId> middles;      ///< by number; empty in Fred_m(2)
  std::vector<WireId> inputs, outputs;    ///< by port
};

/// The structure of Fred_m(P): every μswitch, its place, its wires and its field of configuration bits.
class FredNetwork {
 public:
  /// Builds it by recursion; work and memory grow as P^1.6 for m = 3. Throws std::invalid_argument as
  /// check().
  explicit FredNetwork(const FredShape& shape);

  const FredShape& shape() const { return shape_; }
  unsigned stages() const { return 2 * levels(shape_) + 1; }
  /// Each stands behind all that feed it.
  const std::vector<MicroSwitch>& switches() const { return switches_; }
  const MicroSwitch& operator[](MicroSwitchId id) const { return switches_[id.value]; }
  const std::vector<Wire>& wires() const { return wires_; }
  const std::vector<Subnetwork>& subnetworks() const { return subnetworks_; }
  const Subnetwork& operator[](SubnetworkId id) const { return subnetworks_[id.value]; }
  const Subnetwork& whole() const { return subnetworks_.front(); }

  unsigned count(MicroSwitchKind kind) const;
  /// R, D and RD μswitches, as the paper counts them: without demultiplexers and multiplexers.
  unsigned micro_switches() const;
  std::size_t configuration_bits() const { return configuration_bits_; }

 private:
  SubnetworkId build(unsigned ports, std::vector<unsigned> path, const std::vector<WireId>& inputs,
                     const std::vector<WireId>& outputs);
  MicroSwitchId add(MicroSwitchKind kind, SubnetworkId network, unsigned index, std::vector<WireId> inputs,
                    std::vector<WireId> outputs);
  std::vector<WireId> new_wires(unsigned count);

  FredShape shape_;
  std::vector<MicroSwitch> switches_;
  std::vector<Wire> wires_;
  std::vector<Subnetwork> subnetworks_;
  std::size_t configuration_bits_ = 0;
};

}  // namespace wafervp
