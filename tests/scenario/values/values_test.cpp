// SPDX-License-Identifier: Apache-2.0
// Collectives with values through the whole wafer: 1 to 20 ranks, each fabric and algorithm, empty and tiny
// and odd and large vectors, each type. Integers have to be exact; floats have the bits of the documented
// order of additions.
#include <gtest/gtest.h>

#include "shapes.h"
#include "simulation.h"

namespace wafervp::test {
namespace {

constexpr std::uint64_t kOdd = 1237;  // elements; a prime, so that no number of ranks or chunks divides it
const std::vector<std::string> kTypes = {"int32", "fp32", "fp16", "bf16"};

/// The wanted collective with empty, tiny, odd and large vectors: all types for the odd one.
void expect_all_sizes(Wanted wanted, std::uint32_t turn, bool large, bool floats = true) {
  const std::vector<std::string> types = floats ? kTypes : std::vector<std::string>{"int32"};
  const auto expect = [&](std::uint64_t elements, const std::string& type, std::uint32_t chunks) {
    wanted.elements = elements;
    wanted.type = type;
    wanted.chunks = chunks;
    const std::string wrong = difference(wanted);
    EXPECT_EQ(wrong, "");
  };
  expect(0, types[turn % types.size()], 1);
  expect(1, types[(turn + 1) % types.size()], 1 + turn % 3);
  for (const std::string& type : types) expect(kOdd, type, 1 + 2 * (turn % 2));
  if (!large) return;
  expect(1 << 18, "int32", 3);
  if (floats) expect(1 << 19, turn % 2 ? "fp16" : "bf16", 3);
}

struct Family {
  const char* name;
  const char* algorithm;
  std::vector<const char*> operations;
  json (*wafer)(std::uint32_t);
};
void PrintTo(const Family& family, std::ostream* out) { *out << family.name; }

const std::vector<const char*> kReductions = {"all_reduce", "reduce_scatter", "all_gather"};
const std::vector<const char*> kOthers = {"broadcast", "all_to_all"};

class EveryCount : public testing::TestWithParam<Family> {};

TEST_P(EveryCount, HasTheValuesOfThePlainReference) {
  for (std::uint32_t n = 1; n <= 20; ++n) {
    for (std::size_t i = 0; i < GetParam().operations.size(); ++i) {
      const auto turn = static_cast<std::uint32_t>(n + i);
      Wanted wanted{GetParam().wafer(n), GetParam().operations[i], GetParam().algorithm, "", 0, 1, n - 1, {}};
      if (wanted.operation != "broadcast") wanted.root = 0;
      expect_all_sizes(wanted, turn, n == 3 || n == 20);
      if (HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Values, EveryCount,
                         testing::Values(Family{"ring", "ring", kReductions, ring},
                                         Family{"switch_ring", "ring", kReductions, plain_switch},
                                         Family{"mesh_ring", "ring", kReductions, flat_mesh},
                                         Family{"ring_both_ways", "ring_both", kReductions, ring},
                                         Family{"mesh_both_ways", "ring_both", kReductions, flat_mesh},
                                         Family{"mesh_tree", "tree", {"all_reduce"}, flat_mesh},
                                         Family{"switch_tree", "tree", {"all_reduce"}, plain_switch},
                                         Family{"ring_direct", "direct", kOthers, ring},
                                         Family{"mesh_direct", "direct", kOthers, flat_mesh},
                                         Family{"switch_direct", "direct", kOthers, plain_switch},
                                         Family{"ring_relay", "relay", {"broadcast"}, ring},
                                         Family{"mesh_relay", "relay", {"broadcast"}, flat_mesh}),
                         [](const auto& given) { return std::string(given.param.name); });

class InSwitch : public testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  const char* operation() const { return std::get<0>(GetParam()); }
  const char* fred_switch() const { return std::get<1>(GetParam()); }
};

TEST_P(InSwitch, AddsInTheOrderOfThePorts) {
  for (std::uint32_t n = 1; n <= 20; ++n) {
    Wanted wanted{fred(5, 4, true), operation(), "in_switch", "", 0, 1, 0, some_of(20, n), fred_switch()};
    if (wanted.operation == "broadcast") wanted.root = n / 2;
    expect_all_sizes(wanted, n, n == 3 || n == 20);
    if (HasFailure()) return;
  }
}

TEST_P(InSwitch, AddsInTheOrderOfThePortsOfOtherShapes) {
  std::uint32_t turn = 0;
  for (const auto& [l1, per_l1] : {std::pair{1u, 7u}, {2u, 3u}, {3u, 5u}, {7u, 2u}, {6u, 1u}, {5u, 3u}}) {
    expect_all_sizes({fred(l1, per_l1, true), operation(), "in_switch", "", 0, 1, 0, {}, fred_switch()},
                     ++turn, false);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Values, InSwitch,
    testing::Combine(testing::Values("all_reduce", "reduce_scatter", "all_gather", "broadcast"),
                     testing::Values("behavioural", "structural")),
    [](const auto& given) { return std::string(std::get<0>(given.param)) + "_" + std::get<1>(given.param); });

class EndPointsOfFred : public testing::TestWithParam<Family> {};

TEST_P(EndPointsOfFred, HaveTheValuesOfThePlainReference) {
  for (std::uint32_t n = 1; n <= 20; ++n) {
    for (std::size_t i = 0; i < GetParam().operations.size(); ++i) {
      const auto turn = static_cast<std::uint32_t>(n + i);
      expect_all_sizes({fred(5, 4, turn % 2 == 1), GetParam().operations[i], GetParam().algorithm, "", 0, 1,
                        0, some_of(20, n)},
                       turn, n == 3 || n == 20);
      if (HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Values, EndPointsOfFred,
                         testing::Values(Family{"ring", "ring", kReductions, nullptr},
                                         Family{"direct", "direct", kOthers, nullptr},
                                         Family{"relay", "relay", {"broadcast"}, nullptr}),
                         [](const auto& given) { return std::string(given.param.name); });

class Hierarchical : public testing::TestWithParam<const char*> {};

TEST_P(Hierarchical, AddsAlongTheGridOfAMesh) {
  std::uint32_t turn = 0;
  for (const auto& [columns, rows] : {std::pair{2u, 2u}, {3u, 2u}, {2u, 3u}, {4u, 4u}, {5u, 4u}}) {
    expect_all_sizes({mesh(columns, rows), GetParam(), "hierarchical", "", 0, 1, 0, {}}, ++turn,
                     columns == 5);
  }
}

TEST_P(Hierarchical, AddsAlongL1AndL2OfFred) {
  std::uint32_t turn = 0;
  for (const auto& [l1, per_l1] : {std::pair{2u, 2u}, {3u, 2u}, {2u, 5u}, {5u, 4u}}) {
    expect_all_sizes({fred(l1, per_l1, false), GetParam(), "hierarchical", "", 0, 1, 0, {}}, ++turn, l1 == 5);
  }
}

INSTANTIATE_TEST_SUITE_P(Values, Hierarchical, testing::Values("all_reduce", "reduce_scatter", "all_gather"),
                         [](const auto& given) { return std::string(given.param); });

TEST(Automatic, IsExactForIntegersOnEveryFabric) {
  std::uint32_t turn = 0;
  for (const json& wafer :
       {ring(7), plain_switch(6), mesh(5, 4), fred(5, 4, true), fred(5, 4, false), fred(3, 2, true)}) {
    for (const char* operation : {"all_reduce", "reduce_scatter", "all_gather", "broadcast", "all_to_all"}) {
      expect_all_sizes({wafer, operation, "auto", "", 0, 1, 0, {}}, ++turn, true, false);
    }
  }
}

TEST(Messages, ArriveAsTheyWere) {
  std::uint32_t turn = 0;
  for (const json& wafer :
       {ring(7), plain_switch(6), mesh(5, 4), fred(5, 4, true), fred(5, 4, false), ring(2)}) {
    const std::uint32_t last = wafer["npus"].get<std::uint32_t>() - 2;
    for (const std::uint32_t root : {0u, last})
      expect_all_sizes({wafer, "send", "auto", "", 0, 1, root, {}}, ++turn, true);
  }
}

TEST(Barrier, EndsWithAndWithoutValues) {
  for (std::uint32_t n = 1; n <= 20; ++n) {
    for (const json& wafer : {ring(n), plain_switch(n), flat_mesh(n), fred(n, 1, true), fred(1, n, false)}) {
      EXPECT_EQ(difference({wafer, "barrier", "auto", "int32", 0, 1, 0, {}}), "");
    }
  }
}

}  // namespace
}  // namespace wafervp::test
