// SPDX-License-Identifier: Apache-2.0
// Does the behavioural switch give, bit for bit, what the μswitches of Fred_m(P) make of the same values?
#include <cstring>
#include <random>

#include "core/element.h"
#include "fred_bench.h"
#include "fred_network/evaluate.h"
#include "fred_network/routing.h"

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

class BehaviouralAndStructural : public testing::TestWithParam<unsigned> {};

TEST_P(BehaviouralAndStructural, SwitchesGiveTheSameBytes) {
  const unsigned ports = GetParam();
  std::mt19937 random(ports);
  const std::vector<FredFlow> flows = random_flows(random, ports);
  Values values(ports);
  for (auto& value : values) value = floats(random);

  SwitchBench bench("bench", ports);
  for (const FredFlow& flow : flows) {
    const std::uint32_t group = bench.flow(flow.inputs, flow.outputs);
    for (const unsigned port : flow.inputs) {
      bench.send_at(random() % 1000 * kNs, port, group, kBytes,
                    std::make_shared<std::vector<std::byte>>(*values[port]), Element::kFp32);
    }
  }
  bench.run();

  for (const unsigned m : {2u, 3u}) {
    const FredNetwork network({ports, m});
    for (const Round& round : serialise(network.shape(), flows)) {
      const std::vector<FredFlow> now = pick(flows, round.flows);
      Values inputs(ports);
      for (const FredFlow& flow : now) {
        for (const unsigned port : flow.inputs) inputs[port] = values[port];
      }
      const Values outputs = evaluate(network, configure(network, now, round.routing), inputs, add_floats);
      for (const FredFlow& flow : now) {
        for (const unsigned port : flow.outputs) {
          ASSERT_EQ(bench.sinks[port].deliveries.size(), 1u);
          EXPECT_EQ(*bench.sinks[port].deliveries[0].data, outputs[port]) << "port " << port << ", m = " << m;
        }
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Ports, BehaviouralAndStructural, testing::Values(2, 3, 5, 8, 11, 12, 20, 23, 24));

}  // namespace
}  // namespace wafervp::test
