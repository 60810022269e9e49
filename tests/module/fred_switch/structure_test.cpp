// SPDX-License-Identifier: Apache-2.0
// Do the behavioural and the structural switch give, bit for bit, what the flows define, at the same times?
#include <cstring>
#include <random>
#include <stdexcept>
#include <tuple>

#include "core/element.h"
#include "fred_bench.h"
#include "fred_network/routing.h"
#include "fred_switch/arithmetic.h"

namespace wafervp::test {
namespace {

using Values = std::vector<std::optional<std::vector<std::byte>>>;
constexpr std::uint64_t kBytes = kPacketBytes + 400;

std::vector<std::byte> floats(std::mt19937& random) {
  std::vector<std::byte> bytes(kBytes);
  for (std::size_t at = 0; at < kBytes; at += sizeof(float)) {
    const float value =
        (static_cast<float>(random() % 2000) - 1000.0f) / static_cast<float>(1 + random() % 300);
    std::memcpy(bytes.data() + at, &value, sizeof value);
  }
  return bytes;
}
std::vector<std::byte> add_floats(std::vector<std::byte> left, const std::vector<std::byte>& right) {
  add(Element::kFp32, left.data(), right.data(), left.size());
  return left;
}

/// Flows with random disjoint ports.
std::vector<FredFlow> random_flows(std::mt19937& random, unsigned ports) {
  std::vector<FredFlow> flows(1 + ports / 4);
  std::vector<unsigned> inputs, outputs;
  for (unsigned port = 0; port < ports; ++port) {
    inputs.insert(inputs.begin() + static_cast<std::ptrdiff_t>(random() % (port + 1)), port);
    outputs.insert(outputs.begin() + static_cast<std::ptrdiff_t>(random() % (port + 1)), port);
  }
  for (unsigned i = 0; i < ports; ++i) {
    flows[i % flows.size()].inputs.push_back(inputs[i]);
    flows[i % flows.size()].outputs.push_back(outputs[i]);
  }
  return flows;
}

/// Ports, and middle networks.
class BehaviouralAndStructural : public testing::TestWithParam<std::tuple<unsigned, unsigned>> {};

TEST_P(BehaviouralAndStructural, SwitchesGiveTheSameBytesAndTimes) {
  const auto [ports, m] = GetParam();
  std::mt19937 random(100 * m + ports);
  const std::vector<FredFlow> flows = random_flows(random, ports);
  Values values(ports);
  for (auto& value : values) value = floats(random);
  const auto network = std::make_shared<const FredNetwork>(FredShape{ports, m});

  SwitchBench behavioural("behavioural", ports), structural("structural", ports);
  // What cannot be routed at once has a configuration each; here they do not meet in time.
  Time begin = 0;
  for (const Round& round : serialise(network->shape(), flows)) {
    const std::vector<FredFlow> now = pick(flows, round.flows);
    const ConfigurationBits bits = configure(*network, now, round.routing);
    for (const FredFlow& flow : now) {
      const auto arithmetic = std::make_shared<const ConfiguredNetwork>(
          network, bits, NetworkPorts{flow.inputs, flow.outputs}, flow.outputs.size());
      const std::uint32_t group = behavioural.flow(flow.inputs, flow.outputs);
      ASSERT_EQ(structural.flow(flow.inputs, flow.outputs, arithmetic), group);
      for (const unsigned port : flow.inputs) {
        const Time when = begin + random() % 1000 * kNs;
        for (SwitchBench* bench : {&behavioural, &structural}) {
          bench->send_at(when, port, group, kBytes, std::make_shared<std::vector<std::byte>>(*values[port]),
                         Element::kFp32);
        }
      }
    }
    begin += 10'000 * kNs;
  }
  behavioural.run();

  const Values expected = defined_outputs(flows, values, add_floats);
  for (unsigned port = 0; port < ports; ++port) {
    const auto& one = behavioural.sinks[port].deliveries;
    const auto& other = structural.sinks[port].deliveries;
    ASSERT_EQ(one.size(), expected[port] ? 1u : 0u) << "port " << port;
    ASSERT_EQ(other.size(), one.size()) << "port " << port;
    if (one.empty()) continue;
    EXPECT_EQ(*one[0].data, *expected[port]) << "port " << port;
    EXPECT_EQ(*other[0].data, *expected[port]) << "port " << port;
    EXPECT_EQ(other[0].when, one[0].when) << "port " << port;
  }
}
INSTANTIATE_TEST_SUITE_P(Ports, BehaviouralAndStructural,
                         testing::Combine(testing::Range(2u, 25u), testing::Values(2u, 3u)));

TEST(Structural, NoticesAConfigurationOfAnotherFlow) {
  const auto network = std::make_shared<const FredNetwork>(FredShape{8, 3});
  const std::vector<FredFlow> flows = {{"f", {0, 3}, {1, 5, 6}}};
  const ConfigurationBits bits = configure(*network, flows, route(network->shape(), flows));
  const auto outputs = [&](std::vector<unsigned> inputs, std::vector<unsigned> to) {
    std::vector<Bytes> values;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      values.push_back(std::make_shared<std::vector<std::byte>>(8));
    const std::size_t count = to.size();
    return ConfiguredNetwork(network, bits, {std::move(inputs), std::move(to)}, count)
        .outputs(std::move(values), Element::kFp32);
  };
  EXPECT_EQ(outputs({0, 3}, {1, 5, 6}).size(), 3u);
  EXPECT_THROW(outputs({0, 3}, {1, 5}), std::logic_error);
  EXPECT_THROW(outputs({0, 3}, {1, 5, 7}), std::logic_error);
  EXPECT_THROW(outputs({0}, {1, 5, 6}), std::invalid_argument);  // an adder that would wait for ever
}

}  // namespace
}  // namespace wafervp::test
