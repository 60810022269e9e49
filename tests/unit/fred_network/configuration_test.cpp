// SPDX-License-Identifier: Apache-2.0
// Does each field of bits do what its table says, and nothing else?
#include "fred_network/configuration.h"

#include <gmock/gmock.h>

#include <optional>
#include <stdexcept>
#include <string>

#include "fred_network/evaluate.h"

namespace wafervp::test {
namespace {

using testing::ElementsAre;
using testing::Eq;
using Text = std::optional<std::string>;

/// Values are texts and a sum is written out, so that its operands and their order can be read.
std::string add_texts(const std::string& left, const std::string& right) {
  return "(" + left + "+" + right + ")";
}
std::vector<Text> run(const FredNetwork& network, const ConfigurationBits& bits, std::vector<Text> inputs) {
  return evaluate(network, bits, std::move(inputs), add_texts);
}

TEST(Configuration, OfAnInnermostSwitchIsItsMode) {
  const FredNetwork network({2, 2});
  ASSERT_EQ(network.configuration_bits(), 3u);
  const std::vector<std::pair<RdMode, std::vector<Text>>> modes = {
      {RdMode::kIdle, {{}, {}}},      {RdMode::kPass, {"a", "b"}},           {RdMode::kCross, {"b", "a"}},
      {RdMode::kCopy0, {"a", "a"}},   {RdMode::kCopy1, {"b", "b"}},          {RdMode::kAdd0, {"(a+b)", {}}},
      {RdMode::kAdd1, {{}, "(a+b)"}}, {RdMode::kAddCopy, {"(a+b)", "(a+b)"}}};
  for (const auto& [mode, outputs] : modes) {
    ConfigurationBits bits(3);
    bits.set(0, 3, static_cast<unsigned>(mode));
    EXPECT_EQ(run(network, bits, {"a", "b"}), outputs) << describe(network.switches()[0], 2, bits);
  }
}

/// Fred_2(4): R 0 and R 1, RD of middle 0 and 1, D 0 and D 1.
class FourPorts : public testing::Test {
 protected:
  void reduce(unsigned r, unsigned input, unsigned middle) {
    set_middle(network_[network_.whole().reduce[r]], 2, bits_, input, middle);
  }
  void distribute(unsigned d, unsigned output, unsigned middle) {
    set_middle(network_[network_.whole().distribute[d]], 2, bits_, output, middle);
  }
  void mode(unsigned middle, RdMode mode) {
    const MicroSwitch& part = network_[network_[network_.whole().middles[middle]].innermost];
    bits_.set(part.first_bit, part.bits, static_cast<unsigned>(mode));
  }
  std::string text(MicroSwitchId part) const { return describe(network_[part], 2, bits_); }

  const FredNetwork network_{{4, 2}};
  ConfigurationBits bits_{network_.configuration_bits()};
};

TEST_F(FourPorts, AreIdleAtFirst) {
  EXPECT_THAT(run(network_, bits_, {"a", "b", "c", "d"}), testing::Each(Eq(std::nullopt)));
  EXPECT_EQ(text(network_.whole().reduce[0]), "idle");
}

TEST_F(FourPorts, PassAndCross) {
  reduce(0, 0, 0);  // a through middle network 0
  reduce(0, 1, 1);  // b through middle network 1
  mode(0, RdMode::kPass);
  mode(1, RdMode::kCross);
  distribute(0, 1, 0);  // the outputs of D 0 cross
  distribute(1, 0, 1);
  EXPECT_THAT(run(network_, bits_, {"a", "b", {}, {}}), ElementsAre(Text{}, "a", "b", Text{}));
  EXPECT_EQ(text(network_.whole().reduce[0]), "0 to 0, 1 to 1");
  EXPECT_EQ(text(network_.whole().distribute[1]), "0 from 1");
}

TEST_F(FourPorts, AddAndCopy) {
  for (unsigned port = 0; port < 4; ++port) reduce(port / 2, port % 2, 1);
  mode(1, RdMode::kAddCopy);
  for (unsigned port = 0; port < 3; ++port) distribute(port / 2, port % 2, 1);
  EXPECT_THAT(run(network_, bits_, {"a", "b", "c", "d"}),
              ElementsAre("((a+b)+(c+d))", "((a+b)+(c+d))", "((a+b)+(c+d))", Text{}));
  EXPECT_EQ(text(network_.whole().reduce[1]), "add to 1");
  EXPECT_EQ(text(network_.whole().distribute[0]), "copy from 1");
}

TEST_F(FourPorts, AddingNeedsBothInputs) {
  reduce(0, 0, 0);
  reduce(0, 1, 0);
  EXPECT_THROW(run(network_, bits_, {"a", {}, {}, {}}), std::invalid_argument);
}

TEST_F(FourPorts, ValuesOrBitsOfAnotherNetworkAreRefused) {
  EXPECT_THROW(run(network_, bits_, {"a"}), std::invalid_argument);
  EXPECT_THROW(run(network_, ConfigurationBits(3), {"a", "b", "c", "d"}), std::invalid_argument);
}

TEST_F(FourPorts, AMiddleNetworkThatIsNotThereIsRefused) {
  const MicroSwitch& r0 = network_[network_.whole().reduce[0]];
  bits_.set(r0.first_bit, 2, 3);
  EXPECT_THROW(run(network_, bits_, {"a", "b", "c", "d"}), std::invalid_argument);
}

TEST(Configuration, TakesTheLastPortOfAnOddNetworkStraightInside) {
  const FredNetwork network({3, 2});
  ConfigurationBits bits(network.configuration_bits());
  const Subnetwork& whole = network.whole();
  set_middle(network[whole.demux], 2, bits, 0, 1);
  set_middle(network[whole.mux], 2, bits, 0, 1);
  const MicroSwitch& rd = network[network[whole.middles[1]].innermost];
  bits.set(rd.first_bit, rd.bits, static_cast<unsigned>(RdMode::kPass));
  EXPECT_THAT(run(network, bits, {"a", "b", "c"}), ElementsAre(Text{}, Text{}, "c"));
  EXPECT_EQ(describe(network[whole.demux], 2, bits), "0 to 1");
}

TEST(Configuration, FieldsDoNotTouchTheirNeighbours) {
  ConfigurationBits bits(20);
  bits.set(5, 6, 0x2d);
  EXPECT_EQ(bits.get(5, 6), 0x2du);
  EXPECT_EQ(bits.get(0, 5), 0u);
  EXPECT_EQ(bits.get(11, 9), 0u);
  EXPECT_THAT(bits.bytes(), ElementsAre(0xa0, 0x05, 0x00));
  bits.set(6, 4, 0);
  EXPECT_EQ(bits.get(5, 6), 0x21u);
  EXPECT_THROW(bits.set(0, 3, 8), std::out_of_range);
  EXPECT_THROW(bits.get(18, 3), std::out_of_range);
}

TEST(Configuration, OneInputCannotBeSentBesideASum) {
  EXPECT_THROW(rd_mode({2, 0, 1}, {1, 0, 0}), std::invalid_argument);
}

}  // namespace
}  // namespace wafervp::test
