// SPDX-License-Identifier: Apache-2.0
// Does the recursive construction have the μswitches, the stages and the wires that the paper's rules give?
#include <gmock/gmock.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fred_network/network.h"

namespace wafervp::test {
namespace {

/// μswitches by the rules: 2r of the first and last stage and m middle networks; Fred_m(2) is one RD.
unsigned switches_by_rule(unsigned ports, unsigned m) {
  return ports == 2 ? 1 : 2 * (ports / 2) + m * switches_by_rule((ports + 1) / 2, m);
}
unsigned stages_by_rule(unsigned ports) { return ports == 2 ? 1 : 2 + stages_by_rule((ports + 1) / 2); }

struct Size {
  unsigned m, ports, switches, stages;
};

TEST(Structure, HasTheSizesOfTheReconstructedPaper) {
  // μswitches and stages of the chips, derived from the paper's construction rules and radices.
  for (const Size& size :
       {Size{3, 10, 67, 7}, Size{3, 11, 73, 7}, Size{3, 12, 75, 7}, Size{3, 8, 29, 5}, Size{2, 8, 20, 5}}) {
    const FredNetwork network({size.ports, size.m});
    EXPECT_EQ(network.micro_switches(), size.switches) << name_of(network.shape());
    EXPECT_EQ(network.stages(), size.stages) << name_of(network.shape());
  }
}

TEST(Structure, OfThreePortsIsTheOddRuleWithOnePair) {
  const FredNetwork network({3, 2});
  EXPECT_EQ(network.count(MicroSwitchKind::kReduce), 1u);
  EXPECT_EQ(network.count(MicroSwitchKind::kReduceDistribute), 2u);
  EXPECT_EQ(network.count(MicroSwitchKind::kDistribute), 1u);
  EXPECT_EQ(network.count(MicroSwitchKind::kDemux), 1u);
  EXPECT_EQ(network.count(MicroSwitchKind::kMux), 1u);
}

class AnyShape : public testing::TestWithParam<FredShape> {
 protected:
  const FredNetwork network_{GetParam()};
};

TEST_P(AnyShape, HasSwitchesAndStagesByTheRules) {
  EXPECT_EQ(network_.micro_switches(), switches_by_rule(GetParam().ports, GetParam().middles));
  EXPECT_EQ(network_.stages(), stages_by_rule(GetParam().ports));
  for (const MicroSwitch& part : network_.switches()) EXPECT_LT(part.stage, network_.stages());
}

TEST_P(AnyShape, HasPortsAsTheKindSays) {
  const unsigned m = GetParam().middles;
  for (const MicroSwitch& part : network_.switches()) {
    const auto ports = std::make_pair(part.inputs.size(), part.outputs.size());
    switch (part.kind) {
      case MicroSwitchKind::kReduce:
        EXPECT_EQ(ports, std::make_pair(std::size_t{2}, std::size_t{m}));
        break;
      case MicroSwitchKind::kDistribute:
        EXPECT_EQ(ports, std::make_pair(std::size_t{m}, std::size_t{2}));
        break;
      case MicroSwitchKind::kReduceDistribute:
        EXPECT_EQ(ports, std::make_pair(std::size_t{2}, std::size_t{2}));
        break;
      case MicroSwitchKind::kDemux:
        EXPECT_EQ(ports, std::make_pair(std::size_t{1}, std::size_t{m}));
        break;
      case MicroSwitchKind::kMux:
        EXPECT_EQ(ports, std::make_pair(std::size_t{m}, std::size_t{1}));
        break;
    }
  }
}

TEST_P(AnyShape, HasOneDriverAndOneReaderAWireAndFeedsForwards) {
  std::vector<unsigned> drivers(network_.wires().size()), readers(network_.wires().size());
  for (const WireId wire : network_.whole().inputs) ++drivers[wire.value];
  for (const WireId wire : network_.whole().outputs) ++readers[wire.value];
  for (std::uint32_t s = 0; s < network_.switches().size(); ++s) {
    const MicroSwitch& part = network_.switches()[s];
    for (unsigned port = 0; port < part.inputs.size(); ++port) {
      const Wire& wire = network_.wires()[part.inputs[port].value];
      ++readers[part.inputs[port].value];
      EXPECT_EQ(wire.to.part.value, s);
      EXPECT_EQ(wire.to.port, port);
      if (!wire.from.part.valid()) continue;
      EXPECT_LT(wire.from.part.value, s);
      EXPECT_LT(network_[wire.from.part].stage, part.stage);
    }
    for (unsigned port = 0; port < part.outputs.size(); ++port) {
      const Wire& wire = network_.wires()[part.outputs[port].value];
      ++drivers[part.outputs[port].value];
      EXPECT_EQ(wire.from.part.value, s);
      EXPECT_EQ(wire.from.port, port);
    }
  }
  EXPECT_THAT(drivers, testing::Each(1u));
  EXPECT_THAT(readers, testing::Each(1u));
}

TEST_P(AnyShape, JoinsPortKOfEachMiddleNetworkToInputAndOutputSwitchK) {
  for (const Subnetwork& network : network_.subnetworks()) {
    if (network.ports == 2) {
      EXPECT_TRUE(network.innermost.valid());
      EXPECT_TRUE(network.middles.empty());
      continue;
    }
    ASSERT_EQ(network.middles.size(), GetParam().middles);
    for (unsigned j = 0; j < network.middles.size(); ++j) {
      const Subnetwork& middle = network_[network.middles[j]];
      EXPECT_EQ(middle.ports, (network.ports + 1) / 2);
      EXPECT_EQ(middle.path.back(), j);
      for (unsigned k = 0; k < middle.ports; ++k) {
        const WireEnd from = network_.wires()[middle.inputs[k].value].from;
        const WireEnd to = network_.wires()[middle.outputs[k].value].to;
        const bool last = k == network.ports / 2;  // without a partner: only in an odd network
        EXPECT_EQ(from.part, last ? network.demux : network.reduce[k]);
        EXPECT_EQ(to.part, last ? network.mux : network.distribute[k]);
        EXPECT_EQ(from.port, j);
        EXPECT_EQ(to.port, j);
      }
    }
    if (network.ports % 2 == 0) continue;
    EXPECT_EQ(network_[network.demux].inputs.front(), network.inputs.back());
    EXPECT_EQ(network_[network.mux].outputs.front(), network.outputs.back());
  }
}

TEST_P(AnyShape, HasFieldsSideBySideInTheConfiguration) {
  std::size_t next = 0;
  for (const MicroSwitch& part : network_.switches()) {
    EXPECT_EQ(part.first_bit, next);
    next += part.bits;
  }
  EXPECT_EQ(network_.configuration_bits(), next);
  // A number from 0 to m for each of two ports of R and D and for the port of a (de)multiplexer; eight modes
  // of RD.
  const unsigned select = GetParam().middles < 4 ? 2 : 3;
  EXPECT_EQ(
      next,
      select * 2 * (network_.count(MicroSwitchKind::kReduce) + network_.count(MicroSwitchKind::kDistribute)) +
          3 * network_.count(MicroSwitchKind::kReduceDistribute) +
          select * (network_.count(MicroSwitchKind::kDemux) + network_.count(MicroSwitchKind::kMux)));
}

std::vector<FredShape> shapes() {
  std::vector<FredShape> all;
  for (unsigned m : {2u, 3u, 4u}) {
    for (unsigned ports = 2; ports <= 25; ++ports) all.push_back({ports, m});
  }
  all.push_back({256, 3});
  return all;
}
std::string shape_name(const testing::TestParamInfo<FredShape>& shape) {
  return "m" + std::to_string(shape.param.middles) + "p" + std::to_string(shape.param.ports);
}
INSTANTIATE_TEST_SUITE_P(Shapes, AnyShape, testing::ValuesIn(shapes()), shape_name);

TEST(Structure, NeedsTwoPortsAndTwoMiddleNetworks) {
  EXPECT_THROW(FredNetwork({1, 3}), std::invalid_argument);
  EXPECT_THROW(FredNetwork({8, 1}), std::invalid_argument);
}

}  // namespace
}  // namespace wafervp::test
