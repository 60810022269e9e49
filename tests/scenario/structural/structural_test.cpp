// SPDX-License-Identifier: Apache-2.0
// Do the structural and the behavioural switches of a running wafer give the same values in all memories, the
// same times of all NPUs and the same bytes on all links?
#include <gmock/gmock.h>

#include "machine.h"

namespace wafervp::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

struct Case {
  std::string name;
  json patch;
};
void PrintTo(const Case& given, std::ostream* out) { *out << given.name; }

json scenario_of(const Case& given, const std::string& fred_switch) {
  json scenario = {
      {"version", 1},
      {"wafer",
       {{"npus", 20}, {"fabric", {{"kind", "fred"}, {"fred", {{"l1_switches", 5}, {"npus_per_l1", 4}}}}}}},
      {"memory", {{"check", "off"}}},
      {"detail", {{"data", "values"}, {"fred_switch", fred_switch}}}};
  scenario.merge_patch(given.patch);
  return scenario;
}

json collective(const char* operation, std::uint64_t bytes, const char* type, const char* groups,
                std::uint32_t mp, std::uint32_t dp, std::uint32_t pp) {
  return {{"workload",
           {{"kind", "collective"},
            {"parallelism", {{"mp", mp}, {"dp", dp}, {"pp", pp}}},
            {"collective",
             {{"operation", operation},
              {"bytes", bytes},
              {"type", type},
              {"groups", groups},
              {"algorithm", "in_switch"}}}}}};
}
json with(json patch, const json& more) {
  patch.merge_patch(more);
  return patch;
}
json fred(const json& members) { return {{"wafer", {{"fabric", {{"fred", members}}}}}}; }
json training(std::uint32_t mp, std::uint32_t dp, std::uint32_t pp, const char* dp_sync) {
  return {{"workload",
           {{"kind", "transformer"},
            {"parallelism", {{"mp", mp}, {"dp", dp}, {"pp", pp}}},
            {"transformer",
             {{"preset", "custom"}, {"layers", 4}, {"hidden", 32}, {"sequence", 8}, {"parameters", 5e4}}},
            {"samples_per_replica", 2},
            {"microbatches", 2},
            {"dp_sync", dp_sync}}}};
}

class BothModels : public testing::TestWithParam<Case> {};

TEST_P(BothModels, GiveTheSameValuesTimesAndBytes) {
  const std::string behavioural = outcome(scenario_of(GetParam(), "behavioural"));
  EXPECT_THAT(behavioural, HasSubstr("ends at "));
  EXPECT_THAT(behavioural, Not(HasSubstr("error")));
  EXPECT_EQ(outcome(scenario_of(GetParam(), "structural")), behavioural);
}

