// SPDX-License-Identifier: Apache-2.0
#include "results/summary.h"

#include <gmock/gmock.h>

#include "results/result_files.h"

namespace wafervp {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Outcome outcome(const std::string& status, Time time) {
  Outcome outcome;
  outcome.status = status;
  outcome.time_ps = time;
  return outcome;
}

VariantRow row(const std::string& name, const Outcome& result) {
  VariantRow row;
  row.name = name;
  row.compare_to = "mesh";
  row.outcome = result;
  return row;
}

Summary some_summary() {
  Summary summary;
  summary.name = "s";
  summary.compare_to = "mesh";
  summary.variants = {row("mesh", outcome("ok", 300)), row("fast", outcome("ok", 200)),
                      row("stuck", outcome("deadlock", 100))};
  summary.variants[1].published = {{"speedup", 1.6, "paper", {}}, {"time_over_mesh", 0.5, "paper", {}}};
  summary.variants[0].uncalibrated = outcome("ok", 1000);
  summary.variants[1].uncalibrated = outcome("ok", 800);
  return summary;
}

TEST(CompareVariants, SpeedupIsReferenceTimeOverOwnTime) {
  Summary summary = some_summary();
  compare_variants(summary);
  EXPECT_EQ(summary.variants[0].outcome.speedup, 1.0);
  EXPECT_EQ(summary.variants[1].outcome.speedup, 1.5);
  EXPECT_EQ(summary.variants[1].uncalibrated->speedup, 1.25);
  EXPECT_NEAR(*summary.variants[1].published[0].difference(), -0.1, 1e-12);
  EXPECT_NEAR(*summary.variants[1].published[1].simulated, 200.0 / 300, 1e-12);
}

TEST(CompareVariants, NoSpeedupOfARunThatDidNotFinish) {
  Summary summary = some_summary();
  compare_variants(summary);
  EXPECT_FALSE(summary.variants[2].outcome.speedup);
  summary.variants[0].outcome.status = "crashed";
  compare_variants(summary);
  EXPECT_FALSE(summary.variants[1].outcome.speedup);
  EXPECT_FALSE(summary.variants[1].published[0].simulated);
}

TEST(SummaryJson, NamesFittedAndPredictedApart) {
  Summary summary = some_summary();
  summary.calibration.emplace();
  summary.calibration->fitted_value = Json(12.5);
  summary.variants[0].role = Role::kReference;
  summary.variants[1].role = Role::kFitted;
  summary.variants[2].role = Role::kPredicted;
  compare_variants(summary);
  const Json json = summary_json(summary, {"1", "a"});
  EXPECT_EQ(json["calibration"]["fitted"].dump(), R"(["fast"])");
  EXPECT_EQ(json["calibration"]["predicted"].dump(), R"(["stuck"])");
  EXPECT_EQ(json["calibration"]["fitted_value"], 12.5);
  EXPECT_EQ(json["variants"][1]["speedup"], 1.5);
  EXPECT_EQ(json["variants"][1]["published"]["speedup"]["value"], 1.6);
  EXPECT_TRUE(json["variants"][2]["time_ps"].is_null());
  EXPECT_FALSE(json["variants"][2].contains("uncalibrated"));
}

TEST(SummaryFiles, TellTheLossOfTrainings) {
  TrainingResult training;
  for (std::uint32_t step = 1; step <= 150; ++step)
    training.curve.push_back({step, step, step <= 50 ? 4.0 : 2.0});
  EXPECT_EQ(training.final_loss(), 2.0);
  training.curve.resize(100);
  EXPECT_EQ(training.final_loss(), 3.0);
  Summary summary;
  summary.variants = {row("trained", outcome("ok", 300)), row("failed", outcome("error", 0))};
  summary.variants[0].outcome.final_loss = training.final_loss();
  const Json json = summary_json(summary, {"1", "a"});
  EXPECT_EQ(json["variants"][0]["final_loss"], 3.0);
  EXPECT_FALSE(json["variants"][1].contains("final_loss"));
  const std::string csv = summary_csv(summary);
  EXPECT_THAT(csv, HasSubstr("idle_ps,final_loss,message\ntrained,ok,,300,,0,0,0,0,0,0,0,3.0,\n"));
  EXPECT_THAT(csv, HasSubstr("\nfailed,error,,,,0,0,0,0,0,0,0,,\n"));
}

TEST(SummaryCsv, HasTheSameColumnsInEachRow) {
  Summary summary = some_summary();
  compare_variants(summary);
  summary.variants[2].outcome.message = "rank 1, waits";
  const std::string csv = summary_csv(summary);
  EXPECT_THAT(csv, StartsWith("name,status,role,time_ps,speedup,published_speedup,difference_speedup,"
                              "published_time_over_mesh,difference_time_over_mesh,compute_ps,"));
  EXPECT_THAT(csv, HasSubstr("\nmesh,ok,,300,1.0,,,,,0,0,0,0,0,0,0,1000,1.0,\n"));
  EXPECT_THAT(csv, HasSubstr("\nfast,ok,,200,1.5,1.6,"));
  EXPECT_THAT(csv, HasSubstr("\nstuck,deadlock,,,,,,,,0,0,0,0,0,0,0,,,\"rank 1, waits\"\n"));
}

TEST(SummaryJson, TellsWhatCompressionAndSumsOfGradientsLost) {
  Summary summary;
  summary.variants = {row("through", outcome("ok", 300)), row("plain", outcome("ok", 300))};
  Outcome& through = summary.variants[0].outcome;
  through.payload_bytes = 1000;
  through.compression_classes = {{"mp", "lossless", 3, 130, 100, {}}, {"dp", "int8", 2, 80, 20, 0.01}};
  through.gradient_sum = GradientSumError{8, 0.02, 0.001, 0.003};
  const Json json = summary_json(summary, {});
  const Json& found = json["variants"][0];
  EXPECT_EQ(found["payload_bytes"], 1000);
  EXPECT_EQ(found["gradient_sum"]["relative_error"], 0.02);
  EXPECT_EQ(found["gradient_sum"]["relative_error_of_all_steps"], 0.003);
  EXPECT_EQ(found["compression_classes"][1]["ratio"], 4.0);
  EXPECT_FALSE(found["compression_classes"][0].contains("relative_error"));
  EXPECT_FALSE(json["variants"][1].contains("gradient_sum"));
  EXPECT_FALSE(json["variants"][1].contains("compression_classes"));
  // A study that goes on takes them from the files.
  const auto read = read_classes(found["compression_classes"]);
  EXPECT_EQ(read.size(), 2u);
  EXPECT_EQ(read[1].codec, "int8");
  EXPECT_EQ(read[1].wire_bytes, 20u);
  EXPECT_EQ(read[1].relative_error, 0.01);
  EXPECT_EQ(read_gradient_sum(found["gradient_sum"]).between_replicas, 0.001);
}

}  // namespace
}  // namespace wafervp
