// SPDX-License-Identifier: Apache-2.0
// Are the chips of the paper's wafer there, and do flows split into the parts that the chips carry?
#include "topology/fred_wafer.h"

#include <gmock/gmock.h>

#include <stdexcept>

#include "topology/up_ports.h"

namespace wafervp::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

FredFlow all_reduce(const char* name, std::vector<unsigned> ends) { return {name, ends, ends}; }

TEST(FredWafer, OfThePaperHas35ChipsOf25195SquareMillimetres) {
  // Fred3(12) is stated as 685 mm2; 678 and 814 mm2 are the other sizes between which the paper's total fits.
  const auto chips = count_chips(paper_fred(3, 2));
  ASSERT_THAT(chips, SizeIs(3));
  EXPECT_EQ(chips.at({12, 3}), 15u);
  EXPECT_EQ(chips.at({11, 3}), 10u);
  EXPECT_EQ(chips.at({10, 3}), 10u);
  EXPECT_EQ(685 * chips.at({12, 3}) + 678 * chips.at({11, 3}) + 814 * chips.at({10, 3}), 25195u);
  EXPECT_EQ(paper_fred(3, 2).npus(), 20u);
  EXPECT_EQ(paper_fred(3, 2).io_controllers(), 18u);
  EXPECT_EQ(count_chips(paper_fred(3, 1)).at({20, 3}), 5u);
}

TEST(FredWafer, NumbersItsEndsNpusFirst) {
  const FredWafer wafer = paper_fred(3, 1);
  EXPECT_EQ(place_of(wafer, 7).l1, 1u);
  EXPECT_EQ(place_of(wafer, 7).port, 3u);
  EXPECT_EQ(place_of(wafer, 20).l1, 0u);  // io0
  EXPECT_EQ(place_of(wafer, 20).port, 4u);
  EXPECT_EQ(place_of(wafer, 37).l1, 4u);  // io17
  EXPECT_EQ(place_of(wafer, 37).port, 6u);
  EXPECT_THROW(place_of(wafer, 38), std::out_of_range);
  const std::vector<FredChip> chips = chips_of_slice(wafer);
  ASSERT_THAT(chips, SizeIs(6));
  EXPECT_EQ(chips[1].ports[3], "npu7");
  EXPECT_EQ(chips[4].ports[6], "io17");
  EXPECT_EQ(chips[4].ports[7], "up0");
  EXPECT_EQ(chips[5].ports[17], "l1_4.up1");
}

TEST(FredWafer, OfWrongSizesIsRefused) {
  EXPECT_NO_THROW(check(paper_fred(3, 2)));
  EXPECT_THROW(check(paper_fred(3, 3)), std::invalid_argument);
  EXPECT_THROW(check(paper_fred(1, 1)), std::invalid_argument);
  EXPECT_THROW(check(FredWafer{}), std::invalid_argument);
  EXPECT_THROW(check(FredWafer{{{4, 0}, {4, 0}}, 0, 1, 3, 1, {}}), std::invalid_argument);
  EXPECT_THROW(check(FredWafer{{{1, 0}}, 0, 1, 3, 1, {}}), std::invalid_argument);
}

class Split : public testing::Test {
 protected:
  /// The parts of a flow that has up port 0 everywhere.
  std::vector<ChipFlows> parts(const FredFlow& flow) {
    const std::vector<FredFlow> flows = {flow};
    const std::vector<Crossing> crossing = crossings(wafer_, flows);
    return split(wafer_, flows, crossing,
                 *make_up_port_policy("in_order")->choose(wafer_, flows, crossing, {}).ports);
  }
  static std::vector<std::vector<unsigned>> ports(const ChipFlows& part) {
    std::vector<std::vector<unsigned>> all;
    for (const FredFlow& flow : part.flows) {
      all.push_back(flow.inputs);
      all.push_back(flow.outputs);
    }
    return all;
  }
  const FredWafer wafer_ = paper_fred(3, 1);
};
using Ports = std::vector<unsigned>;

