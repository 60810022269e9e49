// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "fred_network/configuration.h"
#include "fred_network/network.h"
#include "router/stage_arithmetic.h"

namespace wafervp {

/// Where a flow's stage meets the ports of a switch's network of μswitches.
struct NetworkPorts {
  std::vector<unsigned> inputs;   ///< by input of the stage
  std::vector<unsigned> outputs;  ///< all that the flow goes to, whatever the stage does with them
};

/// The behavioural switch: a sum in the order of the tree of μswitches, which the ports alone decide, and the
/// same for all outputs.
class TreeSum final : public StageArithmetic {
 public:
  /// `ports`: of the network, by input of the stage.
  TreeSum(std::vector<unsigned> ports, std::size_t stage_outputs)
      : ports_(std::move(ports)), stage_outputs_(stage_outputs) {}
  std::vector<Bytes> outputs(std::vector<Bytes> inputs, Element element) const override;

 private:
  std::vector<unsigned> ports_;
  std::size_t stage_outputs_;
};

/// The structural switch: each sum and copy is made by the μswitches, from the bits of a configuration alone.
/// With other flows of the same configuration there is nothing to do: nothing comes from them.
class ConfiguredNetwork final : public StageArithmetic {
 public:
  /// `stage_outputs`: of the stage: as many as the flow has ports, or one where the copies are taken from it
  /// later, behind a lane.
  ConfiguredNetwork(std::shared_ptr<const FredNetwork> network, const ConfigurationBits& bits,
                    NetworkPorts ports, std::size_t stage_outputs)
      : network_(std::move(network)), bits_(bits), ports_(std::move(ports)), stage_outputs_(stage_outputs) {}
  /// Throws std::logic_error when the configuration brings the values elsewhere than to the flow's ports, and
  /// as evaluate().
  std::vector<Bytes> outputs(std::vector<Bytes> inputs, Element element) const override;

 private:
  std::shared_ptr<const FredNetwork> network_;
  ConfigurationBits bits_;
  NetworkPorts ports_;
  std::size_t stage_outputs_;
};

}  // namespace wafervp
