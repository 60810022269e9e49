// SPDX-License-Identifier: Apache-2.0
// What a stage makes of the values: sums in the order of the tree, shared copies, refused mismatches.
#include <cstring>
#include <random>

#include "core/element.h"
#include "fred_bench.h"

namespace wafervp::test {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kBytes = 3 * kPacketBytes + 1000;

/// Values whose sum depends on the order of additions.
Bytes values(Element element, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  auto bytes = std::make_shared<std::vector<std::byte>>(kBytes);
  const auto put = [&](std::size_t at, auto value) { std::memcpy(bytes->data() + at, &value, sizeof value); };
  for (std::size_t at = 0; at < kBytes; at += element_bytes(element)) {
    const double sign = random() % 2 == 0 ? 1 : -1;
    const double value =
        sign * static_cast<double>(1 + random() % 1000) * static_cast<double>(1u << random() % 6);
    switch (element) {
      case Element::kFp16:
        put(at, fp16_from_float(static_cast<float>(value / 3)));
        break;
      case Element::kBf16:
        put(at, bf16_from_float(static_cast<float>(value / 3)));
        break;
      case Element::kFp32:
        put(at, static_cast<float>(value / 3));
        break;
      case Element::kFp64:
        put(at, value / 3);
        break;
      case Element::kInt32:
        put(at, static_cast<std::uint32_t>(random()));
        break;
    }
  }
  return bytes;
}

/// The sum over the ports in [begin, begin + size), as Fred_m(P) is built: of two halves.
std::vector<std::byte> tree(Element element, const std::map<unsigned, std::vector<std::byte>>& by_port,
                            unsigned begin, unsigned size) {
  if (size == 1) {
    const auto found = by_port.find(begin);
    return found == by_port.end() ? std::vector<std::byte>{} : found->second;
  }
  std::vector<std::byte> left = tree(element, by_port, begin, size / 2);
  const std::vector<std::byte> right = tree(element, by_port, begin + size / 2, size / 2);
  if (left.empty()) return right;
  if (!right.empty()) add(element, left.data(), right.data(), left.size());
  return left;
}

class StageSum : public testing::TestWithParam<std::tuple<int, std::vector<unsigned>>> {};

TEST_P(StageSum, IsThatOfTheTreeOfPorts) {
  const auto element = static_cast<Element>(std::get<0>(GetParam()));
  const std::vector<unsigned>& inputs = std::get<1>(GetParam());
  SwitchBench bench("bench", 7);
  const std::uint32_t group = bench.flow(inputs, {0, 6});
  std::map<unsigned, std::vector<std::byte>> by_port;
  // The order of arrival is the reverse of that of the ports and must not matter.
  Time when = 0;
  for (auto port = inputs.rbegin(); port != inputs.rend(); ++port, when += 100 * kNs) {
    const Bytes data = values(element, *port);
    by_port[*port] = *data;
    bench.send_at(when, *port, group, kBytes, data, element);
  }
  bench.run();
  const std::vector<std::byte> expected = tree(element, by_port, 0, 8);
  for (unsigned port : {0u, 6u}) {
    ASSERT_EQ(bench.sinks[port].deliveries.size(), 1u);
    const Delivery& delivery = bench.sinks[port].deliveries[0];
    EXPECT_EQ(delivery.bytes, kBytes);
    ASSERT_NE(delivery.data, nullptr);
    EXPECT_EQ(*delivery.data, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ports, StageSum,
    testing::Combine(testing::Range(0, 5),
                     testing::Values(std::vector<unsigned>{0, 1, 2, 3},
                                     std::vector<unsigned>{0, 1, 2, 3, 4, 5, 6},
                                     std::vector<unsigned>{1, 2, 4}, std::vector<unsigned>{0, 5},
                                     std::vector<unsigned>{2, 3, 6}, std::vector<unsigned>{3})));

TEST(StageValues, TheOrderOfAdditionsIsVisible) {
  // Otherwise the test above could not tell a tree from a chain.
  std::map<unsigned, std::vector<std::byte>> by_port;
  for (unsigned port = 0; port < 4; ++port) by_port[port] = *values(Element::kFp32, port);
  std::vector<std::byte> chain = by_port[0];
  for (unsigned port = 1; port < 4; ++port) add(Element::kFp32, chain.data(), by_port[port].data(), kBytes);
  EXPECT_NE(chain, tree(Element::kFp32, by_port, 0, 4));
}

TEST(StageValues, CopiesOfAMulticastShareTheirData) {
  SwitchBench bench("bench", 5);
  const std::uint32_t group = bench.flow({2}, {0, 1, 3, 4});
  const Bytes data = values(Element::kFp32, 1);
  const std::vector<std::byte> copy = *data;
  bench.send_at(0, 2, group, kBytes, data);
  bench.run();
  EXPECT_TRUE(bench.sinks[2].deliveries.empty());
  for (unsigned port : {0u, 1u, 3u, 4u}) {
    ASSERT_EQ(bench.sinks[port].deliveries.size(), 1u);
    EXPECT_EQ(bench.sinks[port].deliveries[0].data, bench.sinks[0].deliveries[0].data);
    EXPECT_EQ(*bench.sinks[port].deliveries[0].data, copy);
  }
}

TEST(StageValues, MessagesOfAFlowAreMatchedInOrder) {
  SwitchBench bench("bench", 2);
  const std::uint32_t group = bench.flow({0, 1}, {0, 1});
  std::vector<std::vector<std::byte>> expected;
  for (std::uint64_t k = 0; k < 5; ++k) {
    std::map<unsigned, std::vector<std::byte>> by_port;
    for (unsigned port : {0u, 1u}) {
      const Bytes data = values(Element::kInt32, 10 * k + port);
      by_port[port] = *data;
      bench.send_at(port == 0 ? 0 : k * 777 * kNs, port, group, kBytes, data, Element::kInt32);
    }
    expected.push_back(tree(Element::kInt32, by_port, 0, 2));
  }
  bench.run();
  ASSERT_EQ(bench.sinks[1].deliveries.size(), 5u);
  for (std::size_t k = 0; k < 5; ++k) EXPECT_EQ(*bench.sinks[1].deliveries[k].data, expected[k]);
}

TEST(StageMismatch, NamesTheNpusAndTheirBytes) {
  SwitchBench bench("bench", 4);
  const std::uint32_t group = bench.flow({0, 2, 3}, {0});
  bench.send_at(0, 0, group, 4096);
  bench.send_at(1000, 2, group, 4095);  // as many packets
  EXPECT_THAT(bench.run_to_error(),
              testing::AllOf(HasSubstr("in-network flow 1"), HasSubstr("differ in size"),
                             HasSubstr("NPU 0 sends 4096 bytes"), HasSubstr("NPU 2 sends 4095 bytes")));
}

TEST(StageMismatch, IsFoundInALaterMessageToo) {
  SwitchBench bench("bench", 2);
  const std::uint32_t group = bench.flow({0, 1}, {0, 1});
  for (std::uint32_t npu : {0u, 1u}) bench.send_at(0, npu, group, 10'000);
  bench.send_at(1'000'000, 0, group, 10'000);
  bench.send_at(1'000'000, 1, group, 50'000);
  EXPECT_THAT(bench.run_to_error(),
              testing::AllOf(HasSubstr("NPU 0 sends 10000 bytes"), HasSubstr("NPU 1 sends 50000")));
}

TEST(StageMismatch, AFlowThatIsNotConfiguredIsAnError) {
  SwitchBench bench("bench", 2);
  bench.send_at(0, 1, 9, 4096);
  EXPECT_THAT(bench.run_to_error(),
              testing::AllOf(HasSubstr("no configuration for flow 9"), HasSubstr("input port 1")));
}

}  // namespace
}  // namespace wafervp::test
