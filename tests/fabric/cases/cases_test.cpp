// SPDX-License-Identifier: Apache-2.0
// Is the list what it claims to be, and does the reference finish each case above its physical bound?
#include "cases/cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "cases/reference.h"

namespace fabric_cases {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;

std::uint64_t rate_out_of(const FabricCase& of) {
  std::uint64_t rate = of.bytes_per_s;
  for (const auto& [name, own] : of.link_rates) rate = std::max(rate, own);
  return rate;
}

void expect_sane(const FabricCase& of) {
  SCOPED_TRACE(of.name);
  const Reference result = reference(of);
  ASSERT_TRUE(result.finished);
  for (const MessageCase& message : of.messages) {
    EXPECT_GE(message.bytes, 4 * kMiB);
    EXPECT_LE(message.bytes, 64 * kMiB);
    // One message alone, at the fastest rate of the case, cannot be beaten.
    const packet_loop::Time bound = message.start_ns * 1000 + of.latency_ns * 1000 +
                                    packet_loop::serialisation_ps(message.bytes, rate_out_of(of));
    EXPECT_GE(result.npus[message.to].received_ps, bound);
    EXPECT_GT(result.npus[message.from].departed_ps, message.start_ns * 1000);
  }
}

TEST(FabricCases, HaveDistinctNames) {
  std::set<std::string> names;
  for (const FabricCase& one : named_cases()) names.insert(one.name);
  EXPECT_EQ(named_cases().size(), 28u);
  EXPECT_EQ(names.size(), 28u);
}

TEST(FabricCases, HoldTheKindsThatTheyShould) {
  std::uint32_t shared = 0, steps = 0, stragglers = 0;
  for (const FabricCase& one : named_cases()) {
    const Reference result = reference(one);
    const auto is_shared = [](const auto& link) { return link.second >= 2; };
    shared += std::any_of(result.flows_of_link.begin(), result.flows_of_link.end(), is_shared);
    steps += one.messages.size() == 1 && !one.link_rates.empty();
    stragglers += one.all_reduce && !one.all_reduce->start_ns.empty();
  }
  EXPECT_GE(shared, 8u);
  EXPECT_EQ(steps, 2u);
  EXPECT_EQ(stragglers, 3u);
}

TEST(FabricCases, TheReferenceFinishesNamedOnes) {
  for (const FabricCase& one : named_cases()) expect_sane(one);
}

TEST(FabricCases, TheReferenceFinishesRandomOnes) {
  for (std::uint32_t number = 0; number < kRandomCases; ++number) {
    const FabricCase one = random_case(number);
    ASSERT_EQ(one.messages.size(), 12u);
    EXPECT_EQ(one.link_rates.empty(), number < kUniformRandomCases);
    expect_sane(one);
  }
}

TEST(FabricCases, TheReferenceFinishesThoseWithASwitchLatency) {
  for (std::uint32_t number = 0; number < kSwitchLatencyCases; ++number) {
    const FabricCase one = switch_latency_case(number);
    ASSERT_EQ(one.messages.size(), 12u);
    expect_sane(one);
  }
}

TEST(FabricCases, TheReferenceFinishesJoinedOnes) {
  for (std::uint32_t number = 0; number < kJoinedCases; ++number) {
    const FabricCase one = joined_case(number);
    ASSERT_EQ(one.messages.size(), 4u);
    expect_sane(one);
    const Reference result = reference(one);
    std::uint32_t shared = 0;
    for (const auto& [link, flows] : result.flows_of_link) shared += flows >= 2;
    EXPECT_GE(shared, 1u);
    // Each of the three has to share with the first one, so that this would end sooner alone.
    const MessageCase& first = one.messages[0];
    EXPECT_GT(result.npus[first.to].received_ps,
              packet_loop::serialisation_ps(first.bytes, one.bytes_per_s) + 4 * 20'000);
  }
}

TEST(FabricCases, RandomCasesAreTheSameEverywhere) {
  // From splitmix64's published constants, seed 1000, by an independent implementation in Python.
  const FabricCase first = random_case(0);
  EXPECT_EQ(first.messages[0].from, 16u);
  EXPECT_EQ(first.messages[0].to, 15u);
  EXPECT_EQ(first.messages[0].bytes, 11027983u);
  EXPECT_EQ(first.messages[0].start_ns, 765u);
}

TEST(FabricCases, TheStragglerOnARingHasAClosedForm) {
  // All wait for NPU 3's first message in the end: its lateness and 2 (n - 1) whole steps.
  for (const FabricCase& one : named_cases()) {
    if (one.name != "straggler_on_a_ring") continue;
    const Reference result = reference(one);
    const packet_loop::Time step =
        one.latency_ns * 1000 + packet_loop::serialisation_ps(2 * kMiB, one.bytes_per_s);
    packet_loop::Time last = 0;
    for (const ReferenceNpu& npu : result.npus) last = std::max(last, npu.received_ps);
    EXPECT_EQ(last, 5'000'000 + 14 * step);
  }
}

TEST(FabricCases, ScenariosAreJson) {
  for (const FabricCase& one : named_cases()) {
    const auto json = nlohmann::json::parse(scenario_json(one, "packet"));
    EXPECT_EQ(json["detail"]["grain"], "packet");
    EXPECT_EQ(json["wafer"]["npus"], one.npus());
  }
}

}  // namespace
}  // namespace fabric_cases