TEST_F(Split, AnAllReduceOfTwoL1sIsSummedThereAndThenAtL2) {
  // The paper's example: NPUs 1, 5 and 6.
  const std::vector<ChipFlows> chips = parts(all_reduce("f", {1, 5, 6}));
  EXPECT_THAT(ports(chips[0]), ElementsAre(Ports{1}, Ports{8}, Ports{8}, Ports{1}));
  EXPECT_THAT(ports(chips[1]), ElementsAre(Ports{1, 2}, Ports{8}, Ports{8}, Ports{1, 2}));
  EXPECT_THAT(ports(chips[5]), ElementsAre(Ports{0, 4}, Ports{0, 4}));
  EXPECT_THAT(chips[2].flows, IsEmpty());
}

TEST_F(Split, WhatStaysInAnL1DoesNotGoUp) {
  const std::vector<ChipFlows> chips = parts(all_reduce("f", {17, 19}));
  EXPECT_THAT(ports(chips[4]), ElementsAre(Ports{1, 3}, Ports{1, 3}));
  EXPECT_THAT(chips[5].flows, IsEmpty());
}

TEST_F(Split, AMulticastIsCopiedWhereItStartsAndDoesNotComeBack) {
  const std::vector<ChipFlows> chips = parts({"f", {5}, {6, 8, 12}});
  EXPECT_THAT(ports(chips[1]), ElementsAre(Ports{1}, Ports{2, 8}));
  EXPECT_THAT(ports(chips[2]), ElementsAre(Ports{8}, Ports{0}));
  EXPECT_THAT(ports(chips[3]), ElementsAre(Ports{7}, Ports{0}));  // three I/O controllers: up ports from 7
  EXPECT_THAT(ports(chips[5]), ElementsAre(Ports{4}, Ports{8, 12}));
}

TEST_F(Split, AReduceComesDownToItsRootOnly) {
  const std::vector<ChipFlows> chips = parts({"f", {1, 5, 6}, {5}});
  EXPECT_THAT(ports(chips[0]), ElementsAre(Ports{1}, Ports{8}));
  EXPECT_THAT(ports(chips[1]), ElementsAre(Ports{1, 2}, Ports{8}, Ports{8}, Ports{1}));
  EXPECT_THAT(ports(chips[5]), ElementsAre(Ports{0, 4}, Ports{4}));
}

TEST_F(Split, IoControllersAreEndsToo) {
  // Weights from io4, the first of l1_1, to all NPUs of two L1s.
  const std::vector<ChipFlows> chips = parts({"f", {24}, {4, 5, 6, 7, 8, 9, 10, 11}});
  EXPECT_THAT(ports(chips[1]), ElementsAre(Ports{4}, Ports{0, 1, 2, 3, 8}));
  EXPECT_THAT(ports(chips[2]), ElementsAre(Ports{8}, Ports{0, 1, 2, 3}));
}

TEST(UpPorts, InOrderAreTheKthOfEachL1AndDirection) {
  const FredWafer wafer = paper_fred(3, 1);
  const std::vector<FredFlow> flows = {all_reduce("a", {0, 4}), all_reduce("b", {5, 8}), {"c", {1}, {6}}};
  const std::vector<Crossing> crossing = crossings(wafer, flows);
  const UpPortChoice choice = make_up_port_policy("in_order")->choose(wafer, flows, crossing, {});
  ASSERT_TRUE(choice.ports);
  EXPECT_EQ(choice.ports->up[0][0], 0u);
  EXPECT_EQ(choice.ports->up[1][1], 1u);
  EXPECT_EQ(choice.ports->up[1][2], 0u);
  EXPECT_EQ(choice.ports->up[2][0], 1u);
  EXPECT_EQ(choice.ports->down[2][1], 2u);
}

TEST(UpPorts, ThatAreTooFewAreNamed) {
  FredWafer wafer = paper_fred(3, 1);
  wafer.up_ports = 2;
  const std::vector<FredFlow> flows = {all_reduce("a", {0, 4}), all_reduce("b", {1, 8}),
                                       all_reduce("c", {2, 12})};
  for (const std::string& name : up_port_policy_names()) {
    const UpPortChoice choice = make_up_port_policy(name)->choose(wafer, flows, crossings(wafer, flows), {});
    EXPECT_FALSE(choice.ports) << name;
    EXPECT_EQ(choice.problem, "c is one flow more than l1_0 has up ports, which are 2") << name;
  }
  EXPECT_THROW(make_up_port_policy("guessed"), std::invalid_argument);
}

}  // namespace
}  // namespace wafervp::test
