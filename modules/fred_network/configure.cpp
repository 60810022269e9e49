// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <stdexcept>

#include "fred_network/routing.h"

namespace wafervp {
namespace {

/// Writes the bits of one flow, level by level, on its way in.
class FlowWriter {
 public:
  FlowWriter(const FredNetwork& network, ConfigurationBits& bits) : network_(network), bits_(bits) {}

  void write(const FredFlow& flow, const FlowRoute& way) {
    SubnetworkId at{0};
    std::vector<unsigned> inputs = flow.inputs, outputs = flow.outputs;
    for (const unsigned middle : way.middles) {
      const Subnetwork& network = network_[at];
      for (const unsigned port : inputs) {
        set(is_last(network, port) ? network.demux : network.reduce[port / 2],
            is_last(network, port) ? 0 : port % 2, middle);
      }
      for (const unsigned port : outputs) {
        set(is_last(network, port) ? network.mux : network.distribute[port / 2],
            is_last(network, port) ? 0 : port % 2, middle);
      }
      inputs = inside(inputs);
      outputs = inside(outputs);
      at = network.middles.at(middle);
    }
    Innermost& innermost = innermost_[network_[at].innermost];
    const Drive drive{static_cast<unsigned>(inputs.size()), inputs.front(), inputs.back()};
    for (const unsigned port : outputs) innermost.outputs[port] = drive;
  }

  /// The modes of the innermost μswitches, each of which serves up to two flows.
  void write_innermost() {
    for (const auto& [id, innermost] : innermost_) {
      const MicroSwitch& part = network_[id];
      bits_.set(part.first_bit, part.bits,
                static_cast<unsigned>(rd_mode(innermost.outputs[0], innermost.outputs[1])));
    }
  }

 private:
  struct Innermost {
    Drive outputs[2];
  };
  static bool is_last(const Subnetwork& network, unsigned port) {
    return network.ports % 2 == 1 && port == network.ports - 1;
  }
  static std::vector<unsigned> inside(std::vector<unsigned> ports) {
    for (unsigned& port : ports) port /= 2;
    std::sort(ports.begin(), ports.end());
    ports.erase(std::unique(ports.begin(), ports.end()), ports.end());
    return ports;
  }
  void set(MicroSwitchId id, unsigned port, unsigned middle) {
    set_middle(network_[id], network_.shape().middles, bits_, port, middle);
  }

  const FredNetwork& network_;
  ConfigurationBits& bits_;
  std::map<MicroSwitchId, Innermost> innermost_;
};

}  // namespace

ConfigurationBits configure(const FredNetwork& network, const std::vector<FredFlow>& flows,
                            const Routing& routing) {
  if (routing.status != RoutingStatus::kRouted || routing.flows.size() != flows.size()) {
    throw std::invalid_argument(name_of(network.shape()) + ": these flows have not been routed");
  }
  ConfigurationBits bits(network.configuration_bits());
  FlowWriter writer(network, bits);
  for (std::size_t f = 0; f < flows.size(); ++f) writer.write(flows[f], routing.flows[f]);
  writer.write_innermost();
  return bits;
}

}  // namespace wafervp