INSTANTIATE_TEST_SUITE_P(
    Groups, BothModels,
    testing::Values(
        Case{"mp_fp16", collective("all_reduce", 123'456, "fp16", "mp", 3, 3, 2)},
        Case{"dp_bf16", collective("all_reduce", 98'766, "bf16", "dp", 3, 3, 2)},
        Case{"dp_fp32_odd", collective("all_reduce", 4 * 12'347, "fp32", "dp", 2, 5, 2)},
        Case{"dp_int32_one", collective("all_reduce", 4, "int32", "dp", 1, 4, 5)},
        Case{"pp_fp16", collective("broadcast", 40'002, "fp16", "pp", 3, 3, 2)},
        Case{"mp_scatter_bf16", collective("reduce_scatter", 61'234, "bf16", "mp", 6, 3, 1)},
        Case{"dp_gather_fp32", collective("all_gather", 4 * 9'999, "fp32", "dp", 3, 6, 1)},
        Case{"conflict_of_two_l2_chips",
             with(collective("all_reduce", 200'002, "fp16", "dp", 1, 3, 5), fred({{"l2_chips", 2}}))},
        Case{"conflict_of_two_middles",
             with(collective("all_reduce", 4 * 20'001, "fp32", "dp", 3, 3, 2), fred({{"middles", 2}}))},
        Case{"conflict_between_end_points",
             with(collective("all_reduce", 80'002, "bf16", "dp", 3, 3, 2),
                  with(fred({{"middles", 2}, {"remedy", "endpoint_ring"}}),
                       {{"workload", {{"collective", {{"algorithm", "auto"}}}}}}))},
        Case{"conflict_with_more_middles", with(collective("all_reduce", 80'002, "fp16", "dp", 3, 3, 2),
                                                fred({{"middles", 2}, {"remedy", "more_middles"}}))},
        Case{"conflict_moved", with(collective("all_reduce", 80'002, "fp16", "dp", 5, 4, 1),
                                    fred({{"l2_chips", 2}, {"remedy", "move_workers"}}))},
        Case{"few_up_ports_with_latency", with(collective("all_reduce", 50'000, "fp16", "dp", 4, 5, 1),
                                               fred({{"up_ports", 3},
                                                     {"switch_latency_ns", 6},
                                                     {"uplink_bytes_per_s", 1'500'000'000'000}}))}),
    [](const auto& given) { return given.param.name; });

/// 48 NPUs under three levels: 12 L1s of 4, four L2s of three L1s, one L3.
json three_levels(const json& patch) {
  return with({{"wafer",
                {{"npus", 48},
                 {"fabric",
                  {{"fred", {{"l1_switches", 12}, {"upper_children", {3, 4}}, {"store_bytes", 100'000}}}}}}}},
              patch);
}
INSTANTIATE_TEST_SUITE_P(
    Levels, BothModels,
    testing::Values(
        Case{"all", three_levels(collective("all_reduce", 50'002, "fp16", "all", 1, 48, 1))},
        Case{"dp", three_levels(collective("all_reduce", 50'002, "bf16", "dp", 3, 8, 2))},
        Case{"mp_scatter", three_levels(collective("reduce_scatter", 4 * 5'003, "fp32", "mp", 6, 4, 2))},
        Case{"pp", three_levels(collective("broadcast", 9'998, "fp16", "pp", 2, 3, 8))},
        Case{"conflicts", with(three_levels(collective("all_reduce", 50'002, "fp16", "dp", 5, 3, 3)),
                               fred({{"middles", 2}}))}),
    [](const auto& given) { return given.param.name; });

json with_io(const json& patch) { return with({{"wafer", {{"io", {{"controllers", 18}}}}}}, patch); }
INSTANTIATE_TEST_SUITE_P(
    Streams, BothModels,
    testing::Values(Case{"load", with_io(collective("load", 180'036, "fp16", "all", 1, 20, 1))},
                    Case{"store", with_io(collective("store", 180'036, "bf16", "all", 1, 20, 1))},
                    Case{"both_in_groups",
                         with_io(collective("load_and_store", 90'000, "fp16", "dp", 2, 10, 1))}),
    [](const auto& given) { return given.param.name; });

INSTANTIATE_TEST_SUITE_P(Training, BothModels,
                         testing::Values(Case{"step_3_3_2", training(3, 3, 2, "all_reduce")},
                                         Case{"step_2_5_2_scattered", with(training(2, 5, 2, "rs_ag"),
                                                                           fred({{"store_bytes", 4096}}))},
                                         Case{"step_1_20_1", training(1, 20, 1, "all_reduce")},
                                         Case{"step_with_conflicts",
                                              with(training(3, 3, 2, "all_reduce"), fred({{"middles", 2}}))}),
                         [](const auto& given) { return given.param.name; });

TEST(Outcome, SeesValues) {
  // Otherwise the tests above would hold nothing: another type gives other sums.
  const Case fp16{"", collective("all_reduce", 1'234, "fp16", "mp", 3, 3, 2)};
  const Case bf16{"", collective("all_reduce", 1'234, "bf16", "mp", 3, 3, 2)};
  EXPECT_NE(outcome(scenario_of(fp16, "behavioural")), outcome(scenario_of(bf16, "behavioural")));
}

/// When NPU `n` ends.
double end_of(const std::string& outcome, unsigned n) {
  const std::size_t at = outcome.find("npu" + std::to_string(n) + " ends at ");
  return std::stod(outcome.substr(outcome.find(" at ", at) + 4));
}

TEST(Conflict, TakesTwoFlowsTwiceTheirTimeAndTheOthersNoMore) {
  // (1, 3, 5) on two L2 chips: five all-reduces, of which dp[0] (NPUs 0, 5, 10) and dp[1] (1, 6, 11) take
  // turns packet by packet: n packets of theirs take n slots of 4096 bytes at 3 TB/s each; the others go on
  // as with one L2 chip.
  constexpr double kBytes = 4'096'000, kPs = 4096e12 / 3e12, kWay = 4 * 20'000;
  const Case one{"", collective("all_reduce", 4'096'000, "fp16", "dp", 1, 3, 5)};
  const Case two{"", with(one.patch, fred({{"l2_chips", 2}}))};
  const std::string alone = outcome(scenario_of(one, "structural"));
  const std::string shared = outcome(scenario_of(two, "structural"));
  const double packets = kBytes / 4096;
  for (const unsigned npu : {0u, 5u, 10u, 1u, 6u, 11u}) {
    EXPECT_NEAR(end_of(alone, npu), packets * kPs + kWay, 5 * kPs) << npu;
    EXPECT_NEAR(end_of(shared, npu), 2 * packets * kPs + kWay, 10 * kPs) << npu;
  }
  for (const unsigned npu : {2u, 3u, 4u, 12u, 13u, 14u})
    EXPECT_NEAR(end_of(shared, npu), end_of(alone, npu), 5 * kPs) << npu;
}

TEST(Store, ThatIsTooSmallEndsTheRunBeforeItBegins) {
  const Case small{"",
                   with(collective("all_reduce", 4096, "fp16", "dp", 3, 3, 2), fred({{"store_bytes", 100}}))};
  EXPECT_THAT(outcome(scenario_of(small, "structural")),
              testing::AllOf(HasSubstr("/wafer/fabric/fred/store_bytes"), HasSubstr("switch l2, Fred3(20)"),
                             HasSubstr("phase dp all_reduce"), HasSubstr("119 bytes")));
  EXPECT_THAT(outcome(scenario_of(small, "behavioural")), Not(HasSubstr("error")));
}

}  // namespace
}  // namespace wafervp::test
