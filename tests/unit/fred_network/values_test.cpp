// SPDX-License-Identifier: Apache-2.0
// Do values that run through the μswitches come out as the flows define, to the last bit?
#include <gmock/gmock.h>

#include <map>
#include <vector>

#include "fred_network/evaluate.h"
#include "fred_network/routing.h"
#include "random_flows.h"

namespace wafervp::test {
namespace {

using Vector = std::vector<double>;
using Values = std::vector<std::optional<Vector>>;

Vector add_vectors(const Vector& left, const Vector& right) {
  Vector sum = left;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += right[i];
  return sum;
}

/// Values of such different sizes that each order of additions gives another sum.
Values random_values(std::mt19937& random, unsigned ports, const std::vector<FredFlow>& flows) {
  Values values(ports);
  for (const FredFlow& flow : flows) {
    for (const unsigned port : flow.inputs) {
      Vector vector(5);
      for (double& value : vector) {
        value = (static_cast<double>(random()) - 2e9) / static_cast<double>(1 + random() % 1000);
      }
      values[port] = std::move(vector);
    }
  }
  return values;
}

class RandomFlows : public testing::TestWithParam<unsigned> {};

TEST_P(RandomFlows, GiveTheValuesOfTheirDefinition) {
  const unsigned m = GetParam();
  std::mt19937 random(m);
  unsigned routed = 0, serialised = 0;
  for (unsigned ports = 2; ports <= 24; ++ports) {
    const FredNetwork network({ports, m});
    for (unsigned run = 0; run < 60; ++run) {
      const std::vector<FredFlow> flows = random_flows(random, ports, 12);
      const Values values = random_values(random, ports, flows);
      // What does not fit at once is one set of flows after the other, each of which is held against its
      // definition.
      const std::vector<Round> rounds = serialise(network.shape(), flows);
      (rounds.size() == 1 ? routed : serialised) += 1;
      std::size_t carried = 0;
      for (const Round& round : rounds) {
        const std::vector<FredFlow> now = pick(flows, round.flows);
        Values here(ports);
        for (const FredFlow& flow : now) {
          for (const unsigned port : flow.inputs) here[port] = values[port];
        }
        const ConfigurationBits bits = configure(network, now, round.routing);
        ASSERT_EQ(evaluate(network, bits, here, add_vectors), defined_outputs(now, here, add_vectors))
            << name_of(network.shape()) << ", run " << run;
        carried += now.size();
      }
      EXPECT_EQ(carried, flows.size());
    }
  }
  // Both kinds of sets have been there.
  EXPECT_GT(routed, 300u);
  EXPECT_GT(serialised, 50u);
}
INSTANTIATE_TEST_SUITE_P(Middles, RandomFlows, testing::Values(2u, 3u));

TEST(Values, OfLargeSwitchesToo) {
  std::mt19937 random(7);
  for (const unsigned ports : {127u, 200u}) {
    const FredNetwork network({ports, 3});
    const std::vector<FredFlow> flows = random_permutation(random, ports);
    const Routing routing = route(network.shape(), flows);
    ASSERT_EQ(routing.status, RoutingStatus::kRouted);
    const Values values = random_values(random, ports, flows);
    EXPECT_EQ(evaluate(network, configure(network, flows, routing), values, add_vectors),
              defined_outputs(flows, values, add_vectors));
  }
}

TEST(Values, GoNowhereElse) {
  // The bits of one flow let nothing of an idle port through, whatever waits there.
  const FredNetwork network({12, 3});
  const std::vector<FredFlow> flows = {{"f", {1, 4, 9}, {0, 9}}};
  Values values(12);
  for (auto& value : values) value = Vector{1};
  const Values outputs =
      evaluate(network, configure(network, flows, route(network.shape(), flows)), values, add_vectors);
  for (unsigned port = 0; port < 12; ++port) {
    EXPECT_EQ(outputs[port].has_value(), port == 0 || port == 9);
  }
  EXPECT_EQ(outputs[9], Vector{3});
}

}  // namespace
}  // namespace wafervp::test
