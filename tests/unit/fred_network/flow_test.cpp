// SPDX-License-Identifier: Apache-2.0
// Is a flow what the paper says, and is a wrong one refused?
#include "fred_network/fred_flow.h"

#include <gmock/gmock.h>

#include <stdexcept>
#include <string>

namespace wafervp::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Text = std::optional<std::string>;

std::string add_texts(const std::string& left, const std::string& right) {
  return "(" + left + "+" + right + ")";
}

std::string error_of(const std::vector<FredFlow>& flows, unsigned ports) {
  try {
    check(flows, ports);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Flow, SumsItsInputsForAllItsOutputs) {
  const std::vector<FredFlow> flows = {{"all-reduce", {2, 3, 4}, {2, 3, 4}}, {"multicast", {0}, {0, 1}}};
  EXPECT_THAT(defined_outputs<std::string>(flows, {"a", "b", "c", "d", "e"}, add_texts),
              ElementsAre("a", "a", "((c+d)+e)", "((c+d)+e)", "((c+d)+e)"));
}

TEST(Flow, SumsNeighboursFirst) {
  EXPECT_EQ(tree_sum<std::string>({"a", "b", "c", "d", "e", "f"}, add_texts), "(((a+b)+(c+d))+(e+f))");
  EXPECT_EQ(tree_sum<std::string>({Text{}, "b", "c", Text{}, Text{}}, add_texts), "(b+c)");
  EXPECT_EQ(tree_sum<std::string>({Text{}, Text{}}, add_texts), Text{});
  EXPECT_EQ(tree_sum<std::string>({}, add_texts), Text{});
}

TEST(Flow, HasATreeAsDeepAsItsPortsAreApart) {
  EXPECT_EQ(tree_depth({7}), 0u);
  EXPECT_EQ(tree_depth({0, 1}), 1u);
  EXPECT_EQ(tree_depth({0, 19}), 1u);
  EXPECT_EQ(tree_depth({0, 1, 2}), 2u);
  EXPECT_EQ(tree_depth({3, 2, 1, 0}), 2u);
  std::vector<unsigned> all(20);
  for (unsigned port = 0; port < 20; ++port) all[port] = port;
  EXPECT_EQ(tree_depth(all), 5u);  // ceil(log2(20))
}

TEST(Flow, ThatIsWrongIsNamed) {
  EXPECT_EQ(error_of({{"ok", {0}, {1}}}, 2), "");
  EXPECT_THAT(error_of({{"ok", {0}, {1}}, {"f", {}, {1}}}, 2), HasSubstr("flow f: it has no input port"));
  EXPECT_THAT(error_of({{"f", {0}, {}}}, 2), HasSubstr("flow f: it has no output port"));
  EXPECT_THAT(error_of({{"f", {0}, {2}}}, 2), HasSubstr("expected output ports below 2, found 2"));
  EXPECT_THAT(error_of({{"f", {1, 0, 1}, {0}}}, 2), HasSubstr("input port 1 comes twice"));
}

}  // namespace
}  // namespace wafervp::test
